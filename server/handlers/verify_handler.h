// Handler of Admin.Verify: reads the served files again.
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "proto/admin.pb.h"
#include "server/health/shard_health.h"

namespace vicinity {

// Returns when every file has been read, at most at `bytes_per_second`. `gone` is asked now and
// then; Cancelled soon after it says true.
absl::StatusOr<proto::VerifyReply> VerifyFiles(Dataset* dataset, int64_t bytes_per_second,
                                               ShardHealth* health, spdlog::logger* log,
                                               const std::function<bool()>& gone);

}  // namespace vicinity
