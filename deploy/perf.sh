#!/usr/bin/env bash
# Counts the instructions of the hot paths (tests/perf/hot_paths_test.cc) with valgrind's callgrind, and
# fails where one takes over 3 % more than tests/perf/instructions.txt says.
#
#   deploy/perf.sh             compares
#   deploy/perf.sh --accept    writes what was counted as the new figures: say in the commit why
#
# The figures are of clang 14 and Debian 12's libraries on an x86-64 processor with AVX2, which is
# the most that this valgrind knows. The last line is `N passed, N failed`: paths.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

figures=tests/perf/instructions.txt
accept=false
if [[ "${1:-}" == --accept && $# -eq 1 ]]; then
  accept=true
elif [[ $# -gt 0 ]]; then
  echo "perf: unknown arguments '$*'; see the head of $0" >&2
  exit 2
fi

bazel build //tests/perf:hot_paths_test
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Debian 12's valgrind does not know the debug information of its clang.
strip --strip-debug -o "$work/hot_paths" "$(bazel info bazel-bin)/tests/perf/hot_paths_test"
TMPDIR="$work" valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$work/out" \
  "$work/hot_paths" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# A file for each path: its name behind the trigger of the dump, its instructions in `totals`.
for dump in "$work"/out.*; do
  awk '/^desc: Trigger: Client Request: /{name = $NF} /^totals: /{count = $2}
       END {if (name != "") print name, count}' "$dump"
done | sort > "$work/counted"

if "$accept"; then
  cp "$work/counted" "$figures"
  cat "$figures"
  exit 0
fi
join -a 1 -a 2 -e 0 -o 0,1.2,2.2 "$figures" "$work/counted" | awk -v figures="$figures" '
  {
    change = $2 > 0 ? ($3 / $2 - 1) * 100 : 100
    verdict = $3 == 0 || change > 3 ? "FAILED" : "ok"
    if (verdict == "ok") passed++; else failed++
    printf "%-26s %12d instructions, %12d stored, %+6.2f %%  %s\n", $1, $3, $2, change, verdict
    if (change < -3) better = 1
  }
  END {
    if (failed) print "perf: if that is what the change is worth: deploy/perf.sh --accept, and say why"
    if (better) print "perf: some take less than before: deploy/perf.sh --accept keeps it so"
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0 || passed == 0
  }'
