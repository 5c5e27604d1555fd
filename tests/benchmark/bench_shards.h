// Graphs cut into shards that benchmarks run on: made once, kept for the next run.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "client/cli/commands/command.h"
#include "partition/dataset/dataset.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {

// What a benchmark that uses this calls first: true, with the exit code, if this process was
// started as METIS' child (it starts itself for that) and has done its work.
std::optional<int> RanAsMetisChild(int argc, char** argv);

enum class BenchGraph {
  kBlockModel,  // 20,000 nodes; in full size a million, and 28 million edges. 8 % are train nodes
  kRmat,        // undirected, 2^15 nodes; in full size a million, and 31 million edges. 8 %
  kWordNet,     // as the quick start imports it, 60 %
  kCnr2000,     // the web graph, which lies beside some clones as cnr2000.npz, 8 %
  kCora,        // tests/data, 5 %
  kTolokers,    // tests/data, 50 %
};
inline constexpr BenchGraph kBenchGraphs[] = {BenchGraph::kCora,       BenchGraph::kTolokers,
                                              BenchGraph::kWordNet,    BenchGraph::kCnr2000,
                                              BenchGraph::kBlockModel, BenchGraph::kRmat};

std::string NameOf(BenchGraph graph);

// The graph on 4 shards, cut by "metis" or "hash". Null, said on standard error, where its files
// are absent. Exits 1, saying why, if it cannot be had for any other reason.
std::unique_ptr<Dataset> OpenBenchShards(const BenchOptions& options, BenchGraph graph,
                                         const std::string& cut);

}  // namespace vicinity::benchmark
