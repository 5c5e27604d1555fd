#include "partition/fold/edge_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/fold/list_batch.h"
#include "partition/fold/new_edge_ids.h"
#include "partition/fold/row_pieces.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "proto/common/mutex.h"
#include "proto/common/parallel.h"
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
    new_ids_.Seal();
    writer_->SetEdgeIdBound(type_, new_ids_.bound());
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      VICINITY_RETURN_IF_ERROR(MakeArrays({s}));
    }
    VICINITY_RETURN_IF_ERROR(
        ForLists("writing", [&](ShardId shard, const ListBatch& batch, bool changed) {
          return Write(shard, batch, changed);
        }));
    return copied_;
  }

 private:
  struct Arrays {
    OutputArray offsets;
    OutputArray sources;
    OutputArray ids;
    std::vector<OutputArray> columns{};
  };

  // Calls work(shard, lists, whether they have changed) with the lists of all nodes that are left.
  template <typename Work>
  absl::Status ForLists(const char* what, const Work& work) const {
    std::vector<RowPiece> pieces;
    int64_t num_rows = 0;
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      AddPieces({s}, type_.value, kept_.num_rows({s}, target_type_), &pieces);
      num_rows += kept_.num_rows({s}, target_type_);
    }
    progress_->Begin(absl::StrCat(what, " edges ", TypeName()), num_rows, "nodes");
    VICINITY_RETURN_IF_ERROR(ForEachInParallel(
        static_cast<int64_t>(pieces.size()), progress_, [&](int64_t i) -> absl::StatusOr<int64_t> {
          const RowPiece& piece = pieces[i];
          const KeptNodes::Rows rows =
              kept_.RowsIn(piece.shard, target_type_, piece.begin, piece.end);
          VICINITY_RETURN_IF_ERROR(ReadLists(source_.reader(piece.shard), type_, target_type_,
                                             rows.rows, [&](const ListBatch& batch, bool changed) {
                                               return work(piece.shard, batch, changed);
                                             }));
          return piece.end - piece.begin;
        }));
    progress_->End();
    return absl::OkStatus();
  }
  std::string TypeName() const { return source_.schema().EdgeTypeName(type_.value); }

  // How many edges each list has, and which ids there are.
  absl::Status Count() {
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      VICINITY_ASSIGN_OR_RETURN(arrays_.emplace_back().offsets, writer_->Offsets({s}, type_));
    }
    VICINITY_RETURN_IF_ERROR(ForLists("counting", [&](ShardId shard, const ListBatch& batch, bool) {
      return CountIn(shard, batch);
    }));
    for (const Arrays& arrays : arrays_) {
      const absl::Span<uint64_t> ends = arrays.offsets.as<uint64_t>();
      ends[0] = 0;
      for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    }
    return absl::OkStatus();
  }
  absl::Status CountIn(ShardId shard, const ListBatch& batch) {
    const absl::Span<uint64_t> ends = arrays_[shard.value].offsets.as<uint64_t>();
    std::vector<int64_t> of_files;
    std::vector<int64_t> added;
    for (size_t list = 0; list < batch.rows.size(); ++list) {
      const size_t before = of_files.size() + added.size();
      for (size_t i = batch.begin(list); i < batch.ends[list]; ++i) {
        if (kept_.NewId(source_type_, batch.sources[i]) < 0) continue;
        const int64_t number = NumberOfNew(shard, batch.positions[i]);
        const auto id = static_cast<int64_t>(batch.edge_ids[i]);
        if (number < 0 && (id < 0 || id >= kMostIds)) return ImpossibleId(shard, id);
        (number < 0 ? of_files : added).push_back(number < 0 ? id : PlaceOfNew(shard, number));
      }
      ends[NewRow(shard, batch.rows[list]) + 1] = of_files.size() + added.size() - before;
    }
    const MutexLock lock(&mu_);
    new_ids_.AddOfFiles(of_files);
    new_ids_.AddNew(added);
    copied_.kept += static_cast<int64_t>(of_files.size());
    copied_.added += static_cast<int64_t>(added.size());
    return absl::OkStatus();
  }
  absl::Status ImpossibleId(ShardId shard, int64_t id) const {
    return absl::DataLossError(absl::StrCat("edge type ", TypeName(), ", shard ", shard.value,
                                            ": edge id ", id, " is no position in an input"));
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

  absl::Status Write(ShardId shard, const ListBatch& batch, bool changed) const {
    const Arrays& arrays = arrays_[shard.value];
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> times, OwnTimes(shard, batch));
    std::vector<KeptEdge> list;
    std::vector<KeptEdge> written;
    std::vector<int64_t> places;
    for (size_t l = 0; l < batch.rows.size(); ++l) {
      list.clear();
      for (size_t i = batch.begin(l); i < batch.ends[l]; ++i) {
        AddKept(shard, batch, i, times.empty() ? 0 : times[i], &list);
      }
      // Where nothing has changed but that some edges are gone, the order is still right.
      if (changed || time_column_ >= 0) Sort(&list);
      auto place =
          static_cast<int64_t>(arrays.offsets.as<uint64_t>()[NewRow(shard, batch.rows[l])]);
      for (const KeptEdge& edge : list) {
        StoreId(arrays.sources, place, edge.source);
        StoreId(arrays.ids, place, edge.id);
        places.push_back(place++);
      }
      written.insert(written.end(), list.begin(), list.end());
    }
    return WriteColumns(shard, written, places);
  }

  void AddKept(ShardId shard, const ListBatch& batch, size_t i, int64_t time,
               std::vector<KeptEdge>* list) const {
    const int64_t source = kept_.NewId(source_type_, batch.sources[i]);
    if (source < 0) return;
    const int64_t number = NumberOfNew(shard, batch.positions[i]);
    const uint64_t id = number < 0 ? new_ids_.OfFiles(static_cast<int64_t>(batch.edge_ids[i]))
                                   : new_ids_.New(PlaceOfNew(shard, number));
    list->push_back({static_cast<uint64_t>(source), id, batch.positions[i], 0, time});
  }

  void Sort(std::vector<KeptEdge>* list) const {
    const int copied = time_column_ < 0 ? -1 : CopyOf(time_column_);
    for (KeptEdge& edge : *list) {
      const auto source = static_cast<int64_t>(edge.source);
      edge.key = nodes_.key(source_type_, source);
      if (copied < 0) continue;
      std::memcpy(&edge.time, nodes_.row(source_type_, copied, source), sizeof(edge.time));
    }
    if (!std::is_sorted(list->begin(), list->end())) std::sort(list->begin(), list->end());
  }

  // Of each edge of the batch; none where lists are not in the order of a column of the edges' own.
  absl::StatusOr<std::vector<int64_t>> OwnTimes(ShardId shard, const ListBatch& batch) const {
    std::vector<int64_t> times;
    if (time_column_ < 0 || CopyOf(time_column_) >= 0) return times;
    times.resize(batch.num_edges());
    const ShardReader& reader = source_.reader(shard);
    VICINITY_RETURN_IF_ERROR(reader.ReadRows(
        reader.EdgeColumn(type_, time_column_), batch.positions, [] {},
        [&](size_t i, const char* row) { std::memcpy(&times[i], row, sizeof(times[i])); }));
    return times;
  }

  absl::Status WriteColumns(ShardId shard, const std::vector<KeptEdge>& edges,
                            const std::vector<int64_t>& places) const {
    const ShardReader& reader = source_.reader(shard);
    std::vector<uint64_t> positions;
    for (const KeptEdge& edge : edges) positions.push_back(edge.position);
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

  // Among the shard's new edges; -1: it is in the files.
  int64_t NumberOfNew(ShardId shard, uint64_t position) const {
    const int64_t in_files = source_.dataset().shard(shard)->edges(type_).num_edges();
    return std::max<int64_t>(static_cast<int64_t>(position) - in_files, -1);
  }
  // ... over all shards, as their ids are dealt.
  int64_t PlaceOfNew(ShardId shard, int64_t number) const {
    return number * source_.num_shards() + shard.value;
  }
  int64_t NewRow(ShardId shard, uint64_t row) const {
    return kept_.NewRow(shard, target_type_, static_cast<int64_t>(row));
  }

  // Beyond it no ids can be: twice as many as there can be edges in files of 2^48 bytes.
  static constexpr int64_t kMostIds = int64_t{1} << 48;

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

  Mutex mu_;            // of what is counted
  NewEdgeIds new_ids_;  // read without it once they are sealed
  CopiedEdges copied_;
};

}  // namespace

absl::StatusOr<CopiedEdges> CopyEdges(const FoldSource& source, const KeptNodes& kept,
                                      const WrittenNodes& nodes, EdgeTypeId type,
                                      DatasetWriter* writer, Progress* progress) {
  return EdgeCopier(source, kept, nodes, type, writer, progress).Copy();
}

}  // namespace vicinity
