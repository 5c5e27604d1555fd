#include "partition/fold/kept_edges.h"

#include <cstddef>

#include "proto/common/mutex.h"

namespace vicinity {
namespace {

// Beyond it no ids can be: twice as many as there can be edges in files of 2^48 bytes.
constexpr int64_t kMostIds = int64_t{1} << 48;

// Of some lists.
struct Counted {
  std::vector<int64_t> of_files;  // ids
  std::vector<int64_t> added;     // places
  bool possible = true;
};

class EdgeCounter {
 public:
  EdgeCounter(const FoldSource& source, const KeptNodes& kept, EdgeTypeId type,
              const TakeListSize& sizes)
      : source_(source),
        kept_(kept),
        type_(type),
        source_type_{source.schema().edge_types[type.value].source_type},
        sizes_(sizes) {}

  absl::Status Count(ShardId shard, const ListBatch& batch) {
    Counted counted;
    for (size_t list = 0; list < batch.num_lists(); ++list) {
      const size_t before = counted.of_files.size() + counted.added.size();
      batch.ForEachEdge(list, [&](const ListedEdge& edge) { Add(shard, edge, &counted); });
      if (sizes_ == nullptr) continue;
      const size_t size = counted.of_files.size() + counted.added.size() - before;
      sizes_(shard, batch.row(list), static_cast<int64_t>(size));
    }
    if (!counted.possible) return ImpossibleIds(shard);
    const MutexLock lock(&mu_);
    edges_.ids.AddOfFiles(counted.of_files);
    edges_.ids.AddNew(counted.added);
    edges_.of_files += static_cast<int64_t>(counted.of_files.size());
    edges_.added += static_cast<int64_t>(counted.added.size());
    return absl::OkStatus();
  }
  KeptEdges Take() {
    const MutexLock lock(&mu_);
    edges_.ids.Seal();
    return std::move(edges_);
  }

 private:
  void Add(ShardId shard, const ListedEdge& edge, Counted* counted) const {
    if (kept_.NewId(source_type_, edge.source) < 0) return;
    if (edge.number >= 0) {
      counted->added.push_back(PlaceOfNewEdge(source_, shard, edge.number));
      return;
    }
    counted->of_files.push_back(edge.edge_id);
    counted->possible = counted->possible && edge.edge_id >= 0 && edge.edge_id < kMostIds;
  }
  absl::Status ImpossibleIds(ShardId shard) const {
    return absl::DataLossError(absl::StrCat(
        source_.dataset().directory(), ": edge type ", source_.schema().EdgeTypeName(type_.value),
        ", shard ", shard.value, ": an edge id is no position in an input"));
  }

  const FoldSource& source_;
  const KeptNodes& kept_;
  const EdgeTypeId type_;
  const NodeTypeId source_type_;
  const TakeListSize& sizes_;
  Mutex mu_;
  KeptEdges edges_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::StatusOr<KeptEdges> FindKeptEdges(const FoldSource& source, const KeptNodes& kept,
                                        EdgeTypeId type, const TakeListSize& sizes,
                                        Progress* progress) {
  EdgeCounter counter(source, kept, type, sizes);
  VICINITY_RETURN_IF_ERROR(ForKeptLists(
      source, kept, type, "counting",
      [&](ShardId shard, const ListBatch& batch) { return counter.Count(shard, batch); },
      progress));
  return counter.Take();
}

}  // namespace vicinity
