#include "partition/ingest/edge_spool.h"

#include <utility>

#include "proto/common/status.h"

namespace vicinity {
namespace {

template <typename Id>
std::string_view Flatten(absl::Span<const Edge> edges, std::vector<Id>* pairs) {
  pairs->clear();
  for (const Edge edge : edges) {
    pairs->push_back(static_cast<Id>(edge.source));
    pairs->push_back(static_cast<Id>(edge.target));
  }
  return {reinterpret_cast<const char*>(pairs->data()), pairs->size() * sizeof(Id)};
}

}  // namespace

EdgeList::EdgeList(std::string_view bytes, bool wide)
    : narrow_(wide ? nullptr : reinterpret_cast<const uint32_t*>(bytes.data())),
      wide_(wide ? reinterpret_cast<const uint64_t*>(bytes.data()) : nullptr),
      size_(static_cast<int64_t>(bytes.size() / (wide ? 16 : 8))) {}

absl::StatusOr<std::unique_ptr<EdgeSpool>> EdgeSpool::Create(const std::string& directory,
                                                             int64_t num_nodes) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<SpoolFile> file, SpoolFile::Create(directory));
  const bool wide = num_nodes > int64_t{1} << 32;
  return std::unique_ptr<EdgeSpool>(new EdgeSpool(std::move(file), wide));
}

EdgeSpool::EdgeSpool(std::unique_ptr<SpoolFile> file, bool wide)
    : file_(std::move(file)), wide_(wide) {}

absl::Status EdgeSpool::Append(absl::Span<const Edge> edges) {
  size_ += static_cast<int64_t>(edges.size());
  return file_->Append(wide_ ? Flatten(edges, &wide_pairs_) : Flatten(edges, &narrow_));
}

absl::StatusOr<EdgeList> EdgeSpool::Finish() {
  VICINITY_ASSIGN_OR_RETURN(const std::string_view bytes, file_->Map());
  return EdgeList(bytes, wide_);
}

}  // namespace vicinity
