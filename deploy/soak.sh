#!/usr/bin/env bash
# Reads a graph from servers on this machine for a long time while they are killed, paused, replaced,
# cut off and slowed down at random, and checks every row that comes.
#
#   deploy/soak.sh [--minutes N] [--replicas N] [--seed S]     3 minutes, 1, a new seed each time
#
# Two replicas of every shard, and no reader may meet an error: one server fails at a time.
# It prints each fault as it begins, and at the end what came, what failed and what the servers
# hold. The exit status is 0 only if no row was wrong, nothing hung and nothing leaked. The seed
# that it prints brings the same faults again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec bazel run //tests/integration:soak -- "$@"
