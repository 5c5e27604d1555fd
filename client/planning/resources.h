// Does work fit this machine? Asked before it begins.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/cut/assigner.h"

namespace vicinity::cli {

// The folder that a new directory `path` will lie in.
std::string ParentOf(const std::string& path);

struct Available {
  int64_t memory_bytes = -1;  // as AvailableMemory(); -1: unknown, so any need fits
  int64_t disk_bytes = -1;
};
// Memory and the disk under `folder`. NotFound if there is no such folder.
absl::StatusOr<Available> LookAround(const std::string& folder);

// Prints what is needed and what there is; ResourceExhausted naming both if it does not fit.
absl::Status CheckFits(const WorkEstimate& need, const Available& available,
                       std::ostream& narration);

}  // namespace vicinity::cli
