#!/usr/bin/env bash
# Builds everything and runs all tests, from a clone on a fresh Debian 12 onwards.
#
#   deploy/test.sh                 set-up, format, drill's patches, build, tests
#   deploy/test.sh --sanitizers    the same, then the tests under sanitizers: two more builds
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

# Runs the tests that the arguments, options of Bazel's, leave; the caller's name becomes that of
# the run.
run_tests() {
  bazel test --keep_going --build_tests_only \
    --build_event_json_file="$results/${FUNCNAME[1]}.json" "$@" //...
}

tests() { run_tests; }

# For the few tests that are tagged `no_asan`, a comment beside the tag says why.
address_and_undefined() { run_tests --config=asan --config=ubsan --test_tag_filters=-no_asan; }

# ThreadSanitizer cannot see into Debian's gRPC, so only what runs without it means something.
threads() { run_tests --config=tsan --test_tag_filters=threads; }

stages=(set_up check_format check_drill build tests)
if [[ "${1:-}" == --quick && $# -eq 1 ]]; then
  stages=(build tests)
elif [[ "${1:-}" == --sanitizers && $# -eq 1 ]]; then
  stages+=(address_and_undefined threads)
elif [[ $# -gt 0 ]]; then
  echo "test: unknown arguments '$*'; see the head of $0" >&2
  exit 2
fi

# --- Run them. ---------------------------------------------------------------------------------

summary=()
failed_stages=()
for stage in "${stages[@]}"; do
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
