// How many rows a batch will fetch from other machines, by the size of the trainer's cache.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/expected_rows.h"
#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "proto/common/ids.h"

namespace vicinity {

// What a batch is expected to fetch with a static cache that holds the likeliest remote rows: means
// over the homes that have seeds.
//
// Threads: immutable; any number may read. Memory: 8 bytes a home and remote node that it may need.
class RemoteCurves {
 public:
  // Rows of `types` alone; empty: of every node type.
  RemoteCurves(const VipScores& scores, const HomePlan& plan, const Assignment& assignment,
               absl::Span<const NodeTypeId> types = {});

  int num_homes() const { return static_cast<int>(curves_.size()); }  // that have seeds
  double all_rows() const { return all_rows_; }                       // near and remote
  int64_t most_remote() const { return most_remote_; }                // rows; of any home
  // Remote rows by node type without a cache.
  absl::Span<const double> rows_by_type() const { return rows_by_type_; }

  double RowsPerBatch(int64_t cache_rows) const;
  // The smallest cache of which a batch leaves at most `rows`.
  int64_t CacheFor(double rows) const;

 private:
  std::vector<MissCurve> curves_;  // by home that has seeds
  double all_rows_ = 0;
  int64_t most_remote_ = 0;
  std::vector<double> rows_by_type_;
};

struct ExpectedRemote {
  struct Point {
    double share = 0;  // of N / K, the nodes of a mean shard; -1: every remote node
    int64_t cache_rows = 0;
    double remote_rows = 0;  // fetched a batch
  };
  double rows = 0;  // input rows a batch, near and remote
  std::vector<Point> points;
};

// Cache sizes that a report shows: these, or of none shares of a mean shard and all that is remote.
// Rising, each once.
std::vector<ExpectedRemote::Point> ReportedSizes(const RemoteCurves& curves,
                                                 const Assignment& assignment,
                                                 absl::Span<const int64_t> cache_rows = {});

ExpectedRemote ExpectRemote(const VipScores& scores, const HomePlan& plan,
                            const Assignment& assignment);

}  // namespace vicinity
