#!/usr/bin/env bash
# Installs the client libraries, their public headers, the Python package and the programs for use
# outside this repository.
#
#   deploy/install.sh --prefix DIR              builds, then installs into DIR
#   deploy/install.sh --prefix DIR --from BIN   takes what lies built in BIN (as bazel-bin), builds nothing
#
# DIR/bin             vicinity, vicinityd
# DIR/lib             libvicinity_client.so, and pkgconfig/vicinity-client.pc; libvicinity.so, for C
# DIR/lib/python      the package vicinity_graph, which finds that library
# DIR/include/vicinity  the public headers, in the folders that they include each other by
set -euo pipefail
root="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

prefix=""
built=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --prefix) prefix="${2:?--prefix needs a folder}"; shift 2 ;;
    --from) built="${2:?--from needs a folder}"; shift 2 ;;
    *) echo "install: unknown argument '$1'; see the head of $0" >&2; exit 2 ;;
  esac
done
if [[ -z "$prefix" ]]; then
  echo "install: --prefix DIR is missing" >&2
  exit 2
fi

if [[ -z "$built" ]]; then
  (cd "$root" && bazel build //client:libvicinity_client.so //client/c_api:libvicinity.so \
    //client/cli:vicinity //server:vicinityd)
  built="$root/bazel-bin"
fi

# The headers that a program may include, and what these include in turn.
public_headers() {
  local queue=(client/graph.h client/loader.h client/types/result.h client/c_api/vicinity.h) seen=" " header
  while [[ ${#queue[@]} -gt 0 ]]; do
    header="${queue[0]}"
    queue=("${queue[@]:1}")
    if [[ "$seen" == *" $header "* ]]; then continue; fi
    seen+="$header "
    echo "$header"
    mapfile -t -O "${#queue[@]}" queue < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$root/$header")
  done
}

version="$(sed -n 's/.*kVersion\[\] = "\(.*\)";/\1/p' "$root/proto/version.h")"
mkdir -p "$prefix"
prefix="$(cd "$prefix" && pwd)"
install -d "$prefix/bin" "$prefix/lib/pkgconfig"
install -m 755 "$built/client/cli/vicinity" "$built/server/vicinityd" "$prefix/bin/"
install -m 755 "$built/client/libvicinity_client.so" "$prefix/lib/libvicinity_client.so.0"
ln -sf libvicinity_client.so.0 "$prefix/lib/libvicinity_client.so"
install -m 755 "$built/client/c_api/libvicinity.so" "$prefix/lib/libvicinity.so.1"
ln -sf libvicinity.so.1 "$prefix/lib/libvicinity.so"
for folder in vicinity_graph vicinity_graph/pyg; do
  install -D -m 644 -t "$prefix/lib/python/$folder" "$root/client/python/$folder"/*.py
done
install -D -m 644 -t "$prefix/lib/python/vicinity_graph" "$root/client/python/vicinity_graph/py.typed"
while read -r header; do
  install -D -m 644 "$root/$header" "$prefix/include/vicinity/$header"
done < <(public_headers)
cat > "$prefix/lib/pkgconfig/vicinity-client.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include/vicinity

Name: vicinity-client
Description: Minibatches for graph neural networks, sampled from sharded graphs
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lvicinity_client
END
echo "installed vicinity $version into $prefix"
