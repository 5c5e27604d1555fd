#!/usr/bin/env bash
# Runs the tests of the Python package with what PyPI has: PyTorch and PyTorch Geometric as users
# install them, in a virtual environment. Continuous integration tests with Debian's PyTorch and runs
# none of this, since it downloads gigabytes.
#
#   deploy/test_python.sh --environment DIR [OPTIONS] [TEST...]
#
#   --environment DIR   where the environment is: made, or used as it is if it is there
#   --python PROGRAM    the Python that makes it, from 3.9 on (/usr/bin/python3)
#   --install PACKAGE   what pip brings into it, as pip writes it; again for more
#                       (torch torch_geometric numpy, each the newest that this Python has)
#   --from BIN          takes what lies built in BIN (as bazel-bin), builds nothing
#
# A TEST is a name, as pyg_test; without one it is all of tests/client/python but the wheel's, which
# has its own Python, and then the doctor and the demo. PyPI's PyTorch for Linux is that of CUDA: an
# environment takes 6 GB, and needs no GPU. It says first which versions are imported. The last line
# is `N passed, N failed`, and the exit status is 0 only if nothing failed.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

fail() {
  echo "test_python: $*" >&2
  exit 2
}

environment=""
python=/usr/bin/python3
packages=()
built=""
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --environment) environment="${2:?--environment needs a folder}" ;;
    --python) python="${2:?--python needs a program}" ;;
    --install) packages+=("${2:?--install needs a package}") ;;
    --from) built="$(realpath "${2:?--from needs a folder}")" ;;
    --help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    *) fail "unknown option '$1'; --help tells the options" ;;
  esac
  shift 2
done
[[ -n "$environment" ]] || fail "--environment DIR is missing"
if [[ ${#packages[@]} -eq 0 ]]; then packages=(torch torch_geometric numpy); fi
tests=("$@")
if [[ ${#tests[@]} -eq 0 ]]; then
  mapfile -t tests < <(cd "$root/tests/client/python" && printf '%s\n' *_test.py \
    | sed 's/\.py$//' | grep -vx wheel_test)
fi
for test in "${tests[@]}"; do
  [[ -f "$root/tests/client/python/$test.py" ]] || fail "$test: tests/client/python has no such test"
done

if [[ -z "$built" ]]; then
  (cd "$root" && bazel build //client/c_api:libvicinity.so //client/cli:vicinity //server:vicinityd)
  built="$(realpath "$root/bazel-bin")"
fi
# One that was left half made is made anew.
if [[ ! -e "$environment/complete" ]]; then
  "$python" -m venv --clear "$environment"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
  touch "$environment/complete"
fi
python="$(realpath -s "$environment")/bin/python"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
ln -s "$built/client/cli/vicinity" "$built/server/vicinityd" "$scratch"
export VICINITY_PROGRAMS="$built" VICINITY_LIBRARY="$built/client/c_api/libvicinity.so"
unset PYTHONPATH

# What is imported: of the environment, not what lies elsewhere on this machine.
"$python" -W ignore - << 'END'
import importlib, platform, sys

print("== Python", platform.python_version())
for name in ("numpy", "torch", "torch_geometric", "dgl"):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: {error}")
        continue
    print(f"{name} {module.__version__}")
    if not module.__file__.startswith(sys.prefix):
        sys.exit(f"test_python: {name} is {module.__file__}, none of the environment's")
END

passed=0
failed=0
# run_case NAME COMMAND...: a program that says at its end how many tests it ran, or else is one.
run_case() {
  local status=0 counts more_passed more_failed
  echo "== $1"
  "${@:2}" > "$scratch/log" 2>&1 || status=$?
  if ((status != 0)); then cat "$scratch/log"; fi
  counts="$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$scratch/log" | tail -n 1)"
  read -r more_passed more_failed <<< "${counts:-1 0}"
  # What ended badly without a failed test has failed itself.
  if ((status != 0 && more_failed == 0)); then
    if [[ -z "$counts" ]]; then more_passed=0; fi
    more_failed=1
  fi
  grep -E '^(OK|FAILED) \(.*skipped' "$scratch/log" || true
  echo "$more_passed passed, $more_failed failed"
  passed=$((passed + more_passed))
  failed=$((failed + more_failed))
}

for test in "${tests[@]}"; do
  run_case "$test" "$python" "$root/tests/client/python/$test.py"
done
if [[ $# -eq 0 ]]; then
  export PYTHONPATH="$root/client/python" VICINITY_BIN="$scratch"
  run_case doctor "$python" -m vicinity_graph.doctor
  run_case demo "$python" -m vicinity_graph.demo --num-nodes 2000 --epochs 2
fi
echo "== all"
echo "$passed passed, $failed failed"
if ((failed > 0)); then exit 1; fi
