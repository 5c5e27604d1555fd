#include "partition/cut/partitioner.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/whole_read.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::vector<std::vector<int64_t>> ShardBegins(const Assignment& assignment) {
  std::vector<std::vector<int64_t>> begins;
  for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
    std::vector<int64_t>& of_type = begins.emplace_back(assignment.num_shards + 1, 0);
    for (const int32_t shard : shard_of) ++of_type[shard + 1];
    std::partial_sum(of_type.begin(), of_type.end(), of_type.begin());
  }
  return begins;
}

absl::Status CheckAssignment(const Dataset& source, const Assignment& assignment) {
  if (!source.whole()) return absl::InvalidArgumentError("the source is not open as a whole");
  const size_t num_types = source.schema().node_types.size();
  if (assignment.num_shards < 1 || assignment.shard_of.size() != num_types) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an assignment of ", assignment.shard_of.size(), " node types to ", assignment.num_shards,
        " shards for a dataset with ", num_types, " node types"));
  }
  for (size_t t = 0; t < num_types; ++t) {
    const std::vector<int32_t>& shard_of = assignment.shard_of[t];
    const int64_t num_nodes = source.book().num_nodes(NodeTypeId{static_cast<int32_t>(t)});
    const std::string& name = source.schema().node_types[t].name;
    if (static_cast<int64_t>(shard_of.size()) != num_nodes) {
      return absl::InvalidArgumentError(absl::StrCat("assignment of ", name, ": ", shard_of.size(),
                                                     " nodes instead of ", num_nodes));
    }
    for (size_t node = 0; node < shard_of.size(); ++node) {
      if (shard_of[node] >= 0 && shard_of[node] < assignment.num_shards) continue;
      return absl::InvalidArgumentError(absl::StrCat("assignment of ", name, " ", node, ": shard ",
                                                     shard_of[node], " of ",
                                                     assignment.num_shards));
    }
  }
  return absl::OkStatus();
}

// The new global id of every node of the source: the order inverted. InvalidArgument if it
// is no order of all nodes, shard by shard.
absl::StatusOr<std::vector<int64_t>> NewIds(const std::vector<int64_t>& order,
                                            const std::vector<int32_t>& shard_of,
                                            const std::vector<int64_t>& begins) {
  if (order.size() != shard_of.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an order of ", order.size(), " nodes for ", shard_of.size()));
  }
  std::vector<int64_t> new_ids(order.size(), -1);
  int32_t shard = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    while (static_cast<int64_t>(i) >= begins[shard + 1]) ++shard;
    const int64_t node = order[i];
    if (node < 0 || node >= static_cast<int64_t>(order.size()) || new_ids[node] >= 0 ||
        shard_of[node] != shard) {
      return absl::InvalidArgumentError(
          absl::StrCat("node ", node, " at position ", i,
                       " of the order: there twice, unknown, or of another shard"));
    }
    new_ids[node] = static_cast<int64_t>(i);
  }
  return new_ids;
}

void CopyRow(const char* from, const OutputArray& to, int64_t to_row) {
  std::memcpy(to.data + to_row * to.row_bytes, from, static_cast<size_t>(to.row_bytes));
}

// Copies one shard after the other from the source's mapped files to the writer's.
class ShardWriter {
 public:
  ShardWriter(const Dataset& source, const NodeOrder& order,
              std::vector<std::vector<int64_t>> new_ids, DatasetWriter* writer, Progress* progress)
      : source_(source),
        order_(order),
        new_ids_(std::move(new_ids)),
        writer_(writer),
        progress_(progress) {}

  absl::Status Write(ShardId shard) {
    const Schema& schema = source_.schema();
    for (int t = 0; t < static_cast<int>(schema.node_types.size()); ++t) {
      VICINITY_RETURN_IF_ERROR(WriteNodes(shard, NodeTypeId{t}));
      if (schema.node_types[t].id_kind == IdKind::kString) {
        VICINITY_RETURN_IF_ERROR(WriteRagged(shard, NodeTypeId{t}, kNamesColumn));
      }
      for (int c = 0; c < static_cast<int>(schema.node_types[t].ragged.size()); ++c) {
        VICINITY_RETURN_IF_ERROR(WriteRagged(shard, NodeTypeId{t}, c));
      }
    }
    for (int e = 0; e < static_cast<int>(schema.edge_types.size()); ++e) {
      VICINITY_RETURN_IF_ERROR(WriteEdges(shard, EdgeTypeId{e}));
    }
    return absl::OkStatus();
  }

 private:
  // Where a node of the source is stored.
  struct Place {
    const Shard* shard;
    int64_t row;
  };
  Place Find(NodeTypeId type, int64_t node) const {
    const Book& book = source_.book();
    return {source_.shard(book.OwnerOf(type, GlobalNode{node})),
            book.RowOf(type, GlobalNode{node}).value};
  }

  // The source's ids of the nodes that the shard gets.
  absl::Span<const int64_t> NodesOf(ShardId shard, NodeTypeId type) const {
    const int64_t first = writer_->book().First(type, shard).value;
    return absl::MakeConstSpan(order_.order[type.value])
        .subspan(first, writer_->book().num_nodes(type, shard));
  }

  absl::Status WriteNodes(ShardId shard, NodeTypeId type) {
    const absl::Span<const int64_t> nodes = NodesOf(shard, type);
    VICINITY_ASSIGN_OR_RETURN(const OutputArray keys, writer_->Keys(shard, type));
    const int num_columns =
        static_cast<int>(source_.schema().node_types[type.value].columns.size());
    std::vector<OutputArray> columns;
    for (int c = 0; c < num_columns; ++c) {
      VICINITY_ASSIGN_OR_RETURN(columns.emplace_back(), writer_->Column(shard, type, c));
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Place place = Find(type, nodes[i]);
      const BaseNodes from(*place.shard, type);
      keys.as<uint64_t>()[i] = from.key(place.row);
      for (int c = 0; c < num_columns; ++c) {
        CopyRow(from.column(c).row(place.row), columns[c], static_cast<int64_t>(i));
      }
    }
    return absl::OkStatus();
  }

  // Of a ragged column, or kNamesColumn.
  absl::Status WriteRagged(ShardId shard, NodeTypeId type, int column) {
    const absl::Span<const int64_t> nodes = NodesOf(shard, type);
    const auto row_of = [&](int64_t node) {
      const Place place = Find(type, node);
      return BaseNodes(*place.shard, type).ragged(column, place.row);
    };
    VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets,
                              writer_->RaggedOffsets(shard, type, column));
    uint64_t end = 0;
    offsets.as<uint64_t>()[0] = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      end += row_of(nodes[i]).size();
      offsets.as<uint64_t>()[i + 1] = end;
    }
    VICINITY_ASSIGN_OR_RETURN(const OutputArray bytes,
                              writer_->RaggedBytes(shard, type, column, static_cast<int64_t>(end)));
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto row = row_of(nodes[i]);
      std::copy(row.begin(), row.end(), bytes.data + offsets.as<uint64_t>()[i]);
    }
    return absl::OkStatus();
  }

  struct EdgeArrays {
    OutputArray sources;
    OutputArray edge_ids;
    std::vector<OutputArray> columns;
  };

  absl::StatusOr<EdgeArrays> MakeEdgeArrays(ShardId shard, EdgeTypeId edge_type,
                                            int64_t num_edges) {
    EdgeArrays arrays;
    VICINITY_ASSIGN_OR_RETURN(arrays.sources, writer_->Sources(shard, edge_type, num_edges));
    VICINITY_ASSIGN_OR_RETURN(arrays.edge_ids, writer_->EdgeIds(shard, edge_type, num_edges));
    const size_t num_columns = source_.schema().edge_types[edge_type.value].columns.size();
    for (int c = 0; c < static_cast<int>(num_columns); ++c) {
      VICINITY_ASSIGN_OR_RETURN(arrays.columns.emplace_back(),
                                writer_->EdgeColumn(shard, edge_type, c, num_edges));
    }
    return arrays;
  }

  // Lists keep their order, which is by key and so the same for every cut; only ids change.
  absl::Status WriteEdges(ShardId shard, EdgeTypeId edge_type) {
    const EdgeTypeSpec& spec = source_.schema().edge_types[edge_type.value];
    const NodeTypeId target_type{spec.target_type};
    const absl::Span<const int64_t> targets = NodesOf(shard, target_type);
    VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets, writer_->Offsets(shard, edge_type));
    uint64_t end = 0;
    offsets.as<uint64_t>()[0] = 0;
    for (size_t i = 0; i < targets.size(); ++i) {
      const Place place = Find(target_type, targets[i]);
      end += static_cast<uint64_t>(BaseLists(*place.shard, edge_type).degree(place.row));
      offsets.as<uint64_t>()[i + 1] = end;
    }
    VICINITY_ASSIGN_OR_RETURN(const EdgeArrays arrays,
                              MakeEdgeArrays(shard, edge_type, static_cast<int64_t>(end)));
    const std::vector<int64_t>& new_ids = new_ids_[spec.source_type];
    for (size_t i = 0; i < targets.size(); ++i) {
      const Place place = Find(target_type, targets[i]);
      const BaseLists edges(*place.shard, edge_type);
      CopyList(edges, edges.begin(place.row), edges.degree(place.row), new_ids, arrays,
               static_cast<int64_t>(offsets.as<uint64_t>()[i]));
    }
    return absl::OkStatus();
  }

  void CopyList(const BaseLists& edges, int64_t from, int64_t degree,
                const std::vector<int64_t>& new_ids, const EdgeArrays& arrays, int64_t to) {
    for (int64_t i = 0; i < degree; ++i) {
      const int64_t source = new_ids[edges.source(from + i)];
      StoreId(arrays.sources, to + i, static_cast<uint64_t>(source));
      StoreId(arrays.edge_ids, to + i, static_cast<uint64_t>(edges.edge_id(from + i)));
      for (size_t c = 0; c < arrays.columns.size(); ++c) {
        CopyRow(edges.column(static_cast<int32_t>(c)).row(from + i), arrays.columns[c], to + i);
      }
    }
    edges_done_ += degree;
    progress_->Update(edges_done_);
  }

  const Dataset& source_;
  const NodeOrder& order_;
  const std::vector<std::vector<int64_t>> new_ids_;  // by type and the source's global id
  DatasetWriter* const writer_;
  Progress* const progress_;
  int64_t edges_done_ = 0;
};

// Edge ids stay as narrow as the source has them.
void BoundEdgeIds(const Dataset& source, DatasetWriter* writer) {
  for (int e = 0; e < static_cast<int>(source.schema().edge_types.size()); ++e) {
    bool narrow = true;
    for (const std::unique_ptr<Shard>& shard : source.shards()) {
      narrow = narrow && BaseLists(*shard, EdgeTypeId{e}).has_narrow_edge_ids();
    }
    if (narrow) writer->SetEdgeIdBound(EdgeTypeId{e}, uint64_t{1} << 32);
  }
}

}  // namespace

NodeOrder OrderNodes(const Assignment& assignment, const std::vector<std::vector<float>>& scores) {
  NodeOrder result;
  const std::vector<std::vector<int64_t>> begins = ShardBegins(assignment);
  for (size_t t = 0; t < assignment.shard_of.size(); ++t) {
    const std::vector<int32_t>& shard_of = assignment.shard_of[t];
    std::vector<int64_t>& order = result.order.emplace_back(shard_of.size());
    std::vector<int64_t> cursor = begins[t];
    for (size_t node = 0; node < shard_of.size(); ++node) {
      order[cursor[shard_of[node]]++] = static_cast<int64_t>(node);
    }
    if (scores.empty() || scores[t].empty()) continue;
    const std::vector<float>& of_type = scores[t];
    for (int32_t shard = 0; shard < assignment.num_shards; ++shard) {
      std::stable_sort(order.begin() + begins[t][shard], order.begin() + begins[t][shard + 1],
                       [&of_type](int64_t a, int64_t b) { return of_type[a] > of_type[b]; });
    }
  }
  return result;
}

absl::Status WritePartition(const Dataset& source, const Assignment& assignment,
                            const NodeOrder& order, const std::string& directory,
                            const std::string& provenance, Progress* progress) {
  VICINITY_RETURN_IF_ERROR(CheckAssignment(source, assignment));
  if (order.order.size() != assignment.shard_of.size()) {
    return absl::InvalidArgumentError(absl::StrCat("an order of ", order.order.size(),
                                                   " node types for ", assignment.shard_of.size()));
  }
  std::vector<std::vector<int64_t>> begins = ShardBegins(assignment);
  std::vector<std::vector<int64_t>> new_ids;
  for (size_t t = 0; t < begins.size(); ++t) {
    VICINITY_ASSIGN_OR_RETURN(new_ids.emplace_back(),
                              NewIds(order.order[t], assignment.shard_of[t], begins[t]));
  }
  VICINITY_ASSIGN_OR_RETURN(Book book, Book::Create(std::move(begins)));
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<DatasetWriter> writer,
      DatasetWriter::Create(directory, source.manifest().name(), source.schema(), std::move(book)));
  BoundEdgeIds(source, writer.get());

  ShardWriter shards(source, order, std::move(new_ids), writer.get(), progress);
  VICINITY_RETURN_IF_ERROR(ReadWhole(AllFiles(source), progress, [&]() -> absl::Status {
    progress->Begin("writing shards", NumEdges(source), "edges");
    for (int32_t shard = 0; shard < assignment.num_shards; ++shard) {
      VICINITY_RETURN_IF_ERROR(shards.Write(ShardId{shard}));
    }
    progress->End();
    return absl::OkStatus();
  }));
  return writer->Finish(&source.manifest().audit(), provenance);
}

}  // namespace vicinity
