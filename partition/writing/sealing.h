// How a dataset that has been written becomes one that can be believed: every file is sealed and on
// disk, then all content is read once more.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// Seals the files of every shard, which `files` has in `folder`; lists them in the manifest, closes
// them, and waits until the disk has the shards' folders too.
//
// Threads: uses all cores.
absl::Status SealFiles(const Schema& schema, int32_t num_shards, const std::string& folder,
                       OutputFiles* files, proto::Manifest* manifest);

// Audits what lies in `folder`, whose manifest has all but the audit, as its readers will see it,
// and adds the audit to the manifest. Writes the manifest, still without it, to the folder.
absl::Status AuditWritten(const std::string& folder, proto::Manifest* manifest);

}  // namespace vicinity
