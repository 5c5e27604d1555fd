#include "client/planning/available_resources.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/common/human_text.h"
#include "proto/common/machine.h"

namespace vicinity {
namespace {

std::string Text(int64_t bytes) { return bytes < 0 ? "an unknown amount" : HumanBytes(bytes); }

}  // namespace

std::string ParentOf(const std::string& path) {
  std::filesystem::path clean(path);
  if (!clean.has_filename()) clean = clean.parent_path();  // "dir/"
  const std::filesystem::path parent = clean.parent_path();
  return parent.empty() ? "." : parent.string();
}

absl::StatusOr<AvailableResources> ResourcesAt(const std::string& folder) {
  AvailableResources available;
  available.memory_bytes = AvailableMemory();
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  available.disk_bytes = static_cast<int64_t>(space.available);
  return available;
}

std::string NeedText(const WorkEstimate& need, const AvailableResources& available) {
  return absl::StrCat("needs about ", HumanBytes(need.memory_bytes), " of memory (there are ",
                      Text(available.memory_bytes), ") and ", HumanBytes(need.disk_bytes),
                      " of disk (", Text(available.disk_bytes), ")");
}

absl::Status CheckFits(const WorkEstimate& need, const AvailableResources& available) {
  if (available.memory_bytes >= 0 && need.memory_bytes > available.memory_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("needs about ", HumanBytes(need.memory_bytes), " of memory, there are ",
                     HumanBytes(available.memory_bytes), " (--memory sets another budget)"));
  }
  if (available.disk_bytes >= 0 && need.disk_bytes > available.disk_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("needs about ", HumanBytes(need.disk_bytes),
                                                     " of disk, there are ",
                                                     HumanBytes(available.disk_bytes)));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
