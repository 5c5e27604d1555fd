#!/usr/bin/env bash
# Makes Debian packages for this machine's release and architecture: vicinity-server, vicinity-tools,
# libvicinity1, libvicinity-dev and python3-vicinity-graph. Nothing is signed.
#
#   deploy/packages.sh --output DIR              builds, then writes the packages into DIR
#   deploy/packages.sh --output DIR --from BIN   takes what lies built in BIN (as bazel-bin), builds nothing
#
# Takes debhelper, dh-python and dpkg-dev; with lintian it fails if that finds an error.
set -euo pipefail
root="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

fail() {
  echo "packages: $*" >&2
  exit 2
}
output=""
built=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --output) output="${2:?--output needs a folder}" && shift 2 ;;
    --from) built="$(cd "${2:?--from needs a folder}" && pwd)" && shift 2 ;;
    *) fail "unknown argument '$1'; see the head of $0" ;;
  esac
done
[[ -n "$output" ]] || fail "--output DIR is missing"
for tool in dh dh_python3 dpkg-buildpackage; do
  command -v "$tool" > /dev/null \
    || fail "$tool is missing: apt-get install dpkg-dev debhelper dh-python lintian"
done
mkdir -p "$output"
output="$(cd "$output" && pwd)"
if [[ -z "$built" ]]; then
  (cd "$root" && bazel build //client:libvicinity_client.so //client/c_api:libvicinity.so \
    //client/cli:vicinity //server:vicinityd)
  built="$root/bazel-bin"
fi

version="$(sed -n 's/.*kVersion\[\] = "\(.*\)";/\1/p' "$root/proto/version.h")"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
source="$scratch/vicinity-$version"
stage="$source/stage"
mkdir -p "$stage/examples"
"$root/deploy/install.sh" --prefix "$stage" --from "$built" > /dev/null
/usr/bin/python3 "$root/deploy/lib/manual.py" --tool "$stage/bin/vicinity" --daemon "$stage/bin/vicinityd" \
  --version "$version" --output "$stage"
cp "$root/CHANGELOG.md" "$stage/"
cp -r "$root/deploy/kubernetes" "$root/deploy/slurm" "$stage/examples/"
install -D -m 644 -t "$stage/examples/haproxy" "$root/deploy/haproxy/haproxy.cfg"
install -D -m 644 -t "$stage/examples/systemd" "$root"/deploy/systemd/vicinity-fold.*

cp -r "$root/deploy/debian" "$source/debian"
cp "$root/deploy/systemd/vicinityd@.service" "$source/debian/vicinity-server.vicinityd@.service"
cp "$root/deploy/systemd/vicinity.sysusers" "$source/debian/vicinity-server.sysusers"
cp "$root/deploy/systemd/vicinity.tmpfiles" "$source/debian/vicinity-server.tmpfiles"
# The version's date, so that the same sources make the same packages.
date="$(git -C "$root" log -1 --format=%cD 2> /dev/null || date -R)"
cat > "$source/debian/changelog" << END
vicinity ($version) stable; urgency=medium

  * The changes are in CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' "$source/debian/control")  $date
END

(cd "$source" && dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes) > "$scratch/log" 2>&1 \
  || { tail -n 40 "$scratch/log" >&2; exit 1; }
if command -v lintian > /dev/null; then
  (cd "$scratch" && lintian --allow-root --fail-on error ./*.changes)
fi
mv "$scratch"/*.deb "$output/"
(cd "$output" && ls -s --block-size=1 -- *_"$version"_*.deb)
