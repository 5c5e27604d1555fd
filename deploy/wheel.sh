#!/usr/bin/env bash
# Makes one wheel for every Python 3 (from 3.9 on): the package vicinity_graph, the library, and the
# programs vicinity and vicinityd as commands, with all shared libraries that they need in it, so that
# `pip install` of the one file needs nothing else of Vicinity's.
#
#   deploy/wheel.sh --output DIR              builds, then writes the wheel into DIR and says its name
#   deploy/wheel.sh --output DIR --from BIN   takes what lies built in BIN (as bazel-bin), builds nothing
#
# auditwheel puts the libraries into it; the name says which glibc is the oldest that does (of Debian
# 12's, 2.36, what is used of it).
set -euo pipefail
root="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
python=/usr/bin/python3

output=""
built=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --output) output="${2:?--output needs a folder}"; shift 2 ;;
    --from) built="${2:?--from needs a folder}"; shift 2 ;;
    *) echo "wheel: unknown argument '$1'; see the head of $0" >&2; exit 2 ;;
  esac
done
if [[ -z "$output" ]]; then
  echo "wheel: --output DIR is missing" >&2
  exit 2
fi
if [[ -z "$built" ]]; then
  (cd "$root" && deploy/setup.sh >&2 \
    && bazel build //client/c_api:libvicinity.so //client/cli:vicinity //server:vicinityd)
  built="$root/bazel-bin"
fi

version="$(sed -n 's/.*kVersion\[\] = "\(.*\)";/\1/p' "$root/proto/version.h")"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
stage="$scratch/vicinity_graph-$version"
package="$stage/vicinity_graph"
information="$stage/vicinity_graph-$version.dist-info"

for folder in vicinity_graph vicinity_graph/convert vicinity_graph/pyg; do
  install -D -m 644 -t "$stage/$folder" "$root/client/python/$folder"/*.py
done
install -m 644 -t "$package" "$root/client/python/vicinity_graph/py.typed"
install -D -m 755 -t "$package/bin" "$built/client/cli/vicinity" "$built/server/vicinityd"
install -m 755 "$built/client/c_api/libvicinity.so" "$package/libvicinity.so.1"
strip --strip-unneeded "$package/libvicinity.so.1" "$package"/bin/*

install -D -m 644 -t "$information" "$root/LICENSE"
cat > "$information/METADATA" <<END
Metadata-Version: 2.1
Name: vicinity-graph
Version: $version
Summary: Minibatches for graph neural networks, sampled from a graph that is sharded over machines
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: pyg
Requires-Dist: torch>=1.13; extra == 'pyg'
Requires-Dist: torch_geometric>=2.5; extra == 'pyg'
Description-Content-Type: text/markdown

END
cat "$root/docs/python.md" >> "$information/METADATA"
cat > "$information/WHEEL" <<END
Wheel-Version: 1.0
Generator: vicinity ($version)
Root-Is-Purelib: false
Tag: py3-none-linux_$(uname -m)
END
cat > "$information/entry_points.txt" <<END
[console_scripts]
vicinity = vicinity_graph._programs:vicinity
vicinityd = vicinity_graph._programs:vicinityd
END
mkdir -p "$scratch/plain" "$output"
"$python" -m wheel pack "$stage" --dest-dir "$scratch/plain" > /dev/null
export PYTHONPATH=/usr/local/lib/vicinity/python
platform="$("$python" -m auditwheel show "$scratch"/plain/*.whl | grep -om 1 'manylinux_[0-9_a-z]*')"
"$python" -m auditwheel repair --plat "$platform" --wheel-dir "$scratch/repaired" \
  "$scratch"/plain/*.whl > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
mv "$scratch"/repaired/*.whl "$output/"
(cd "$output" && ls -s --block-size=1 -- vicinity_graph-"$version"-*.whl)
