#include "partition/dataset/shard.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity {

absl::Status RaggedView::CheckRow(int64_t i) const {
  if (offsets.empty()) return absl::OkStatus();
  const uint64_t begin = offsets[i];
  const uint64_t end = offsets[i + 1];
  if (begin <= end && end <= bytes.size()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("row ", i, " is bytes ", begin, " .. ", end, " of ", bytes.size()));
}

absl::Status EdgeTable::CheckList(int64_t row) const {
  if (has_list(row)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("row ", row, " has its edges at ", offsets[row], " .. ",
                                          offsets[row + 1], " of ", sources.size()));
}

Shard::Shard(ShardId id, std::unique_ptr<FaultList> faults,
             std::vector<std::unique_ptr<VerifiedFile>> files, std::vector<NodeTable> nodes,
             std::vector<EdgeTable> edges)
    : id_(id),
      faults_(std::move(faults)),
      files_(std::move(files)),
      nodes_(std::move(nodes)),
      edges_(std::move(edges)) {
  for (const std::unique_ptr<VerifiedFile>& file : files_) mapped_bytes_ += file->size();
}

}  // namespace vicinity
