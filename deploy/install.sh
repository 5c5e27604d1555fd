#!/usr/bin/env bash
# Installs the client libraries, their public headers, the Python package and the programs for use
# outside this repository.
#
#   deploy/install.sh --prefix DIR              builds, then installs into DIR
#   deploy/install.sh --prefix DIR --from BIN   takes what lies built in BIN (as bazel-bin), builds nothing
#
# DIR/bin             vicinity, vicinityd
# DIR/lib             libvicinity_client.so, for C++, and libvicinity.so, for C; for each a file of
#                     pkg-config's, for both one of CMake's. DIR may be moved afterwards
# DIR/lib/python      the package vicinity_graph, which finds that library
# DIR/include         <vicinity/graph.h>, <vicinity/loader.h>, <vicinity/prepared_query.h>,
#                     <vicinity/query_loader.h>, <vicinity/writer.h>, <vicinity/changes.h>,
#                     <vicinity/c_api.h>
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
  local header seen=" "
  local queue=(client/graph.h client/loader.h client/prepared_query.h client/query_loader.h
    client/types/result.h client/writer.h client/changes.h client/c_api/vicinity.h)
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
for folder in vicinity_graph vicinity_graph/convert vicinity_graph/pyg; do
  install -D -m 644 -t "$prefix/lib/python/$folder" "$root/client/python/$folder"/*.py
done
install -D -m 644 -t "$prefix/lib/python/vicinity_graph" "$root/client/python/vicinity_graph/py.typed"

# Headers name each other below `vicinity/`, so that nobody's own client/ or proto/ is in the way.
while read -r header; do
  mkdir -p "$(dirname "$prefix/include/vicinity/$header")"
  sed -E 's,^#include "(client|partition|sampler|proto|cache)/,#include "vicinity/\1/,' \
    "$root/$header" > "$prefix/include/vicinity/$header"
done < <(public_headers)
forward() { # forward NAME HEADER
  printf '// Of %s.\n#include "vicinity/%s" // IWYU pragma: export\n' "$2" "$2" > "$prefix/include/vicinity/$1"
}
forward graph.h client/graph.h
forward loader.h client/loader.h
forward prepared_query.h client/prepared_query.h
forward query_loader.h client/query_loader.h
forward writer.h client/writer.h
forward changes.h client/changes.h
cp "$prefix/include/vicinity/client/c_api/vicinity.h" "$prefix/include/vicinity/c_api.h"

package_file() { # package_file NAME LIBRARY DESCRIPTION
  cat > "$prefix/lib/pkgconfig/$1.pc" << END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: $1
Description: $3
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -l$2
END
}
package_file vicinity-client vicinity_client "Minibatches for graph neural networks, sampled from sharded graphs"
package_file vicinity vicinity "The same, for C and other languages"

# find_package(vicinity): vicinity::client for C++17, vicinity::c for C.
install -d "$prefix/lib/cmake/vicinity"
cat > "$prefix/lib/cmake/vicinity/vicinityConfig.cmake" << 'END'
get_filename_component(_vicinity_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
foreach(_vicinity_target IN ITEMS "client;vicinity_client" "c;vicinity")
  list(GET _vicinity_target 0 _vicinity_name)
  list(GET _vicinity_target 1 _vicinity_library)
  if(NOT TARGET vicinity::${_vicinity_name})
    add_library(vicinity::${_vicinity_name} SHARED IMPORTED)
    set_target_properties(vicinity::${_vicinity_name} PROPERTIES
      IMPORTED_LOCATION "${_vicinity_prefix}/lib/lib${_vicinity_library}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${_vicinity_prefix}/include")
  endif()
endforeach()
set_property(TARGET vicinity::client PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_17)
END
cat > "$prefix/lib/cmake/vicinity/vicinityConfigVersion.cmake" << END
set(PACKAGE_VERSION "$version")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION STREQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
END
echo "installed vicinity $version into $prefix"
