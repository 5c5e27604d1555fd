#include "client/cli/commands/graph/row_load.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "proto/common/random.h"
#include "proto/common/thread.h"

namespace vicinity::cli {
namespace {

constexpr uint64_t kSeed = 1;

RowLoadResult LoadInOneThread(const Graph& graph, const RowLoad& load, uint64_t thread,
                              absl::Time end) {
  RowLoadResult result;
  NodeDraws draws(kSeed, thread);
  const auto num_nodes = static_cast<uint64_t>(graph.num_nodes(load.node_type));
  std::vector<int64_t> nodes(static_cast<size_t>(load.rows_per_call));
  while (absl::Now() < end) {
    for (int64_t& node : nodes) node = static_cast<int64_t>(draws.Below(num_nodes));
    const absl::Time begin = absl::Now();
    const Result<Rows> rows = graph.Fetch(load.node_type, load.column, nodes);
    if (!rows.ok()) {
      result.failed = 1;
      result.error = rows.error().message();
      return result;
    }
    result.call_seconds.push_back(absl::ToDoubleSeconds(absl::Now() - begin));
    ++result.calls;
    result.rows += rows->num_rows;
    result.bytes += rows->num_rows * rows->spec.row_bytes();
  }
  return result;
}

void Add(RowLoadResult more, RowLoadResult* sum) {
  sum->calls += more.calls;
  sum->rows += more.rows;
  sum->bytes += more.bytes;
  sum->failed += more.failed;
  if (sum->error.empty()) sum->error = std::move(more.error);
  sum->call_seconds.insert(sum->call_seconds.end(), more.call_seconds.begin(),
                           more.call_seconds.end());
}

}  // namespace

absl::StatusOr<RowLoadResult> LoadRows(const Graph& graph, const RowLoad& load) {
  const absl::Time begin = absl::Now();
  std::vector<RowLoadResult> results(static_cast<size_t>(load.num_threads));
  std::vector<std::thread> threads;
  absl::Status started;
  for (size_t t = 0; t < results.size() && started.ok(); ++t) {
    absl::StatusOr<std::thread> thread = StartThread([&graph, &load, &results, t, begin] {
      results[t] = LoadInOneThread(graph, load, t, begin + load.duration);
    });
    started = thread.status();
    if (thread.ok()) threads.push_back(*std::move(thread));
  }
  for (std::thread& thread : threads) thread.join();
  if (!started.ok()) return started;
  RowLoadResult sum;
  sum.seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  for (RowLoadResult& result : results) Add(std::move(result), &sum);
  std::sort(sum.call_seconds.begin(), sum.call_seconds.end());
  return sum;
}

double ShareOf(const std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto position = static_cast<size_t>(std::max(1.0, rank)) - 1;
  return values[std::min(position, values.size() - 1)];
}

}  // namespace vicinity::cli
