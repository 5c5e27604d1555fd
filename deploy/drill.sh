#!/usr/bin/env bash
# Plants bugs, one after the other, and shows that the test which should catch each does fail.
#
#   deploy/drill.sh [NAME...]            the bugs of tests/drill, or those whose names begin so
#   deploy/drill.sh --check [NAME...]    only: does each still apply, and is its test there?
#
# A bug is a patch. Its head says what goes wrong (Bug), which test must fail (Test, Case), and with
# which of .bazelrc's configurations (Config; none: the usual one). Bugs are planted in a copy, with
# a build of its own, under .cache/drill; your files stay as they are. Delete that folder when you
# like: it only saves time. Each case is run without the bug first, and must pass.
#
# The exit status is 0 only if every bug was caught. It takes a minute or so for each; after a first
# build, which takes as long as any.
set -uo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root" || exit 1

readonly scratch="$root/.cache/drill"
readonly copy="$scratch/tree"
readonly log="$scratch/log"

# --- What there is. -----------------------------------------------------------------------------

check_only=false
if [[ "${1:-}" == --check ]]; then
  check_only=true
  shift
fi
bugs=()
for name in "${@:-}"; do
  found=(tests/drill/"$name"*.patch)
  if [[ ! -e "${found[0]}" ]]; then
    echo "drill: no bug of tests/drill begins with '$name'" >&2
    exit 2
  fi
  bugs+=("${found[@]}")
done

field() { sed -n "/^$1: /{s///p;q}" "$2"; }

# Prints what is wrong with a bug, if anything is.
fault_of() {
  local bug="$1" target case source
  target="$(field Test "$bug")"
  case="$(field Case "$bug")"
  source="${target#//}"
  source="${source/://}.cc"
  if [[ -z "$(field Bug "$bug")" || -z "$target" || -z "$case" ]]; then
    echo "its head lacks Bug, Test or Case"
  elif ! git apply --check -C1 "$bug" 2> /dev/null; then
    echo "no longer applies: plant it anew in $(sed -n 's/^+++ b\///p' "$bug" | xargs)"
  elif ! grep -qsF "\"$case\"" "$source"; then
    echo "$source has no case \"$case\""
  fi
}

broken=0
sound=()
for bug in "${bugs[@]}"; do
  fault="$(fault_of "$bug")"
  if [[ -n "$fault" ]]; then
    echo "BROKEN  $(basename "$bug" .patch): $fault"
    broken=$((broken + 1))
  else
    sound+=("$bug")
  fi
done
if $check_only; then
  echo "${#sound[@]} bugs can be planted, $broken cannot"
  exit $((broken > 0))
fi

# --- Plant and catch. ---------------------------------------------------------------------------

make_copy() {
  mkdir -p "$scratch"
  rm -rf "$copy"
  mkdir "$copy"
  git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2> /dev/null \
    | tar --create --files-from=- | tar --extract --directory="$copy"
  if [[ -e user.bazelrc ]]; then cp user.bazelrc "$copy"; fi
}

# Git would take the copy for a part of the repository around it, and patch that.
in_copy() { (cd "$copy" && GIT_CEILING_DIRECTORIES="$scratch" "$@"); }

# Runs the case that a bug names; the exit status is Bazel's: 0 passed, 3 failed.
run_case() {
  local bug="$1" case config options=()
  case="$(field Case "$bug")"
  config="$(field Config "$bug")"
  if [[ -n "$config" ]]; then options+=("--config=$config"); fi
  # Catch2 takes a comma for the end of a name.
  in_copy bazel --output_base="$scratch/build" test --experimental_convenience_symlinks=ignore \
    --test_timeout=300 "${options[@]}" "$(field Test "$bug")" \
    --test_arg="${case//,/\\,}" --test_arg=--warn --test_arg=NoTests > "$log" 2>&1
}

# Prints a verdict. A bug that does not compile, or a case that fails without it, shows nothing.
drill() {
  local bug="$1" rc
  if ! run_case "$bug"; then
    echo "BROKEN: its case fails without it"
    return
  fi
  if ! in_copy git apply -C1 "$root/$bug" 2> "$log"; then
    echo "BROKEN: cannot be planted"
    return
  fi
  run_case "$bug"
  rc=$?
  in_copy git apply -C1 --reverse "$root/$bug"
  case $rc in
    0) echo MISSED ;;
    3) echo caught ;;
    *) echo "BROKEN: does not build" ;;
  esac
}

make_copy
caught=0
missed=0
for bug in "${sound[@]}"; do
  SECONDS=0
  verdict="$(drill "$bug")"
  printf '%-8s %-28s %4d s  %s\n' "${verdict%%:*}" "$(basename "$bug" .patch)" "$SECONDS" \
    "$(field Test "$bug") \"$(field Case "$bug")\""
  case $verdict in
    caught) caught=$((caught + 1)) ;;
    MISSED) missed=$((missed + 1)) ;;
    *)
      broken=$((broken + 1))
      echo "$verdict; the end of its log:"
      tail -n 20 "$log"
      ;;
  esac
done
in_copy bazel --output_base="$scratch/build" shutdown
echo "$caught caught, $missed missed, $broken broken"
exit $((missed + broken > 0))
