#include "partition/writing/sealing.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard_files.h"
#include "partition/writing/audit.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {

absl::Status SealFiles(const Schema& schema, int32_t num_shards, const std::string& folder,
                       OutputFiles* files, proto::Manifest* manifest) {
  std::vector<proto::FileEntry*> entries;
  for (int32_t s = 0; s < num_shards; ++s) {
    proto::ShardEntry* shard = manifest->add_shards();
    for (const std::string& path : ShardPaths(schema, {s})) {
      entries.push_back(shard->add_files());
      entries.back()->set_path(path);
    }
  }
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(entries.size(), NoProgress(), [&](int64_t i) -> absl::StatusOr<int64_t> {
        VICINITY_RETURN_IF_ERROR(files->Seal(entries[i]->path(), entries[i]));
        return 1;
      }));
  files->Close();
  for (int32_t s = 0; s < num_shards; ++s) {
    VICINITY_RETURN_IF_ERROR(SyncDirectory(absl::StrCat(folder, "/", ShardFolder({s}))));
  }
  return absl::OkStatus();
}

absl::Status AuditWritten(const std::string& folder, proto::Manifest* manifest) {
  // The folder is a dataset already, but for the audit; so it is read as its readers will.
  VICINITY_RETURN_IF_ERROR(WriteManifest(folder, *manifest));
  Dataset::Options options;
  options.check_bytes = 0;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> written, Dataset::Open(folder, options));
  VICINITY_ASSIGN_OR_RETURN(*manifest->mutable_audit(), ComputeAudit(*written, NoProgress()));
  return absl::OkStatus();
}

}  // namespace vicinity
