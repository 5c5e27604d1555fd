// Graphs cut into shards that benchmarks run on: made once, kept for the next run.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "client/cli/command.h"
#include "partition/dataset.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {

// What a benchmark that uses this calls first: true, with the exit code, if this process was
// started as METIS' child (it starts itself for that) and has done its work.
std::optional<int> RanAsMetisChild(int argc, char** argv);

// A block model on 4 shards by METIS, 8 % of its nodes train nodes: of 20,000 nodes, or in full
// size of a million nodes and 28 million edges. Exits 1, saying why, if it cannot be had.
std::unique_ptr<Dataset> OpenBlockModelShards(const BenchOptions& options);

// An undirected R-MAT graph on 4 shards by hash, 8 % of its nodes train nodes: of 2^15 nodes, or in
// full size of a million nodes and 31 million edges. Exits 1, saying why, if it cannot be had.
std::unique_ptr<Dataset> OpenRmatShards(const BenchOptions& options);

// The web graph cnr-2000, which lies beside some clones as cnr2000.npz, on 4 shards by METIS, 8 %
// of its nodes train nodes. Null, said on standard error, where it is absent.
std::unique_ptr<Dataset> OpenCnr2000Shards(const BenchOptions& options);

// WordNet as the quick start imports it, on 4 shards by METIS, 60 % of its nodes train nodes. Null,
// said on standard error, where deploy/wordnet.py cannot make it.
std::unique_ptr<Dataset> OpenWordNetShards(const BenchOptions& options);

}  // namespace vicinity::benchmark
