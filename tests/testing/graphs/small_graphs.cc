#include "tests/testing/graphs/small_graphs.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/schema_proto.h"
#include "partition/dataset/shard.h"
#include "partition/schema/reverse_type.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"

namespace vicinity::testing {
namespace {

using Random = std::mt19937_64;

// Not std::uniform_int_distribution, whose values a library may change.
int64_t Below(Random* random, int64_t bound) {
  return static_cast<int64_t>((*random)() % static_cast<uint64_t>(bound));
}

template <typename T>
void Append(std::string* bytes, T value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string RandomFloats(Random* random, int64_t count) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    Append(&bytes, static_cast<float>(Below(random, 2'000'001) - 1'000'000) / 1e6f);
  }
  return bytes;
}

std::string RandomBytes(Random* random, int64_t count) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes += static_cast<char>(Below(random, 256));
  return bytes;
}

std::string RandomLabels(Random* random, int64_t count, int32_t num_classes) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = Below(random, 10) == 0 ? -1 : Below(random, num_classes);
    Append(&bytes, static_cast<int32_t>(label));
  }
  return bytes;
}

std::string RandomSplits(Random* random, int64_t count) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes += static_cast<char>(Below(random, 4));
  return bytes;
}

std::string RandomWeights(Random* random, int64_t count) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t weight = Below(random, 1000);
    Append(&bytes, weight < 100 ? 0.0f : static_cast<float>(weight));
  }
  return bytes;
}

std::string RandomTimes(Random* random, int64_t count) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t time = Below(random, 22);
    Append(&bytes, time == 21   ? std::numeric_limits<int64_t>::max()
                   : time == 20 ? std::numeric_limits<int64_t>::min()
                                : time % 11 - 5);
  }
  return bytes;
}

void AddColumn(NodeTypeSpec* spec, MemoryNodes* nodes, ColumnSpec column, std::string bytes) {
  spec->columns.push_back(std::move(column));
  nodes->columns.push_back(std::move(bytes));
}

// Lists of up to 6 values, a third of them empty.
std::vector<std::string> RandomLists(Random* random, int64_t count, int64_t value_bytes) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(RandomBytes(random, std::max<int64_t>(Below(random, 10) - 3, 0) * value_bytes));
  }
  return rows;
}

// Rows of a sparse matrix of float32.
std::vector<std::string> RandomSparse(Random* random, int64_t count, int64_t num_columns) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < count; ++i) {
    std::string& row = rows.emplace_back();
    int64_t num_values = 0;
    for (int64_t c = Below(random, num_columns); c < num_columns;
         c += 1 + Below(random, num_columns)) {
      Append(&row, static_cast<int32_t>(c));
      ++num_values;
    }
    row += RandomFloats(random, num_values);
  }
  return rows;
}

void AddRagged(NodeTypeSpec* spec, MemoryNodes* nodes, RaggedSpec column,
               std::vector<std::string> rows) {
  spec->ragged.push_back(std::move(column));
  nodes->ragged.push_back(std::move(rows));
}

// Keys (and names) for a type's nodes. They never come in rising order but for dense ids.
void FillIds(NodeTypeSpec* spec, int64_t count, uint64_t seed, MemoryNodes* nodes) {
  spec->key_salt = spec->id_kind == IdKind::kString ? seed : 0;
  for (int64_t i = 0; i < count; ++i) {
    switch (spec->id_kind) {
      case IdKind::kDense:
        nodes->keys.push_back(static_cast<uint64_t>(i));
        break;
      case IdKind::kInt64:  // odd multiples are distinct; about half are negative
        nodes->keys.push_back(static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15);
        break;
      case IdKind::kString:
        nodes->names.push_back(
            absl::StrCat(spec->name, "/", i * 7 % 1000, std::string(i % 5, '+'), ".", i));
        nodes->keys.push_back(Checksum(nodes->names.back(), spec->key_salt));
        break;
    }
  }
}

void FillEnds(Random* random, int64_t num_sources, int64_t num_targets, int64_t num_edges,
              MemoryEdges* edges) {
  for (int64_t i = 0; i < num_edges; ++i) {
    edges->sources.push_back(Below(random, num_sources));
    edges->targets.push_back(Below(random, num_targets));
  }
}

// Copies rows in the order of global ids [first, first + n) of `order`.
void PlaceRows(const std::string& rows, const std::vector<int64_t>& order, int64_t first,
               const OutputArray& out) {
  for (int64_t i = 0; i < out.num_rows; ++i) {
    std::memcpy(out.data + i * out.row_bytes, rows.data() + order[first + i] * out.row_bytes,
                out.row_bytes);
  }
}

// Of a ragged column, or kNamesColumn.
absl::Status WriteRagged(const MemoryGraph& graph, const std::vector<int64_t>& order, ShardId shard,
                         NodeTypeId type, int column, DatasetWriter* writer) {
  const int64_t first = writer->book().First(type, shard).value;
  std::string bytes;
  VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets, writer->RaggedOffsets(shard, type, column));
  for (int64_t i = 0; i + 1 < offsets.num_rows; ++i) {
    bytes += graph.ragged_row(type, column, order[first + i]);
    offsets.as<uint64_t>()[i + 1] = bytes.size();
  }
  VICINITY_ASSIGN_OR_RETURN(const OutputArray rows,
                            writer->RaggedBytes(shard, type, column, bytes.size()));
  std::copy(bytes.begin(), bytes.end(), rows.data);
  return absl::OkStatus();
}

absl::Status WriteNodes(const MemoryGraph& graph, const Placement& placement, ShardId shard,
                        NodeTypeId type, DatasetWriter* writer) {
  const MemoryNodes& nodes = graph.nodes[type.value];
  const std::vector<int64_t>& order = placement.order[type.value];
  const int64_t first = placement.book.First(type, shard).value;
  VICINITY_ASSIGN_OR_RETURN(const OutputArray keys, writer->Keys(shard, type));
  for (int64_t i = 0; i < keys.num_rows; ++i) {
    keys.as<uint64_t>()[i] = nodes.keys[order[first + i]];
  }
  if (graph.schema.node_types[type.value].id_kind == IdKind::kString) {
    VICINITY_RETURN_IF_ERROR(WriteRagged(graph, order, shard, type, kNamesColumn, writer));
  }
  for (int c = 0; c < static_cast<int>(nodes.ragged.size()); ++c) {
    VICINITY_RETURN_IF_ERROR(WriteRagged(graph, order, shard, type, c, writer));
  }
  for (int c = 0; c < static_cast<int>(nodes.columns.size()); ++c) {
    VICINITY_ASSIGN_OR_RETURN(const OutputArray column, writer->Column(shard, type, c));
    PlaceRows(nodes.columns[c], order, first, column);
  }
  return absl::OkStatus();
}

absl::Status WriteEdges(const MemoryGraph& graph, const Placement& placement, ShardId shard,
                        EdgeTypeId type, DatasetWriter* writer) {
  const EdgeTypeSpec& spec = graph.schema.edge_types[type.value];
  const NodeTypeId target_type = {spec.target_type};
  const int64_t first = placement.book.First(target_type, shard).value;
  std::vector<int64_t> global_ids(graph.num_nodes({spec.source_type}));
  for (size_t g = 0; g < global_ids.size(); ++g) {
    global_ids[placement.order[spec.source_type][g]] = static_cast<int64_t>(g);
  }
  VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets, writer->Offsets(shard, type));
  const std::vector<std::vector<InEdge>> lists = graph.InEdgesOfAll(type);
  std::vector<InEdge> all;
  for (int64_t i = 0; i + 1 < offsets.num_rows; ++i) {
    const std::vector<InEdge>& list = lists[placement.PositionOf(target_type, {first + i})];
    all.insert(all.end(), list.begin(), list.end());
    offsets.as<uint64_t>()[i + 1] = all.size();
  }
  const int64_t num_edges = static_cast<int64_t>(all.size());
  VICINITY_ASSIGN_OR_RETURN(const OutputArray sources, writer->Sources(shard, type, num_edges));
  VICINITY_ASSIGN_OR_RETURN(const OutputArray edge_ids, writer->EdgeIds(shard, type, num_edges));
  std::vector<int64_t> order;  // of edge rows
  for (int64_t i = 0; i < num_edges; ++i) {
    StoreId(sources, i, static_cast<uint64_t>(global_ids[all[i].source]));
    StoreId(edge_ids, i, static_cast<uint64_t>(all[i].edge_id));
    order.push_back(all[i].edge_id);
  }
  for (int c = 0; c < static_cast<int>(spec.columns.size()); ++c) {
    VICINITY_ASSIGN_OR_RETURN(const OutputArray column,
                              writer->EdgeColumn(shard, type, c, num_edges));
    PlaceRows(graph.edges[type.value].columns[c], order, 0, column);
  }
  return absl::OkStatus();
}

// Compares one dataset with one graph, remembering where each key is.
class Comparison {
 public:
  Comparison(const MemoryGraph& graph, const Dataset& dataset) : graph_(graph), dataset_(dataset) {
    for (const MemoryNodes& nodes : graph.nodes) {
      positions_.emplace_back();
      for (size_t i = 0; i < nodes.keys.size(); ++i) positions_.back()[nodes.keys[i]] = i;
    }
  }

  std::string Find() const {
    if (SchemaToProto(graph_.schema).SerializeAsString() !=
        SchemaToProto(dataset_.schema()).SerializeAsString()) {
      return "schemas";
    }
    for (int32_t t = 0; t < static_cast<int32_t>(graph_.nodes.size()); ++t) {
      if (dataset_.book().num_nodes(NodeTypeId{t}) != graph_.num_nodes({t})) {
        return absl::StrCat("number of nodes of type ", t);
      }
      for (const std::unique_ptr<Shard>& shard : dataset_.shards()) {
        const std::string problem = InNodes(*shard, {t});
        if (!problem.empty()) return problem;
      }
    }
    for (int32_t e = 0; e < static_cast<int32_t>(graph_.edges.size()); ++e) {
      for (const std::unique_ptr<Shard>& shard : dataset_.shards()) {
        const std::string problem = InLists(*shard, {e});
        if (!problem.empty()) return problem;
      }
    }
    return "";
  }

 private:
  // -1: the graph has no such key.
  int64_t PositionOf(NodeTypeId type, uint64_t key) const {
    const auto at = positions_[type.value].find(key);
    return at == positions_[type.value].end() ? -1 : at->second;
  }

  std::string InNodes(const Shard& shard, NodeTypeId type) const {
    const NodeTable& table = shard.nodes(type);
    const MemoryNodes& nodes = graph_.nodes[type.value];
    for (int64_t row = 0; row < table.num_nodes(); ++row) {
      const std::string where =
          absl::StrCat("shard ", shard.id().value, " node type ", type.value, " row ", row);
      const int64_t position = PositionOf(type, table.keys[row]);
      if (position < 0) return absl::StrCat(where, ": unknown key ", table.keys[row]);
      if (!nodes.names.empty() && table.names.row(row) != nodes.names[position]) {
        return absl::StrCat(where, ": name");
      }
      for (size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].row(row) != graph_.row(type, static_cast<int>(c), position)) {
          return absl::StrCat(where, ": column ", c);
        }
      }
      for (size_t c = 0; c < table.ragged.size(); ++c) {
        if (table.ragged[c].row(row) != graph_.ragged_row(type, static_cast<int>(c), position)) {
          return absl::StrCat(where, ": ragged column ", c);
        }
      }
    }
    return "";
  }

  std::string InLists(const Shard& shard, EdgeTypeId type) const {
    const NodeTypeId target_type = {graph_.schema.edge_types[type.value].target_type};
    const EdgeTable& table = shard.edges(type);
    const std::vector<std::vector<InEdge>> lists = graph_.InEdgesOfAll(type);
    for (int64_t row = 0; row < table.num_targets(); ++row) {
      const int64_t target = PositionOf(target_type, shard.nodes(target_type).keys[row]);
      const std::vector<InEdge> expected = graph_.InEdges(type, target);
      const std::string where =
          absl::StrCat("shard ", shard.id().value, " edge type ", type.value, " row ", row);
      if (table.degree(row) != static_cast<int64_t>(expected.size())) {
        return absl::StrCat(where, ": degree ", table.degree(row), ", not ", expected.size());
      }
      for (size_t i = 0; i < expected.size(); ++i) {
        if (!SameEdge(table, type, table.begin(row) + static_cast<int64_t>(i), expected[i])) {
          return absl::StrCat(where, ": edge ", i);
        }
      }
    }
    return "";
  }

  bool SameEdge(const EdgeTable& table, EdgeTypeId type, int64_t at, const InEdge& expected) const {
    const NodeTypeId source_type = {graph_.schema.edge_types[type.value].source_type};
    const GlobalNode source = {table.sources[at]};
    if (!dataset_.book().Contains(source_type, source)) return false;
    const Shard* owner = dataset_.shard(dataset_.book().OwnerOf(source_type, source));
    const uint64_t key =
        owner->nodes(source_type).keys[dataset_.book().RowOf(source_type, source).value];
    if (PositionOf(source_type, key) != expected.source) return false;
    if (table.edge_ids[at] != expected.edge_id) return false;
    for (size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].row(at) !=
          graph_.edge_row(type, static_cast<int>(c), expected.edge_id)) {
        return false;
      }
    }
    return true;
  }

  const MemoryGraph& graph_;
  const Dataset& dataset_;
  std::vector<std::map<uint64_t, int64_t>> positions_;  // by key
};

std::string_view RowOf(const std::string& rows, int64_t row_bytes, int64_t i) {
  return std::string_view(rows).substr(i * row_bytes, row_bytes);
}

}  // namespace

int64_t MemoryGraph::num_nodes(NodeTypeId type) const {
  return static_cast<int64_t>(nodes[type.value].keys.size());
}

std::string_view MemoryGraph::row(NodeTypeId type, int column, int64_t position) const {
  return RowOf(nodes[type.value].columns[column],
               schema.node_types[type.value].columns[column].row_bytes(), position);
}

std::string_view MemoryGraph::ragged_row(NodeTypeId type, int column, int64_t position) const {
  const MemoryNodes& all = nodes[type.value];
  return column == kNamesColumn ? all.names[position] : all.ragged[column][position];
}

std::string_view MemoryGraph::edge_row(EdgeTypeId type, int column, int64_t edge_id) const {
  return RowOf(edges[type.value].columns[column],
               schema.edge_types[type.value].columns[column].row_bytes(), edge_id);
}

std::vector<InEdge> MemoryGraph::InEdges(EdgeTypeId type, int64_t target) const {
  return InEdgesOfAll(type)[target];
}

std::vector<std::vector<InEdge>> MemoryGraph::InEdgesOfAll(EdgeTypeId type) const {
  const EdgeTypeSpec& spec = schema.edge_types[type.value];
  const MemoryEdges& all = edges[type.value];
  const std::vector<uint64_t>& keys = nodes[spec.source_type].keys;
  std::vector<std::vector<InEdge>> lists(num_nodes({spec.target_type}));
  for (size_t i = 0; i < all.sources.size(); ++i) {
    lists[all.targets[i]].push_back({all.sources[i], static_cast<int64_t>(i)});
  }
  const int times = spec.time_order.empty() ? -1 : spec.FindColumn(spec.time_order);
  const auto time_of = [&](const InEdge& edge) {
    int64_t time = 0;
    if (times >= 0) std::memcpy(&time, edge_row(type, times, edge.edge_id).data(), sizeof(time));
    return time;
  };
  for (std::vector<InEdge>& list : lists) {
    std::sort(list.begin(), list.end(), [&](const InEdge& a, const InEdge& b) {
      return std::tuple(time_of(a), keys[a.source], a.edge_id) <
             std::tuple(time_of(b), keys[b.source], b.edge_id);
    });
  }
  return lists;
}

MemoryGraph RandomGraph(const RandomGraphOptions& options) {
  Random random(options.seed);
  NodeTypeSpec spec;
  spec.name = "node";
  spec.id_kind = options.id_kind;
  MemoryNodes nodes;
  FillIds(&spec, options.num_nodes, options.seed, &nodes);
  if (options.feature_width > 0) {
    AddColumn(&spec, &nodes, {"features", DType::kFloat32, {options.feature_width}},
              RandomFloats(&random, options.num_nodes * options.feature_width));
  }
  if (options.num_classes > 0) {
    AddColumn(&spec, &nodes, {"label", DType::kInt32, {}},
              RandomLabels(&random, options.num_nodes, options.num_classes));
    spec.label_column = "label";
    spec.num_classes = options.num_classes;
  }
  if (options.splits) {
    AddColumn(&spec, &nodes, {"split", DType::kUint8, {}},
              RandomSplits(&random, options.num_nodes));
    spec.split_column = "split";
  }
  EdgeTypeSpec edge = {0, "links", 0, {}};
  MemoryEdges edges;
  FillEnds(&random, options.num_nodes, options.num_nodes, options.num_edges, &edges);
  if (options.weights) {
    edge.columns.push_back({"weight", DType::kFloat32, {}});
    edge.weight_column = "weight";
    edges.columns.push_back(RandomWeights(&random, options.num_edges));
  }
  if (options.times) {
    edge.columns.push_back({"time", DType::kInt64, {}});
    edges.columns.push_back(RandomTimes(&random, options.num_edges));
    if (options.time_order) edge.time_order = "time";
  }
  return {{{std::move(spec)}, {std::move(edge)}}, {std::move(nodes)}, {std::move(edges)}};
}

MemoryGraph TypedGraph(int64_t num_users, int64_t num_items, int64_t num_tags, uint64_t seed) {
  Random random(seed);
  MemoryGraph graph;
  graph.schema.node_types.resize(3);
  graph.nodes.resize(3);
  NodeTypeSpec& user = graph.schema.node_types[0];
  NodeTypeSpec& item = graph.schema.node_types[1];
  NodeTypeSpec& tag = graph.schema.node_types[2];
  user.name = "user";
  user.id_kind = IdKind::kInt64;
  FillIds(&user, num_users, seed, &graph.nodes[0]);
  AddColumn(&user, &graph.nodes[0], {"features", DType::kFloat32, {5}},
            RandomFloats(&random, num_users * 5));
  AddColumn(&user, &graph.nodes[0], {"label", DType::kInt32, {}},
            RandomLabels(&random, num_users, 3));
  AddColumn(&user, &graph.nodes[0], {"split", DType::kUint8, {}}, RandomSplits(&random, num_users));
  user.label_column = "label";
  user.num_classes = 3;
  user.split_column = "split";
  item.name = "item";
  item.id_kind = IdKind::kString;
  FillIds(&item, num_items, seed, &graph.nodes[1]);
  AddColumn(&item, &graph.nodes[1], {"features", DType::kFloat16, {2, 3}},
            RandomBytes(&random, num_items * 12));
  AddColumn(&item, &graph.nodes[1], {"price", DType::kFloat64, {}},
            RandomBytes(&random, num_items * 8));
  AddColumn(&item, &graph.nodes[1], {"nothing", DType::kInt8, {0}}, "");
  tag.name = "tag";
  FillIds(&tag, num_tags, seed, &graph.nodes[2]);

  const int64_t sizes[] = {num_users, num_items, num_tags};
  graph.schema.edge_types = {
      {0, "buys", 1, {{"weight", DType::kFloat32, {}}}, "weight"},
      {1, "bought_by", 0, {}},
      {1, "has", 2, {}},
      {0, "knows", 0, {}},
      {2, "of", 0, {}},
  };
  const int64_t num_edges[] = {4 * num_users, 4 * num_users, 2 * num_items, 6 * num_users, 0};
  graph.edges.resize(5);
  for (int e = 0; e < 5; ++e) {
    const EdgeTypeSpec& spec = graph.schema.edge_types[e];
    const bool possible = sizes[spec.source_type] > 0 && sizes[spec.target_type] > 0;
    FillEnds(&random, sizes[spec.source_type], sizes[spec.target_type], possible ? num_edges[e] : 0,
             &graph.edges[e]);
  }
  graph.edges[0].columns.push_back(
      RandomWeights(&random, static_cast<int64_t>(graph.edges[0].sources.size())));
  AddRagged(&user, &graph.nodes[0], {"clicks", DType::kInt64, 0},
            RandomLists(&random, num_users, 8));
  AddRagged(&item, &graph.nodes[1], {"words", DType::kFloat32, 40},
            RandomSparse(&random, num_items, 40));
  AddRagged(&item, &graph.nodes[1], {"title", DType::kUint8, 0},
            RandomLists(&random, num_items, 1));
  return graph;
}

void SplitEdges(int count, MemoryGraph* graph) {
  const EdgeTypeSpec spec = std::move(graph->schema.edge_types[0]);
  const MemoryEdges all = std::move(graph->edges[0]);
  graph->schema.edge_types.clear();
  graph->edges.clear();
  auto left = static_cast<int64_t>(all.sources.size());
  for (int type = 0; type < count; ++type) {
    const int64_t first = type + 1 < count ? left - left / 4 : 0;
    graph->schema.edge_types.push_back(spec);
    graph->schema.edge_types.back().relation = absl::StrCat("relation", type);
    MemoryEdges& edges = graph->edges.emplace_back();
    edges.sources.assign(all.sources.begin() + first, all.sources.begin() + left);
    edges.targets.assign(all.targets.begin() + first, all.targets.begin() + left);
    for (size_t column = 0; column < all.columns.size(); ++column) {
      const int64_t row_bytes = spec.columns[column].row_bytes();
      edges.columns.push_back(
          all.columns[column].substr(first * row_bytes, (left - first) * row_bytes));
    }
    left = first;
  }
}

void AddReverse(EdgeTypeId type, MemoryGraph* graph) {
  EdgeTypeSpec spec = graph->schema.edge_types[type.value];
  spec.relation = ReverseRelation(spec.relation);
  std::swap(spec.source_type, spec.target_type);
  graph->schema.edge_types.push_back(std::move(spec));
  MemoryEdges edges = graph->edges[type.value];
  std::swap(edges.sources, edges.targets);
  graph->edges.push_back(std::move(edges));
}

Placement InUserOrder(const MemoryGraph& graph) {
  std::vector<std::vector<int64_t>> order;
  std::vector<std::vector<int64_t>> begins;
  for (const MemoryNodes& nodes : graph.nodes) {
    order.emplace_back(nodes.keys.size());
    std::iota(order.back().begin(), order.back().end(), 0);
    begins.push_back({0, static_cast<int64_t>(nodes.keys.size())});
  }
  return {std::move(order), *Book::Create(std::move(begins))};
}

Placement Shuffled(const MemoryGraph& graph, int32_t num_shards, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<int64_t>> order;
  std::vector<std::vector<int64_t>> begins;
  for (const MemoryNodes& nodes : graph.nodes) {
    const int64_t size = static_cast<int64_t>(nodes.keys.size());
    order.emplace_back(size);
    std::iota(order.back().begin(), order.back().end(), 0);
    for (int64_t i = size; i > 1; --i) {
      std::swap(order.back()[i - 1], order.back()[Below(&random, i)]);
    }
    begins.push_back({0});
    for (int32_t s = 1; s < num_shards; ++s) begins.back().push_back(Below(&random, size + 1));
    begins.back().push_back(size);
    std::sort(begins.back().begin(), begins.back().end());
  }
  return {std::move(order), *Book::Create(std::move(begins))};
}

absl::Status WriteGraph(const MemoryGraph& graph, const Placement& placement,
                        const std::string& directory) {
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<DatasetWriter> writer,
      DatasetWriter::Create(directory, "small", graph.schema, placement.book));
  for (int32_t e = 0; e < static_cast<int32_t>(graph.edges.size()); ++e) {
    writer->SetEdgeIdBound({e}, graph.edges[e].sources.size());
  }
  for (int32_t s = 0; s < placement.book.num_shards(); ++s) {
    for (int32_t t = 0; t < static_cast<int32_t>(graph.nodes.size()); ++t) {
      VICINITY_RETURN_IF_ERROR(WriteNodes(graph, placement, {s}, {t}, writer.get()));
    }
    for (int32_t e = 0; e < static_cast<int32_t>(graph.edges.size()); ++e) {
      VICINITY_RETURN_IF_ERROR(WriteEdges(graph, placement, {s}, {e}, writer.get()));
    }
  }
  return writer->Finish(nullptr, "a test");
}

std::string Difference(const MemoryGraph& graph, const Dataset& dataset) {
  return Comparison(graph, dataset).Find();
}

}  // namespace vicinity::testing
