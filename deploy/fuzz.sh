#!/usr/bin/env bash
# Fuzzes the parsers of bytes from outside (tests/fuzz/targets.cc) with libFuzzer, under
# AddressSanitizer and UndefinedBehaviorSanitizer, two at a time.
#
#   deploy/fuzz.sh                            30 s for each target of files and of the network
#   deploy/fuzz.sh --options                  instead, those of command lines and options
#   deploy/fuzz.sh --seconds 1800 npy npz     these two, for half an hour
#   deploy/fuzz.sh --corpus FOLDER ...        begins with what earlier runs kept there, and keeps
#   deploy/fuzz.sh --seed 1 ...               tries what it tried before (0: something new)
#
# An input that crashes a parser, takes it 5 s or too much memory is kept in tests/fuzz/corpus: name
# it after what it did, mend the parser, and corpus_test has an input more. The last line is
# `N passed, N failed`: targets. The exit status is 0 only if none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=30
seed=0
work="$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)")"
trap 'rm -rf "$work"' EXIT
kept="$work/corpus"
program=fuzz
targets=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --options) program=fuzz_options; shift ;;
    --seconds) seconds="$2"; shift 2 ;;
    --corpus) kept="$2"; shift 2 ;;
    --seed) seed="$2"; shift 2 ;;
    -*) echo "fuzz: unknown argument '$1'; see the head of $0" >&2; exit 2 ;;
    *) targets+=("$1"); shift ;;
  esac
done

bazel build --config=fuzz "//tests/fuzz:$program"
fuzz="$(bazel info --config=fuzz bazel-bin 2> /dev/null)/tests/fuzz/$program"
if [[ ${#targets[@]} -eq 0 ]]; then mapfile -t targets < <("$fuzz" --list); fi

# A freed block is kept from use for a while, which is not to count as the parser's memory.
export ASAN_OPTIONS=quarantine_size_mb=32:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export fuzz seconds seed work kept

fuzz_one() {
  local target="$1" log="$work/$1.log" known="tests/fuzz/corpus/$1" verdict=ok
  export TMPDIR="$work/$target.tmp"
  mkdir -p "$TMPDIR" "$work/$target.seeds" "$kept/$target" "$known"
  "$fuzz" --target="$target" --write-seeds="$work/$target.seeds"
  "$fuzz" --target="$target" -max_total_time="$seconds" -seed="$seed" -max_len=4096 -timeout=5 \
    -rss_limit_mb=512 -malloc_limit_mb=256 -print_final_stats=1 -artifact_prefix="$known/" \
    "$kept/$target" "$work/$target.seeds" "$known" >"$log" 2>&1 || verdict=FAILED
  rmdir --ignore-fail-on-non-empty "$known"
  rm -rf "$TMPDIR"
  printf '%-18s %10s runs  %6s places  %s\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)" "$verdict"
  if [[ $verdict == FAILED ]]; then
    touch "$work/$target.failed"
    tail -n 60 "$log"
  fi
}
export -f fuzz_one
printf '%s\0' "${targets[@]}" | xargs --null --max-procs=2 -I '{}' bash -c 'fuzz_one {}'

failed=$(find "$work" -maxdepth 1 -name '*.failed' | wc -l)
echo "$((${#targets[@]} - failed)) passed, $failed failed"
[[ $failed -eq 0 ]]
