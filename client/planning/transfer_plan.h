// What fetching remote rows costs, by cache size: rows, bytes and seconds a batch and an epoch.
//
// Every shard is on a machine of its own and every home's trainers on one; links carry as much in
// as out at once. Seconds are those of the busiest link at its full rate, requests and waiting not
// counted: what no client can beat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/planning/expected_remote.h"

namespace vicinity {

// The cache sizes at which rows are worked out, rising: those of `reported`, and others from no
// cache to all that is remote, closer together where the cache is small.
std::vector<int64_t> PlannedSizes(const RemoteCurves& curves,
                                  absl::Span<const ExpectedRemote::Point> reported);

// A batch's remote rows, by cache size.
//
// Threads: immutable; any number may read.
class RemoteEstimate {
 public:
  // At `cache_rows`, rising, at least one; between them rows are interpolated.
  RemoteEstimate(std::vector<int64_t> cache_rows, std::vector<double> rows);

  absl::Span<const int64_t> sizes() const { return cache_rows_; }
  double RowsPerBatch(int64_t cache_rows) const;
  // A cache that leaves at most `rows`, and one row less does not; the largest size if none does.
  int64_t CacheFor(double rows) const;

 private:
  std::vector<int64_t> cache_rows_;
  std::vector<double> rows_;
};

struct TransferModel {
  double row_bytes = 0;  // of a remote row: the mean over types, as often as each is needed
  double link_gbps = 10;
  int64_t trainers_per_home = 1;
  int64_t num_homes = 1;
  int64_t num_shards = 1;
  int64_t steps = 0;  // batches of one trainer an epoch
};

// With a cache of so many rows in every trainer.
struct TransferCost {
  double share = 0;  // as ExpectedRemote::Point; -2: not one of those sizes
  int64_t cache_rows = 0;
  double rows = 0;  // a batch
  double batch_bytes = 0;
  double batch_seconds = 0;  // all trainers at once
  double epoch_rows = 0;     // of all trainers together
  double epoch_bytes = 0;
  double epoch_seconds = 0;
};
TransferCost CostOf(const RemoteEstimate& estimate, const TransferModel& model, int64_t cache_rows);

// Which loader is planned for; empty: none, a batch on its own.
struct PlannedLoader {
  std::string text;         // its options, in words
  int64_t num_sampled = 0;  // batches
  int64_t num_counted = 0;  // of them
};

struct TransferPlan {
  TransferModel model;
  double all_rows = 0;  // a batch needs, near and remote
  std::optional<PlannedLoader> loader;
  int64_t query_batches = 0;  // sampled, of a query; else 0: without a loader it is the VIP formula
  std::vector<TransferCost> sizes;  // falling in cost
  std::vector<double> alone_rows;   // by size: a batch's remote rows that shares none with others
  std::optional<RemoteEstimate> estimate;  // what `sizes` are made of
  std::optional<RemoteEstimate> alone;
  std::optional<TransferCost> enough;  // the smallest cache that meets the wish
  std::string wish;                    // in words
  std::optional<TransferCost> before;  // "what would more save"
  std::optional<TransferCost> more;
};

}  // namespace vicinity
