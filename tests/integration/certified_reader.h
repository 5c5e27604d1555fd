// A trainer's view of a certified graph: reads epochs, checks every row and edge of every batch,
// and keeps count of what came, what failed and how long it took.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/loader.h"
#include "client/result.h"
#include "tests/testing/certified_batch.h"
#include "tests/testing/certified_graph.h"

namespace vicinity::testing {

struct ReaderOptions {
  GraphOptions graph;
  CachePolicy cache = CachePolicy::kNone;
  int64_t cache_rows = 0;
  int64_t batch_size = 16;
  std::vector<int64_t> fanouts = {5, 5};
  int64_t window_bytes = 128 << 10;  // a few batches: a fault is met soon
  std::chrono::milliseconds batch_timeout{30000};
  // Called with the first thing that is wrong in a reading, as soon as it is found.
  std::function<void(const std::string& what)> on_wrong;
};

// What became of an epoch, or of the rest of one.
struct Reading {
  std::vector<uint64_t> digests;             // of the batches that came, in order
  Error error;                               // that ended it before its end
  BatchVerdict verdict;                      // of all batches together
  std::chrono::nanoseconds longest_wait{0};  // for one batch, or for the error instead
};

// Threads: one at a time.
class CertifiedReader {
 public:
  // `graph` must outlive it.
  static Result<std::unique_ptr<CertifiedReader>> Open(const CertifiedGraph* graph,
                                                       const ReaderOptions& options);

  int64_t steps() const { return loader_->steps_per_epoch(); }
  TrafficStats traffic() const { return opened_->traffic(); }

  // Reads from `first_step` to the epoch's end or to an error. `before` is called with the step
  // before each batch is asked for.
  Reading Read(int64_t epoch, int64_t first_step = 0,
               const std::function<void(int64_t step)>& before = nullptr);

 private:
  CertifiedReader(const CertifiedGraph* graph, const ReaderOptions& options,
                  std::unique_ptr<Graph> opened, SamplingSpec spec, std::unique_ptr<Loader> loader);
  void Check(const MiniBatch& batch, BatchVerdict* sum) const;

  const CertifiedGraph* const graph_;
  const std::function<void(const std::string& what)> on_wrong_;
  const std::unique_ptr<Graph> opened_;
  const SamplingSpec spec_;
  const std::unique_ptr<Loader> loader_;
};

}  // namespace vicinity::testing
