#include "client/backup/live_fold.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/backup/copied_shards.h"
#include "client/backup/live_backup.h"
#include "client/shards/call_context.h"
#include "client/shards/pinned_shards.h"
#include "partition/fold/consistent_cut.h"
#include "partition/fold/fold_source.h"
#include "partition/overlay/live_values.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::vector<uint64_t> NumbersOf(const std::vector<ShardVersion>& versions) {
  std::vector<uint64_t> numbers;
  for (const ShardVersion& version : versions) numbers.push_back(version.version);
  return numbers;
}

}  // namespace

absl::StatusOr<FoldReport> FoldLive(const ShardRouter& router, uint64_t fingerprint,
                                    const Dataset& dataset, const LiveFoldOptions& options,
                                    Progress* progress) {
  VICINITY_RETURN_IF_ERROR(CheckIsOfServers(fingerprint, dataset));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ShardVersion> now,
                            ReadVersions(router, StartOperation()));
  // Asked when those have been answered: all that their edges may name was committed by then.
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ShardVersion> then,
                            ReadVersions(router, StartOperation()));
  const std::string changes = absl::StrCat(options.directory, ".changes");
  if (!options.backup.empty()) {
    VICINITY_RETURN_IF_ERROR(RestoreChanges(options.backup, dataset, changes, progress).status());
  }
  absl::StatusOr<FoldReport> report;
  {
    VICINITY_ASSIGN_OR_RETURN(const CopiedShards copied,
                              CopyShards(router, dataset, NumbersOf(then), changes, progress));
    VICINITY_ASSIGN_OR_RETURN(const std::vector<uint64_t> cut,
                              ConsistentCut(dataset, copied.shards, NumbersOf(now)));
    VICINITY_ASSIGN_OR_RETURN(const FoldSource source, FoldSource::At(dataset, copied.shards, cut));
    report = WriteFolded(source, options.directory, progress);
  }
  if (report.ok() && !options.keep_changes) {
    std::error_code left;  // it is only in the way
    std::filesystem::remove_all(changes, left);
  }
  return report;
}

}  // namespace vicinity
