#include "partition/fold/edge_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/fold/kept_edges.h"
#include "partition/fold/list_batch.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// An edge that is left, and what its list is sorted by.
struct KeptEdge {
  uint64_t source;  // its new id
  uint64_t id;      // likewise
  uint64_t position;
  uint64_t key = 0;  // the source's
  int64_t time = 0;

  friend bool operator<(const KeptEdge& a, const KeptEdge& b) {
    return std::tie(a.time, a.key, a.id) < std::tie(b.time, b.key, b.id);
  }
};

class EdgeCopier {
 public:
  EdgeCopier(const FoldSource& source, const KeptNodes& kept, const WrittenNodes& nodes,
             EdgeTypeId type, DatasetWriter* writer, Progress* progress)
      : source_(source),
        kept_(kept),
        nodes_(nodes),
        type_(type),
        spec_(source.schema().edge_types[type.value]),
        source_type_{spec_.source_type},
        target_type_{spec_.target_type},
        time_column_(spec_.time_order.empty() ? -1 : spec_.FindColumn(spec_.time_order)),
        writer_(writer),
        progress_(progress) {}

  absl::StatusOr<CopiedEdges> Copy() {
    VICINITY_RETURN_IF_ERROR(Count());
    writer_->SetEdgeIdBound(type_, edges_.ids.bound());
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      VICINITY_RETURN_IF_ERROR(MakeArrays({s}));
    }
    VICINITY_RETURN_IF_ERROR(ForKeptLists(
        source_, kept_, type_, "writing",
        [&](ShardId shard, const ListBatch& batch) { return Write(shard, batch); }, progress_));
    return CopiedEdges{edges_.of_files, edges_.added};
  }

 private:
  struct Arrays {
    OutputArray offsets;
    OutputArray sources;
    OutputArray ids;
    std::vector<OutputArray> columns{};
  };

  // How many edges each list has, and which ids there are.
  absl::Status Count() {
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      VICINITY_ASSIGN_OR_RETURN(arrays_.emplace_back().offsets, writer_->Offsets({s}, type_));
    }
    VICINITY_ASSIGN_OR_RETURN(
        edges_, FindKeptEdges(
                    source_, kept_, type_,
                    [&](ShardId shard, uint64_t row, int64_t num_edges) {
                      arrays_[shard.value].offsets.as<uint64_t>()[NewRow(shard, row) + 1] =
                          static_cast<uint64_t>(num_edges);
                    },
                    progress_));
    for (const Arrays& arrays : arrays_) {
      const absl::Span<uint64_t> ends = arrays.offsets.as<uint64_t>();
      ends[0] = 0;
      for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    }
    return absl::OkStatus();
  }

  absl::Status MakeArrays(ShardId shard) {
    Arrays& arrays = arrays_[shard.value];
    const auto num_edges = static_cast<int64_t>(arrays.offsets.as<uint64_t>().back());
    VICINITY_ASSIGN_OR_RETURN(arrays.sources, writer_->Sources(shard, type_, num_edges));
    VICINITY_ASSIGN_OR_RETURN(arrays.ids, writer_->EdgeIds(shard, type_, num_edges));
    for (int c = 0; c < static_cast<int>(spec_.columns.size()); ++c) {
      VICINITY_ASSIGN_OR_RETURN(arrays.columns.emplace_back(),
                                writer_->EdgeColumn(shard, type_, c, num_edges));
    }
    return absl::OkStatus();
  }

  absl::Status Write(ShardId shard, const ListBatch& batch) const {
    const Arrays& arrays = arrays_[shard.value];
    std::vector<KeptEdge> edges;  // list by list
    std::vector<size_t> ends;
    for (size_t list = 0; list < batch.num_lists(); ++list) {
      batch.ForEachEdge(list, [&](const ListedEdge& edge) { AddKept(shard, edge, &edges); });
      ends.push_back(edges.size());
    }
    VICINITY_RETURN_IF_ERROR(ReadTimes(shard, &edges));
    std::vector<int64_t> places(edges.size());
    size_t begin = 0;
    for (size_t list = 0; list < batch.num_lists(); ++list) {
      // Where nothing has changed but that some edges are gone, the order is still right.
      if (batch.has_changed(list) || time_column_ >= 0) {
        Sort(absl::MakeSpan(edges).subspan(begin, ends[list] - begin));
      }
      auto place =
          static_cast<int64_t>(arrays.offsets.as<uint64_t>()[NewRow(shard, batch.row(list))]);
      for (; begin < ends[list]; ++begin, ++place) {
        StoreId(arrays.sources, place, edges[begin].source);
        StoreId(arrays.ids, place, edges[begin].id);
        places[begin] = place;
      }
    }
    return WriteColumns(shard, edges, places);
  }

  void AddKept(ShardId shard, const ListedEdge& edge, std::vector<KeptEdge>* edges) const {
    const int64_t source = kept_.NewId(source_type_, edge.source);
    if (source < 0) return;
    const uint64_t id = edge.number < 0
                            ? edges_.ids.OfFiles(edge.edge_id)
                            : edges_.ids.New(PlaceOfNewEdge(source_, shard, edge.number));
    edges->push_back({static_cast<uint64_t>(source), id, edge.position});
  }

  // Where lists are in the order of a column.
  absl::Status ReadTimes(ShardId shard, std::vector<KeptEdge>* edges) const {
    if (time_column_ < 0) return absl::OkStatus();
    if (const int copied = CopyOf(time_column_); copied >= 0) {
      for (KeptEdge& edge : *edges) {
        const auto source = static_cast<int64_t>(edge.source);
        std::memcpy(&edge.time, nodes_.row(source_type_, copied, source), sizeof(edge.time));
      }
      return absl::OkStatus();
    }
    const ShardReader& reader = source_.reader(shard);
    return reader.ReadRows(
        reader.EdgeColumn(type_, time_column_), PositionsOf(*edges), [] {},
        [&](size_t i, const char* row) {
          std::memcpy(&(*edges)[i].time, row, sizeof(KeptEdge::time));
        });
  }
  static std::vector<uint64_t> PositionsOf(const std::vector<KeptEdge>& edges) {
    std::vector<uint64_t> positions;
    positions.reserve(edges.size());
    for (const KeptEdge& edge : edges) positions.push_back(edge.position);
    return positions;
  }

  void Sort(absl::Span<KeptEdge> list) const {
    for (KeptEdge& edge : list) {
      edge.key = nodes_.key(source_type_, static_cast<int64_t>(edge.source));
    }
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
  }

  absl::Status WriteColumns(ShardId shard, const std::vector<KeptEdge>& edges,
                            const std::vector<int64_t>& places) const {
    const ShardReader& reader = source_.reader(shard);
    const std::vector<uint64_t> positions = PositionsOf(edges);
    for (int c = 0; c < static_cast<int>(spec_.columns.size()); ++c) {
      const OutputArray& to = arrays_[shard.value].columns[c];
      const auto row_bytes = static_cast<size_t>(to.row_bytes);
      if (row_bytes == 0) continue;
      const auto copy = [&](size_t i, const char* row) {
        std::memcpy(to.data + places[i] * to.row_bytes, row, row_bytes);
      };
      if (const int copied = CopyOf(c); copied >= 0) {
        for (size_t i = 0; i < edges.size(); ++i) {
          copy(i, nodes_.row(source_type_, copied, static_cast<int64_t>(edges[i].source)));
        }
        continue;
      }
      VICINITY_RETURN_IF_ERROR(reader.ReadRows(
          reader.EdgeColumn(type_, c), positions, [] {}, copy));
    }
    return absl::OkStatus();
  }

  // The column of the sources that an edge column is a copy of; -1: it is none.
  int CopyOf(int column) const {
    const std::string& named = spec_.columns[column].of_source;
    if (named.empty()) return -1;
    return source_.schema().node_types[spec_.source_type].FindColumn(named);
  }

  int64_t NewRow(ShardId shard, uint64_t row) const {
    return kept_.NewRow(shard, target_type_, static_cast<int64_t>(row));
  }

  const FoldSource& source_;
  const KeptNodes& kept_;
  const WrittenNodes& nodes_;
  const EdgeTypeId type_;
  const EdgeTypeSpec& spec_;
  const NodeTypeId source_type_;
  const NodeTypeId target_type_;
  const int time_column_;  // -1: none
  DatasetWriter* const writer_;
  Progress* const progress_;
  std::vector<Arrays> arrays_;  // by shard
  KeptEdges edges_;             // once they are counted
};

}  // namespace

absl::StatusOr<CopiedEdges> CopyEdges(const FoldSource& source, const KeptNodes& kept,
                                      const WrittenNodes& nodes, EdgeTypeId type,
                                      DatasetWriter* writer, Progress* progress) {
  return EdgeCopier(source, kept, nodes, type, writer, progress).Copy();
}

}  // namespace vicinity
