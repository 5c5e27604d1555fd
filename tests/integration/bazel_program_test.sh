#!/usr/bin/env bash
# A Bazel workspace outside this repository, as docs/cpp.md shows it, with the page's program: all
# that the program depends on is loaded and analysed, so that nothing in it is hidden from others or
# named by a path that only holds here, and the program itself is compiled. The library is not, for
# minutes; what it is made of is built and linked by other tests.
#
# Bazel runs a link to this file: what it points to lies in the source tree.
set -uo pipefail
root="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)"
scratch="$(mktemp -d "${TEST_TMPDIR:-/tmp}/bazel_program_XXXXXX")"
outside="$scratch/outside"

# Nobody's settings, nothing that another build left behind, no network.
bazel_build() {
  (cd "$outside" && bazel --nohome_rc --output_user_root="$scratch/out" --max_idle_secs=60 \
    build --experimental_repository_disable_download --noshow_progress "$@")
}
stop() {
  (cd "$outside" && bazel --nohome_rc --output_user_root="$scratch/out" shutdown) > /dev/null 2>&1
  chmod -R u+w "$scratch" && rm -rf "$scratch"
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

# What follows `# NAME` on the page, up to an empty line.
file_of_the_page() { sed -n "/^# $1\$/,/^\(\`\`\`\)\?\$/{/^# /d;/^\`/d;p}" "$root/docs/cpp.md"; }

# Beside the page's repository those that Debian's Bazel would download.
make_workspace() {
  mkdir -p "$outside/hidden"
  {
    file_of_the_page WORKSPACE | sed "s,/src/vicinity,$root,"
    sed -n '/^local_repository(/,/^)/p' "$root/WORKSPACE" | sed "s,path = \"deploy/,path = \"$root/deploy/,"
  } > "$outside/WORKSPACE"
  file_of_the_page BUILD > "$outside/BUILD"
  file_of_the_page .bazelrc > "$outside/.bazelrc"
  sed -n '/^```cpp/,/^```$/{/^```$/q;/^```/d;p}' "$root/docs/cpp.md" > "$outside/main.cc"
  sed 's,client:vicinity,client:graph,' "$outside/BUILD" > "$outside/hidden/BUILD"
  grep -q client:graph "$outside/hidden/BUILD" && grep -q "$root\"" "$outside/WORKSPACE"
}

program_compiles() {
  bazel_build --output_groups=compilation_outputs //:train
}

other_targets_are_hidden() {
  if bazel_build --nobuild //hidden:train > "$scratch/refusal" 2>&1; then return 1; fi
  cat "$scratch/refusal"
  grep -q 'is not visible from' "$scratch/refusal"
}

check "the page has the files of a workspace" make_workspace
check "all that the program depends on is there" bazel_build --nobuild //:train
check "the program compiles" program_compiles
check "other targets are hidden" other_targets_are_hidden

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
