#include "client/cli/flags/changes_size.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/status/status.h"

namespace vicinity::cli {
namespace {

// Nothing of a server that is read-only. The names: docs/metrics.md.
std::optional<ChangesSize> SizeOf(const ServerTarget& target, const proto::StatusReply& reply) {
  ChangesSize size;
  size.server = target.name;
  bool is_live = false;
  for (const proto::MetricStatus& metric : reply.metrics()) {
    const auto bytes = static_cast<int64_t>(metric.value());
    if (metric.name() == "vicinity_server_changes_memory_bytes") {
      size.memory_bytes += bytes;
      is_live = true;
    } else if (metric.name() == "vicinity_server_rocksdb_file_bytes" ||
               metric.name() == "vicinity_server_rocksdb_buffer_bytes") {
      size.disk_bytes += bytes;
    }
  }
  return is_live ? std::optional<ChangesSize>(size) : std::nullopt;
}

}  // namespace

absl::StatusOr<ChangesSize> LargestChanges(
    const std::vector<ServerTarget>& targets,
    const std::vector<absl::StatusOr<proto::StatusReply>>& answers) {
  std::optional<ChangesSize> largest;
  std::vector<absl::Status> outcomes;
  bool any_answered = false;
  for (size_t i = 0; i < targets.size(); ++i) {
    outcomes.push_back(answers[i].status());
    if (!answers[i].ok()) continue;
    any_answered = true;
    const std::optional<ChangesSize> size = SizeOf(targets[i], *answers[i]);
    if (!size.has_value()) continue;
    if (!largest.has_value() || size->larger() > largest->larger()) largest = size;
  }
  if (!any_answered && !targets.empty()) return OutcomeOf(targets, outcomes);
  if (largest.has_value()) return *largest;
  return absl::FailedPreconditionError(
      "the graph is read-only (no `changes` in its cluster file): there is nothing to fold");
}

}  // namespace vicinity::cli
