// What `vicinity partition` tells about a cut.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "client/planning/expected_remote.h"
#include "partition/cut/cut_report.h"
#include "proto/manifest.pb.h"

namespace vicinity::cli {

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

void PrintPartitionReport(const PartitionReport& report, std::ostream& out);
nlohmann::ordered_json PartitionReportJson(const PartitionReport& report);

}  // namespace vicinity::cli
