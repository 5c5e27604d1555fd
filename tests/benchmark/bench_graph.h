// The graph that benchmarks run on: made once, kept for the next run.
#pragma once

#include <memory>

#include "partition/dataset/dataset.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {

// An undirected R-MAT graph in one shard, without repeated edges and loops: of 2^16 nodes, or in
// full size of 4.2 million nodes and 128 million edges; with `weights`, an edge has one to sample
// by. Exits 1, saying why, if it cannot be had.
std::unique_ptr<Dataset> OpenRmat(const BenchOptions& options, bool weights = false);

}  // namespace vicinity::benchmark
