#!/usr/bin/env bash
# Reads a graph from servers on this machine for a long time while they are killed, paused, replaced,
# cut off and slowed down at random, and checks every row that comes.
#
#   deploy/soak.sh [--minutes N] [--replicas N] [--seed S]     3 minutes, 1, a new seed each time
#   deploy/soak.sh network [SECONDS [CYCLES]]                  15 and 300: the network tests, longer
#   deploy/soak.sh flood [SECONDS]                             20: every attack, in every mode
#   deploy/soak.sh packages DIR                                installs, runs and purges Debian packages
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
if [[ ${1-} == flood ]]; then
  exec bazel test //tests/integration:flood_test --nocache_test_results --test_output=all \
    --test_timeout=36000 --test_env=VICINITY_FLOOD_ALL=1 \
    --test_env=VICINITY_FLOOD_SECONDS="${2-20}"
fi
exec bazel run //tests/integration:soak -- "$@"
