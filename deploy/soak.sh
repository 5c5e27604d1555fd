#!/usr/bin/env bash
# Reads a graph from servers on this machine for a long time while they are killed, paused, replaced,
# cut off and slowed down at random, and checks every row that comes.
#
#   deploy/soak.sh [--minutes N] [--replicas N] [--seed S]     3 minutes, 1, a new seed each time
#   deploy/soak.sh network [SECONDS [CYCLES]]                  15 and 300: the network tests, longer
#   deploy/soak.sh flood [SECONDS]                             20: every attack, in every mode
#   deploy/soak.sh alerts                                      alerts fire when their faults are made
#   deploy/soak.sh packages DIR                                installs, runs and purges Debian packages
#   deploy/soak.sh upgrade [COMMIT]                            the last version and this one, together
#
# Two replicas of every shard, and no reader may meet an error: one server fails at a time.
# It prints each fault as it begins, and at the end what came, what failed and what the servers
# hold. The exit status is 0 only if no row was wrong, nothing hung and nothing leaked. The seed
# that it prints brings the same faults again.
#
# The second form reads for so many seconds through each of twenty bad networks, and takes servers
# away so many times by cutting their cables. It needs root. So does the third, which attacks a
# server in every way that docs/security.md names, each for so many seconds, and prints a table.
#
# The fourth takes what deploy/packages.sh has made: two minutes in a fresh Debian 12 under a systemd of
# its own (deploy/lib/packages_soak.sh). It needs root and a package mirror.
#
# The fifth builds the commit that CHANGELOG.md names as the last version, or another, beside this
# tree, and runs clusters of both with clients of both (deploy/lib/upgrade_soak.py): a minute, and the
# time that a build takes.
set -euo pipefail
if [[ ${1-} == packages ]]; then
  exec "$(dirname "${BASH_SOURCE[0]}")/lib/packages_soak.sh" "${2:?a folder of packages is missing}"
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1-} == network ]]; then
  exec bazel test //tests/integration:network_test --nocache_test_results --test_output=all \
    --test_timeout=36000 \
    --test_env=VICINITY_PROFILE_SECONDS="${2-15}" --test_env=VICINITY_NETWORK_CYCLES="${3-300}"
fi
if [[ ${1-} == alerts ]]; then
  exec bazel test //tests/deploy:alerts_fire_test --nocache_test_results --test_output=all
fi
if [[ ${1-} == flood ]]; then
  exec bazel test //tests/integration:flood_test --nocache_test_results --test_output=all \
    --test_timeout=36000 --test_env=VICINITY_FLOOD_ALL=1 \
    --test_env=VICINITY_FLOOD_SECONDS="${2-20}"
fi

# folder_of_programs TREE FOLDER: builds what the upgrade needs, and puts it there.
folder_of_programs() (
  cd "$1"
  bazel build --experimental_convenience_symlinks=ignore \
    //client/cli:vicinity //client/train:vicinity_train //server:vicinityd
  programs="$(bazel info bazel-bin 2> /dev/null)"
  mkdir -p "$2"
  cp -L "$programs/client/cli/vicinity" "$programs/client/train/vicinity_train" \
    "$programs/server/vicinityd" "$2"
)

upgrade() {
  local commit="${1-}" scratch
  if [[ -z $commit ]]; then
    # shellcheck disable=SC2016  # quoted for sed
    commit="$(sed -n 's/^The last version: commit `\([0-9a-f]\{40\}\)`.*/\1/p' CHANGELOG.md)"
  fi
  if ! git merge-base --is-ancestor "$commit" HEAD; then
    echo "soak: CHANGELOG.md names no commit of this history as the last version: \"$commit\"" >&2
    exit 1
  fi
  scratch="$(mktemp -d)"
  # shellcheck disable=SC2064  # now, not when the trap is called
  trap "cd '$scratch/old' 2> /dev/null && bazel clean --expunge; cd '$PWD'
    git worktree remove --force '$scratch/old' || true; rm -rf '$scratch'" EXIT
  git worktree add --detach "$scratch/old" "$commit"
  folder_of_programs "$scratch/old" "$scratch/programs-old"
  folder_of_programs . "$scratch/programs-new"
  deploy/lib/upgrade_soak.py "$scratch/programs-old" "$scratch/programs-new"
}
if [[ ${1-} == upgrade ]]; then
  upgrade "${2-}"
  exit
fi
exec bazel run //tests/integration:soak -- "$@"
