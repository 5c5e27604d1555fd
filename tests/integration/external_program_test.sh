#!/usr/bin/env bash
# Programs outside this repository: installs the client libraries, compiles the example of
# docs/examples against them with two compilers and nothing else, and runs it on a directory and on
# servers; and a program in C, and one in Python.
#
# Bazel runs a link to this file: what it points to lies in the source tree.
set -uo pipefail
root="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)"
built="$PWD"  # under Bazel the runfiles, which hold the programs
scratch="$(mktemp -d "${TEST_TMPDIR:-/tmp}/external_XXXXXX")"
servers=()
stop() {
  if [[ ${#servers[@]} -gt 0 ]]; then kill "${servers[@]}" 2> /dev/null; wait "${servers[@]}" 2> /dev/null; fi
  rm -rf "$scratch"
}
trap stop EXIT

passed=0
failed=0
check() {  # check "what should be" command...
  local what="$1"
  shift
  if "$@" > "$scratch/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $what"
    tail -n 40 "$scratch/log"
  fi
}

prefix="$scratch/installed"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
headers_of() { (cd "$prefix/include" && find vicinity -name '*.h' | sort); }

install_it() { "$root/deploy/install.sh" --prefix "$prefix" --from "$built"; }

each_header_compiles_alone() {
  local header compiler
  for header in $(headers_of); do
    for compiler in g++ clang++; do
      echo "#include \"$header\"" |
        "$compiler" -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only -x c++ - ||
        return 1
    done
  done
}

headers_show_nothing_foreign() {
  local seen
  seen="$(for header in $(headers_of); do echo "#include \"$header\""; done |
    g++ -std=c++17 -I"$prefix/include" -M -x c++ -)" || return 1
  if grep -Ei '(grpc|protobuf|google|absl|cuda|catch2|\.pb\.h)' <<< "$seen"; then return 1; fi
}

library_shows_only_its_own() {
  local others
  others="$(nm -DC --defined-only "$prefix/lib/libvicinity_client.so" | cut -d' ' -f3- | grep -v '^vicinity::')"
  if [[ -n "$others" ]]; then
    echo "$others"
    return 1
  fi
}

library_needs_neither_torch_nor_python() {
  if ldd "$prefix"/lib/*.so | grep -Ei 'torch|python'; then return 1; fi
}

c_library_shows_only_its_calls() {
  if nm -D --defined-only "$prefix/lib/libvicinity.so" | grep -v ' T vicinity_'; then return 1; fi
}

program_in_c() {
  cat > "$scratch/main.c" << 'CODE'
#include <vicinity/c_api.h>

int main(void) {
  VicinityGraph* graph = 0;
  return vicinity_graph_open("{\"directory\": \"/nonexistent\"}", &graph) == VICINITY_NOT_FOUND ? 0 : 1;
}
CODE
  gcc -std=c99 -Wall -Wextra -Werror -pedantic -o "$scratch/in_c" "$scratch/main.c" \
    $(pkg-config --cflags --libs vicinity) -Wl,-rpath,"$prefix/lib" && "$scratch/in_c"
}

# The examples of a header: lines of comments that three to nine blanks indent. What a heading like
# `Threads:` says goes on further to the right, and a gap in the first of them makes them a table.
examples_of() { # examples_of HEADER BEFORE AFTER
  awk -v before="$2" -v after="$3" '
    /^ *(\/\/|\*)   / && !/^ *(\/\/|\*)          / {
      sub(/^ *(\/\/|\*)   /, "")
      if (!inside) {
        table = /[^ ]   +[^ \/]/
        if (!table) print before
      }
      inside = 1
      if (!table) print
      next
    }
    inside { if (!table) print after; inside = 0 }' "$1"
}

# What examples take as given; one that defines such a name itself hides it.
readonly given='#include <iostream>
#include <vicinity/changes.h>
#include <vicinity/graph.h>
#include <vicinity/loader.h>
#include <vicinity/prepared_query.h>
#include <vicinity/query_loader.h>
#include <vicinity/writer.h>

struct End {
  End(int) {}
  End(const vicinity::Error&) {}
};
void Train(const vicinity::MiniBatch&) {}
void Train(const void* /*rows*/, void* /*stream*/) {}
void Train(const vicinity::StepAnswer&, const std::vector<int64_t>& /*labels*/) {}
struct Given {
  vicinity::Graph* graph;
  vicinity::LoaderOptions options;
  vicinity::MiniBatch* batch;
  void* stream;
};
template <int kNumber>
struct Example;
'
readonly before_example='template <> struct Example<__COUNTER__> : Given { __attribute__((used)) End Run() { {'
readonly after_example='} return 0; } };'

links() { # links FILE.cc
  local compiler
  for compiler in g++ clang++; do
    "$compiler" -std=c++17 -Wall -Wextra -Werror -Wno-unused-variable -shared -fPIC -Wl,--no-undefined \
      -o "$scratch/linked.so" "$1" $(pkg-config --cflags --libs vicinity-client) || return 1
  done
}

examples_in_headers_link() {
  local header
  {
    echo "$given"
    for header in $(headers_of | grep -v c_api); do
      examples_of "$prefix/include/$header" "$before_example" "$after_example"
    done
  } > "$scratch/examples.cc"
  [[ "$(grep -c __COUNTER__ "$scratch/examples.cc")" -ge 4 ]] && links "$scratch/examples.cc"
}

# Those that no example calls.
methods_of_loaders_link() {
  methods_link loader Loader 8 && methods_link query_loader QueryLoader 10
}

methods_link() { # methods_link HEADER CLASS COUNT
  local names='Create|StartEpoch|ResumeEpoch|Next|WaitForNext|stats|num_seeds|steps_per_epoch|query|node_types'
  {
    echo "#include <vicinity/$1.h>"
    grep -oE "\b($names)\(" "$prefix/include/vicinity/client/$1.h" | tr -d '(' | sort -u \
      | awk -v class="$2" '{ print "auto method_" NR " = &vicinity::" class "::" $0 ";" }'
  } > "$scratch/methods.cc"
  [[ "$(grep -c method_ "$scratch/methods.cc")" -eq "$3" ]] && links "$scratch/methods.cc"
}

example_in_c_compiles() {
  {
    echo '#include <stdio.h>'
    echo '#include <vicinity/c_api.h>'
    echo 'static void train_on(VicinityBatch* batch) { (void)batch; }'
    echo '#define NAMED(line) example_##line'
    echo '#define EXAMPLE_OF(line) NAMED(line)'
    # What the examples take as given; one that declares such a name itself hides it.
    local taken='VicinityGraph* graph, const int64_t* users, const int64_t* items, const float* weights, int64_t n'
    local unused='(void)graph; (void)users; (void)items; (void)weights; (void)n;'
    examples_of "$prefix/include/vicinity/c_api.h" \
      "int EXAMPLE_OF(__LINE__)($taken); int EXAMPLE_OF(__LINE__)($taken) { $unused {" '} return 0; }'
  } > "$scratch/example.c"
  grep -q 'vicinity_loader_next' "$scratch/example.c" &&
    grep -q 'vicinity_writer_write' "$scratch/example.c" &&
    gcc -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only $(pkg-config --cflags vicinity) "$scratch/example.c"
}

# The first is a whole program, the others take as given what those in headers do.
examples_of_the_page_link() {
  local page="$scratch/page"
  mkdir -p "$page"
  awk -v page="$page" -v before="$before_example" -v after="$after_example" '
    /^```cpp/ { out = page (n++ ? "/parts.cc" : "/main.cc"); inside = 1; if (n > 1) print before > out; next }
    /^```/ { if (inside && n > 1) print after > out; inside = 0 }
    inside { print > out }' "$root/docs/cpp.md"
  { echo "$given"; echo '#include <future>'; cat "$page/parts.cc"; } > "$page/given_parts.cc"
  grep -q 'int main' "$page/main.cc" && grep -q __COUNTER__ "$page/parts.cc" &&
    links "$page/main.cc" && links "$page/given_parts.cc"
}

# Also after it was moved to another folder. What reads a pipe reads all of it here: one that stops at
# its first match would now and then end who writes, and pipefail takes that for a failure.
cmake_finds_both_libraries() {
  mkdir -p "$scratch/cmake" && cp -r "$prefix" "$scratch/moved"
  cp "$root/docs/examples/sample_and_fetch/main.cc" "$scratch/main.c" "$scratch/cmake/"
  cat > "$scratch/cmake/CMakeLists.txt" << 'CODE'
cmake_minimum_required(VERSION 3.18)
project(outside C CXX)
find_package(vicinity 0.1 REQUIRED)
add_executable(sample main.cc)
target_link_libraries(sample PRIVATE vicinity::client)
add_executable(in_c main.c)
target_link_libraries(in_c PRIVATE vicinity::c)
CODE
  cmake -S "$scratch/cmake" -B "$scratch/cmake/build" -DCMAKE_PREFIX_PATH="$scratch/moved" &&
    cmake --build "$scratch/cmake/build" && "$scratch/cmake/build/in_c" &&
    ldd "$scratch/cmake/build/sample" | grep "$scratch/moved/lib/libvicinity_client.so.0"
}

python_takes_a_batch() {
  PYTHONPATH="$prefix/lib/python" python3 - "$scratch/shards" << 'CODE'
import sys, vicinity_graph
graph = vicinity_graph.Graph(directory=sys.argv[1])
batch = next(iter(graph.loader([5, 5], columns=[("node", "features")])))
assert len(batch.column("features").tolist()) == len(batch.nodes().tolist()) > 0
CODE
}

build_example() {  # build_example COMPILER
  mkdir -p "$scratch/$1"
  cp "$root/docs/examples/sample_and_fetch/main.cc" "$root/docs/examples/sample_and_fetch/Makefile" "$scratch/$1/"
  make -C "$scratch/$1" CXX="$1"
}

make_graph() {
  "$prefix/bin/vicinity" generate block-model --num-nodes 2000 --output "$scratch/graph" &&
    "$prefix/bin/vicinity" partition --input "$scratch/graph" --output "$scratch/shards" --shards 2 \
      --assigner hash
}

# `sleep` only paces the polling; servers that do not come are a failure after a minute.
start_servers() {
  local address
  echo "data: '$scratch/shards' num_shards: 2" > "$scratch/cluster.textproto"
  for shard in 0 1; do
    "$prefix/bin/vicinityd" --data "$scratch/shards" --shards "$shard" --listen 127.0.0.1:0 \
      --ready-file "$scratch/ready$shard" --die-with-parent 2> "$scratch/server$shard.log" &
    servers+=($!)
  done
  for shard in 0 1; do
    for _ in $(seq 600); do
      if [[ -s "$scratch/ready$shard" ]]; then break; fi
      sleep 0.1
    done
    address="$(cat "$scratch/ready$shard")" || return 1
    echo "servers { name: 's$shard' listen: '${address%%$'\n'*}' shards: $shard }" >> "$scratch/cluster.textproto"
  done
}

run_example() {  # run_example COMPILER SOURCE OUTPUT
  "$scratch/$1/sample_and_fetch" "$2" | tee "$3"
  grep -q '^batch 0 of epoch 0: 32 seeds' "$3" && grep -q 'node.features: .* rows' "$3"
}

unknown_graph_is_an_error() {
  "$scratch/g++/sample_and_fetch" "$scratch/nothing.textproto"
  [[ $? -eq 1 ]]
}

# protobuf stops a process in which two libraries bring a file of the same name.
program_with_messages_of_its_own() {
  mkdir -p "$scratch/own/proto"
  cat > "$scratch/own/proto/schema.proto" << 'PROTO'
syntax = "proto3";
package own;
message Schema { int32 version = 1; }
PROTO
  cat > "$scratch/own/main.cc" << 'CODE'
#include <vicinity/graph.h>

#include "proto/schema.pb.h"

int main() {
  own::Schema schema;
  schema.set_version(1);
  vicinity::GraphOptions nowhere;
  nowhere.directory = "/nonexistent";
  const bool opened = vicinity::Graph::Open(nowhere).ok();
  return !opened && schema.version() == 1 ? 0 : 1;
}
CODE
  (cd "$scratch/own" && protoc --cpp_out=. proto/schema.proto &&
    g++ -std=c++17 -I. -o own main.cc proto/schema.pb.cc $(pkg-config --cflags --libs vicinity-client) \
      $(pkg-config --cflags --libs protobuf) -Wl,-rpath,"$prefix/lib" && ./own)
}

check "the library installs" install_it
check "each public header compiles alone" each_header_compiles_alone
check "public headers show no gRPC, protobuf, Abseil or CUDA" headers_show_nothing_foreign
check "the library shows only its own names" library_shows_only_its_own
check "the library needs neither torch nor Python" library_needs_neither_torch_nor_python
check "the C library shows only its calls" c_library_shows_only_its_calls
check "a program in C builds and runs" program_in_c
check "all methods of loaders link" methods_of_loaders_link
check "examples in headers compile and link" examples_in_headers_link
check "the examples in the header for C compile" example_in_c_compiles
check "the examples of docs/cpp.md compile and link" examples_of_the_page_link
check "CMake finds both libraries, wherever they were moved" cmake_finds_both_libraries
check "the example builds with g++" build_example g++
check "the example builds with clang++" build_example clang++
check "a program may have a proto/schema.proto of its own" program_with_messages_of_its_own
check "a graph is made" make_graph
check "the Python package takes a batch from where it is installed" python_takes_a_batch
check "the example reads a directory" run_example g++ "$scratch/shards" "$scratch/by_directory"
check "servers start" start_servers
check "the example reads a cluster" run_example clang++ "$scratch/cluster.textproto" "$scratch/by_cluster"
check "both give the same batch" diff "$scratch/by_directory" "$scratch/by_cluster"
check "a graph that is not there is an error" unknown_graph_is_an_error

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
