#!/usr/bin/env bash
# What a cluster's links do to training, and what each kind of cache does about it: every host a
# network namespace with a rate-limited link, one vicinityd and one trainer, whose device step is a
# timer. Epoch time with all data on every host, without a cache, with the static VIP cache and with
# the look-ahead pool; pipeline on and, at the first rate, off; rows and epoch time that `vicinity
# plan` predicts beside those measured; how much of the step, the busiest link and this machine's
# cores was in use, the largest of which is what limited the case; and how much of a link a bulk fetch
# of rows fills.
#
#   deploy/bench.sh cluster [--size small|full] [--format table|json] [--data DIR] [--hosts 2,4,8]
#                           [--rates 1,2.5] [--graphs wordnet,block-model] [--steps N]
#                           [--step-ms MS] [--sample-threads N] [--fetch-threads N]
#                           [--cache SHARE] [--only links|training]
#
# Needs root, for the namespaces; without it says so and measures nothing. Nothing is sent outside of
# them. --step-ms 0 (default) takes a step that leaves this machine's cores half of their time.
# Threads are of each trainer, as many as the loader's defaults; --cache is the rows that a trainer
# keeps, as a share of all nodes (default 0.04).
# Epochs are extrapolated from their first N steps, of which the first batch's wait comes once. Full
# size takes a quarter of an hour; --hosts, --graphs and --only run parts of it.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
deploy/setup.sh >&2
bazel build //client/cli:vicinity //server:vicinityd //tests/benchmark:cluster_client >&2
exec deploy/lib/cluster_bench.py --programs "$(bazel info bazel-bin 2> /dev/null)" "$@"
