#include "partition/fold/consistent_cut.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/overlay/live_values.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

class Cutter {
 public:
  Cutter(const Dataset& dataset, absl::Span<const std::shared_ptr<LiveShard>> shards,
         std::vector<uint64_t> versions)
      : schema_(dataset.schema()),
        book_(dataset.book()),
        shards_(shards),
        versions_(std::move(versions)),
        looked_at_(shards.size(), std::vector<int64_t>(schema_.edge_types.size())),
        needed_(shards.size(), std::vector<int64_t>(schema_.node_types.size())) {}

  absl::StatusOr<std::vector<uint64_t>> Cut() {
    for (bool raised = true; raised;) {
      for (size_t s = 0; s < shards_.size(); ++s) VICINITY_RETURN_IF_ERROR(Look(s));
      raised = false;
      for (size_t s = 0; s < shards_.size(); ++s) raised |= Raise(s);
    }
    return std::move(versions_);
  }

 private:
  static constexpr int64_t kAtOnce = int64_t{1} << 16;

  // Notes the sources of a shard's edges that were not looked at yet.
  absl::Status Look(size_t shard) {
    VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<const LiveView> view,
                              shards_[shard]->At(versions_[shard]));
    for (size_t e = 0; e < schema_.edge_types.size(); ++e) {
      const NodeTypeId source_type{schema_.edge_types[e].source_type};
      int64_t& first = looked_at_[shard][e];
      for (std::vector<uint64_t> sources;; first += static_cast<int64_t>(sources.size())) {
        sources = view->SourcesOfNewEdges(static_cast<int32_t>(e), first, kAtOnce);
        if (sources.empty()) break;
        for (const uint64_t source : sources) Note(source_type, source);
      }
    }
    return absl::OkStatus();
  }
  void Note(NodeTypeId type, uint64_t source) {
    if (source < static_cast<uint64_t>(book_.num_nodes(type))) return;
    const Book::Place place = book_.PlaceOf(type, {static_cast<int64_t>(source)});
    int64_t& rows = needed_[place.shard.value][type.value];
    // One that the shard has at no version must not hide another that it has later than now.
    if (place.row.value < RowsAtLast(place.shard, type)) rows = std::max(rows, place.row.value + 1);
  }
  int64_t RowsAtLast(ShardId shard, NodeTypeId type) {
    if (at_last_.empty()) {
      for (const auto& each : shards_) at_last_.push_back(each->SizesAt(each->version()));
    }
    return at_last_[shard.value].num_nodes[type.value];
  }

  bool HasAll(size_t shard, uint64_t version) const {
    const ShardVersion sizes = shards_[shard]->SizesAt(version);
    for (size_t t = 0; t < sizes.num_nodes.size(); ++t) {
      if (sizes.num_nodes[t] < needed_[shard][t]) return false;
    }
    return true;
  }
  // To the first version that has all that is needed of it.
  bool Raise(size_t shard) {
    if (HasAll(shard, versions_[shard])) return false;
    uint64_t lacks = versions_[shard];
    uint64_t has = at_last_[shard].version;
    while (has - lacks > 1) {
      const uint64_t middle = lacks + (has - lacks) / 2;
      (HasAll(shard, middle) ? has : lacks) = middle;
    }
    versions_[shard] = has;
    return true;
  }

  const Schema& schema_;
  const Book& book_;
  const absl::Span<const std::shared_ptr<LiveShard>> shards_;
  std::vector<uint64_t> versions_;
  std::vector<std::vector<int64_t>> looked_at_;  // by shard and edge type: of its new edges
  std::vector<std::vector<int64_t>> needed_;     // by shard and node type: rows
  std::vector<ShardVersion> at_last_;            // the shards' last versions
};

}  // namespace

absl::StatusOr<std::vector<uint64_t>> ConsistentCut(
    const Dataset& dataset, absl::Span<const std::shared_ptr<LiveShard>> shards,
    std::vector<uint64_t> versions) {
  return Cutter(dataset, shards, std::move(versions)).Cut();
}

}  // namespace vicinity
