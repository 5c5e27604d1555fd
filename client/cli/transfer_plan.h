// What fetching remote rows costs, by cache size: rows, bytes and seconds a batch and an epoch.
//
// Rows are those of the VIP analysis, corrected by what sampled batches needed: it takes the ways
// to a node as independent, which on graphs with many short cycles counts some twice.
//
// Every shard is on a machine of its own and every home's trainers on one; links carry as much in
// as out at once. Seconds are those of the busiest link at its full rate, requests and waiting not
// counted: what no client can beat.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "client/cli/expected_remote.h"
#include "client/cli/line_chart.h"
#include "client/cli/measured_remote.h"

namespace vicinity::cli {

// The cache sizes at which an estimate is corrected, rising: those of `reported`, and many from no
// cache to all that is remote, closer together where the cache is small.
std::vector<int64_t> CorrectedSizes(const RemoteCurves& curves,
                                    absl::Span<const ExpectedRemote::Point> reported);

// Expected remote rows of a batch, corrected.
//
// Threads: immutable; any number may read. Lifetime: the curves must outlive it.
class RemoteEstimate {
 public:
  // `measured` at `cache_rows`, rising; it may be empty. Between sizes the correction is
  // interpolated; sizes at which too few rows were seen to tell are corrected as the last before.
  RemoteEstimate(const RemoteCurves* curves, absl::Span<const int64_t> cache_rows,
                 const MeasuredRemote& measured);

  double RowsPerBatch(int64_t cache_rows) const;
  // A cache that leaves at most `rows`, and one row less does not.
  int64_t CacheFor(double rows) const;
  // The largest |expected / measured - 1| before the correction, where enough rows were seen to
  // tell; 0 if nothing was measured.
  double worst_error() const { return worst_error_; }

 private:
  double Correction(int64_t cache_rows) const;

  const RemoteCurves* curves_;
  std::vector<std::pair<int64_t, double>> factors_;  // by cache rows
  double worst_error_ = 0;
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

// A batch's remote rows, corrected and by VIP alone.
struct CurvePoint {
  int64_t cache_rows = 0;
  double rows = 0;
  double vip_rows = 0;
};
// At each of these cache sizes.
std::vector<CurvePoint> CurveOf(const RemoteEstimate& estimate, const RemoteCurves& curves,
                                absl::Span<const int64_t> cache_rows);

struct TransferPlan {
  TransferModel model;
  double all_rows = 0;                 // a batch needs, near and remote; not corrected
  std::vector<TransferCost> sizes;     // falling in cost
  std::vector<double> vip_rows;        // by size: a batch's remote rows before the correction
  std::vector<CurvePoint> curve;       // what the chart shows
  int64_t sampled_batches = 0;         // that the correction is made of
  double worst_error = 0;              // of vip_rows
  std::optional<TransferCost> enough;  // the smallest cache that meets the wish
  std::string wish;                    // in words
  std::optional<TransferCost> before;  // "what would more save"
  std::optional<TransferCost> more;
};

void PrintTransferPlan(const TransferPlan& plan, std::ostream& out);
nlohmann::ordered_json TransferPlanJson(const TransferPlan& plan);
LineChart TransferChart(const TransferPlan& plan, const std::string& dataset_name);

}  // namespace vicinity::cli
