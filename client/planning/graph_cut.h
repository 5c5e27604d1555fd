// A graph cut into shards, their nodes in VIP order, and the ranking beside them: what `vicinity
// partition` does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/cut/cut_report.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "proto/manifest.pb.h"

namespace vicinity {

struct CutRequest {
  std::string output;  // the directory to make
  int32_t num_shards = 0;
  VipRequest vip;
  CalibrationOptions calibration;
  std::string provenance;  // a line, which the manifest keeps behind the source's
};

struct PartitionReport {
  std::string dataset;
  uint64_t fingerprint = 0;
  std::string assigner;
  int32_t num_shards = 0;
  int64_t num_nodes = 0;
  CutReport cut;
  std::optional<ExpectedRemote> expected;  // none without seeds
  proto::Ranking ranking;                  // what the expectation is for
};

// What the VIP request comes to, told before hours of work, by a cut that does not say which seeds
// are whose; none where there are no seeds to take, so nothing to analyse. InvalidArgument for a
// graph that cannot be cut so, or a shard that is in no home; else errors as PlanHomes'.
absl::StatusOr<std::optional<HomePlan>> PlanForCut(const Dataset& source,
                                                   const CutRequest& request);

// Makes the directory; `with_vip`: PlanForCut found something to analyse. Every file of the source
// is verified before the assigner begins, and after the analysis.
//
// Errors:  the assigner's, CalibratedScoresOf's, WritePartition's and ReadWhole's. Nothing is left
//          at the output, but where the ranking alone could not be written, which the error says.
// Memory:  EstimatePartition.
absl::StatusOr<PartitionReport> CutGraph(const Dataset& source, const CutRequest& request,
                                         bool with_vip, Assigner* assigner, Progress* progress);

}  // namespace vicinity
