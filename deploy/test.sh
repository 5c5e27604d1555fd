#!/usr/bin/env bash
# Builds everything and runs all tests, from a clone on a fresh Debian 12 onwards.
#
#   deploy/test.sh                 set-up, format, drill's patches, build, tests, instruction counts;
#                                  then, as far as the time allows, sanitizers over what is exposed,
#                                  fuzzing, sanitizers over what has threads and a share of the rest
#   deploy/test.sh --sanitizers    the same, with the whole suite under sanitizers, however long
#   deploy/test.sh --quick         build and tests only
#
# The last line is `N passed, N failed`: test cases, each counted once, failed if it failed in
# any run. A stage that fails without a failing case (format, build) counts as one failure.
# The exit status is 0 only if nothing failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT

# --- Stages: a function each, named in a list at the end. ---------------------------------------

set_up() { deploy/setup.sh; }

check_format() { deploy/format.sh --check; }

# That each bug of tests/drill can still be planted; whether it is caught, deploy/drill.sh tells.
check_drill() { deploy/drill.sh --check; }

build() { bazel build --keep_going //...; }

# Runs tests: options of Bazel's, or targets, where not all are meant; the caller's name becomes
# that of the run.
run_tests() {
  local all=()
  if [[ "${*: -1}" != //* ]]; then all=(//...); fi
  bazel test --keep_going --build_tests_only \
    --build_event_json_file="$(mktemp "$results/${FUNCNAME[1]}.XXXX.json")" "$@" "${all[@]}"
}

tests() { run_tests; }

# AddressSanitizer and UndefinedBehaviorSanitizer, in the build that the fuzzer needs anyway.
# For the few tests that are tagged `no_asan`, a comment beside the tag says why.
address_and_undefined() { run_tests --config=fuzz --test_tag_filters=-no_asan; }

# ThreadSanitizer cannot see into Debian's gRPC, so only what runs without it means something.
threads() { run_tests --config=tsan --test_tag_filters=threads; }

# What parses bytes from outside, or is reached from a socket.
exposed() { run_tests --config=fuzz --test_tag_filters=exposed; }

# 19 targets, two at a time, 30 s each; the same inputs each time, as far as 30 s go, so that a red
# run is the change's own. Longer runs by hand draw others.
fuzz() { deploy/fuzz.sh --seed 1; }

perf() { deploy/perf.sh; }

# Some of the other tests, others with each commit, but those that may take minutes. After so many
# minutes none is begun any more.
share_minutes=3
share() {
  local commit rest next=0 failed=0
  commit="$(git rev-parse HEAD)"
  mapfile -t rest < <(
    bazel query 'tests(//...) except attr(tags, "exposed|no_asan|exclusive|manual", tests(//...))' |
      while read -r test; do echo "$(sha1sum <<< "$commit $test") $test"; done | sort | cut -d ' ' -f 4)
  while [[ $SECONDS -lt $((share_minutes * 60)) && $next -lt ${#rest[@]} ]]; do
    run_tests --config=fuzz "${rest[@]:$next:2}" || failed=1
    next=$((next + 2))
  done
  echo "share: $((${#rest[@]} > next ? ${#rest[@]} - next : 0)) of ${#rest[@]} tests did not run under" \
    "sanitizers in $share_minutes minutes: deploy/test.sh --sanitizers runs all"
  return $failed
}

stages=(set_up check_format check_drill build tests perf exposed fuzz threads share)
if [[ "${1:-}" == --quick && $# -eq 1 ]]; then
  stages=(build tests)
elif [[ "${1:-}" == --sanitizers && $# -eq 1 ]]; then
  stages=(set_up check_format check_drill build tests perf address_and_undefined fuzz threads)
elif [[ $# -gt 0 ]]; then
  echo "test: unknown arguments '$*'; see the head of $0" >&2
  exit 2
fi

# --- Run them. ---------------------------------------------------------------------------------

# What sanitizers and fuzzing would add on a slow or cold machine is left out once so much time has
# passed: a stage takes a quarter of an hour at most.
budget_minutes=40
optional=" exposed fuzz threads share "
if [[ "${1:-}" == --sanitizers ]]; then optional=""; fi
begun=$(date +%s)

summary=()
failed_stages=()
for stage in "${stages[@]}"; do
  if [[ $optional == *" $stage "* && $(($(date +%s) - begun)) -gt $((budget_minutes * 60)) ]]; then
    summary+=("$(printf '%-24s %6s    not begun: %s minutes had passed' "$stage" - $budget_minutes)")
    continue
  fi
  echo "== $stage"
  SECONDS=0
  if "$stage"; then verdict=ok; else verdict=FAILED; fi
  summary+=("$(printf '%-24s %6d s  %s' "$stage" "$SECONDS" "$verdict")")
  if [[ $verdict == FAILED ]]; then
    failed_stages+=("$stage")
    # Without packages there is nothing to run; any other failure leaves the rest worth knowing.
    if [[ $stage == set_up ]]; then break; fi
  fi
done

echo "== summary"
printf '%s\n' "${summary[@]}"
python3 deploy/count_tests.py --failed-stages "${failed_stages[*]-}" "$results"
