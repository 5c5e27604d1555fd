// Does work fit this machine? Asked before it begins.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/cut/assigner.h"

namespace vicinity {

// The folder that a new directory `path` will lie in.
std::string ParentOf(const std::string& path);

struct AvailableResources {
  int64_t memory_bytes = -1;  // as AvailableMemory(); -1: unknown, so any need fits
  int64_t disk_bytes = -1;
};
// Memory and the disk under `folder`. NotFound if there is no such folder.
absl::StatusOr<AvailableResources> ResourcesAt(const std::string& folder);

// What is needed and what there is, in a line for people.
std::string NeedText(const WorkEstimate& need, const AvailableResources& available);

// ResourceExhausted naming both if it does not fit.
absl::Status CheckFits(const WorkEstimate& need, const AvailableResources& available);

}  // namespace vicinity
