#include "client/rpc/walk_reader.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/rpc/wire_array.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/walk_spec.h"

namespace vicinity {
namespace {

absl::Status Wrong(const char* what, int64_t got, int64_t expected) {
  return absl::InternalError(absl::StrCat(got, " ", what, " where there should be ", expected));
}

}  // namespace

WalkReader::WalkReader(const ShardWalks& walks, const Schema& schema, const Book& book,
                       TrafficCounters* traffic)
    : walks_(walks), schema_(schema), book_(book), traffic_(traffic) {}

absl::Status WalkReader::Add(const proto::WalkChunk& chunk, const SlicedMessage& arrays) {
  if (chunk.first() != answered_) {
    return absl::InternalError(
        absl::StrCat("walks from ", chunk.first(), " on where ", answered_, " comes next"));
  }
  const size_t bytes = arrays[proto::WalkChunk::kCountsFieldNumber].size();
  const auto count = static_cast<int64_t>(bytes / sizeof(uint32_t));
  const int64_t left = walks_.num_elements() - answered_;
  if (bytes % sizeof(uint32_t) != 0 || count == 0 || count > left) {
    return Wrong("bytes of counts", static_cast<int64_t>(bytes),
                 left * static_cast<int64_t>(sizeof(uint32_t)));
  }
  const ShardWalks walks = walks_.Part(answered_, answered_ + count);
  WalkedSteps made;
  VICINITY_RETURN_IF_ERROR(ReadSteps(walks, arrays, &made));
  VICINITY_RETURN_IF_ERROR(CheckNodes(walks, made));
  walks.Place(made);
  answered_ += count;
  traffic_->sampled_edges_remote.Add(static_cast<int64_t>(made.nodes.size()));
  traffic_->CountReceived(arrays.BulkBytes());
  return absl::OkStatus();
}

absl::Status WalkReader::Finish() const {
  if (answered_ == walks_.num_elements()) return absl::OkStatus();
  return Wrong("walks", answered_, walks_.num_elements());
}

absl::Status WalkReader::ReadSteps(const ShardWalks& walks, const SlicedMessage& arrays,
                                   WalkedSteps* made) {
  const SlicedBytes& nodes = arrays[proto::WalkChunk::kNodesFieldNumber];
  const SlicedBytes& edge_ids = arrays[proto::WalkChunk::kEdgeIdsFieldNumber];
  AppendArray(arrays[proto::WalkChunk::kCountsFieldNumber], &made->counts);
  size_t total = 0;
  for (size_t i = 0; i < made->counts.size(); ++i) {
    const int64_t most = walks.spec->length - walks.steps[i];
    if (made->counts[i] > most) return Wrong("steps", made->counts[i], most);
    total += made->counts[i];
  }
  const size_t bytes = total * sizeof(int64_t);
  const size_t bytes_of_edges = walks.edge_ids == nullptr ? 0 : bytes;
  if (nodes.size() != bytes) return Wrong("bytes of nodes", nodes.size(), bytes);
  if (edge_ids.size() != bytes_of_edges) {
    return Wrong("bytes of edge ids", edge_ids.size(), bytes_of_edges);
  }
  AppendArray(nodes, &made->nodes);
  AppendArray(edge_ids, &made->edge_ids);
  return absl::OkStatus();
}

absl::Status WalkReader::CheckNodes(const ShardWalks& walks, const WalkedSteps& made) const {
  size_t at = 0;
  for (size_t i = 0; i < made.counts.size(); ++i) {
    for (int64_t step = walks.steps[i] + 1; step <= walks.steps[i] + made.counts[i]; ++step) {
      const NodeTypeId type{NodeTypeOfWalk(schema_, *walks.spec, step)};
      const int64_t node = made.nodes[at++];
      if (book_.Contains(type, GlobalNode{node})) continue;
      return absl::InternalError(
          absl::StrCat("a walk to node ", node, " where there are ", book_.id_limit(type)));
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity
