#include "tests/contract/shard_access_contract.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_requests.h"
#include "partition/schema/condition.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/rules/found_rows.h"
#include "sampler/walk_draws.h"
#include "sampler/walk_spec.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};
constexpr EdgeTypeId kBuys{0};

template <typename Request>
absl::Status Ask(ShardAccess* shard, const Request& request, Cancellation* cancel = nullptr) {
  FanOut calls;
  shard->Ask(request, cancel, calls.Add());
  return calls.Wait();
}

// What the graph says of one shard's nodes and lists.
class Expected {
 public:
  Expected(const ShardsUnderTest& under_test, size_t shard)
      : graph_(*under_test.graph),
        placement_(*under_test.placement),
        shard_{static_cast<int32_t>(shard)} {
    for (const std::vector<int64_t>& order : placement_.order) {
      std::vector<int64_t>& ids = global_ids_.emplace_back(order.size());
      for (size_t node = 0; node < order.size(); ++node) {
        ids[order[node]] = static_cast<int64_t>(node);
      }
    }
    for (size_t e = 0; e < graph_.edges.size(); ++e) {
      lists_.push_back(graph_.InEdgesOfAll({static_cast<int32_t>(e)}));
    }
  }

  const Schema& schema() const { return graph_.schema; }
  int64_t num_rows(NodeTypeId type) const { return placement_.book.num_nodes(type, shard_); }
  int64_t position(NodeTypeId type, int64_t row) const {
    return placement_.PositionOf(type, {placement_.book.First(type, shard_).value + row});
  }
  NodeTypeId target_type(EdgeTypeId type) const {
    return {schema().edge_types[type.value].target_type};
  }
  // A node's bytes in a column or, for kKeyColumn, its key.
  std::string Row(NodeTypeId type, int32_t column, int64_t row) const {
    const int64_t at = position(type, row);
    if (column != kKeyColumn) return std::string(graph_.row(type, column, at));
    const uint64_t key = graph_.nodes[type.value].keys[at];
    return {reinterpret_cast<const char*>(&key), sizeof(key)};
  }
  std::string_view Ragged(NodeTypeId type, int column, int64_t row) const {
    return graph_.ragged_row(type, column, position(type, row));
  }
  bool Lists(uint64_t key) const { return placement_.book.DirectoryShard(key) == shard_; }
  bool Owns(NodeTypeId type, int64_t node) const {
    return placement_.book.OwnerOf(type, {node}) == shard_;
  }
  int64_t RowOf(NodeTypeId type, int64_t node) const {
    return node - placement_.book.First(type, shard_).value;
  }
  int64_t GlobalId(NodeTypeId type, int64_t position) const {
    return global_ids_[type.value][position];
  }
  // The in-edges of a target, sources as global ids; with `weighted` those that have a weight.
  std::vector<InEdge> List(EdgeTypeId type, int64_t row, bool weighted) const {
    std::vector<InEdge> list = lists_[type.value][position(target_type(type), row)];
    const NodeTypeId source_type{schema().edge_types[type.value].source_type};
    const auto is_out = [&](const InEdge& edge) {
      float weight = 0;
      std::memcpy(&weight, graph_.edge_row(type, 0, edge.edge_id).data(), sizeof(weight));
      return weight == 0;
    };
    if (weighted) list.erase(std::remove_if(list.begin(), list.end(), is_out), list.end());
    for (InEdge& edge : list) edge.source = GlobalId(source_type, edge.source);
    return list;
  }
  std::string_view EdgeRow(EdgeTypeId type, int64_t edge_id) const {
    return graph_.edge_row(type, 0, edge_id);
  }

 private:
  const MemoryGraph& graph_;
  const Placement& placement_;
  const ShardId shard_;
  std::vector<std::vector<int64_t>> global_ids_;         // by type and position
  std::vector<std::vector<std::vector<InEdge>>> lists_;  // by edge type and target's position
};

// Every shard by its number and what is expected of it.
template <typename Check>
void ForEachShard(const ShardsUnderTest& under_test, const Check& check) {
  for (size_t shard = 0; shard < under_test.shards.size(); ++shard) {
    CAPTURE(shard);
    check(under_test.shards[shard], Expected(under_test, shard));
  }
}

// All rows of a type backwards, and the first, middle and last again.
std::vector<uint64_t> RowsWithRepeats(int64_t num_rows) {
  std::vector<uint64_t> rows(num_rows);
  std::iota(rows.rbegin(), rows.rend(), 0);
  for (const int64_t row : {int64_t{0}, num_rows / 2, num_rows - 1}) rows.push_back(row);
  return rows;
}

// Places in another order than that of what goes to them, each its own.
std::vector<int64_t> ScatteredPositions(size_t count) {
  std::vector<int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  std::rotate(positions.begin(), positions.begin() + count / 3, positions.end());
  return positions;
}

ShardRows ColumnRequest(NodeTypeId type, int32_t column, int64_t row_bytes) {
  ShardRows request;
  request.type = type;
  request.column = column;
  request.row_bytes = row_bytes;
  return request;
}

void CheckColumn(ShardAccess* shard, const Expected& expected, NodeTypeId type, int32_t column) {
  CAPTURE(type.value, column);
  const auto row_bytes = static_cast<int64_t>(expected.Row(type, column, 0).size());
  const std::vector<uint64_t> rows = RowsWithRepeats(expected.num_rows(type));
  const std::vector<int64_t> positions = ScatteredPositions(rows.size());
  std::string out(rows.size() * row_bytes, '?');
  ShardRows request = ColumnRequest(type, column, row_bytes);
  request.out = &out[0];
  const auto check = [&](size_t i, int64_t row, int64_t at) {
    CAPTURE(i, row);
    CHECK(out.substr(at * row_bytes, row_bytes) == expected.Row(type, column, row));
  };
  request.rows = rows;
  VICINITY_REQUIRE_OK(Ask(shard, request));
  for (size_t i = 0; i < rows.size(); ++i) check(i, rows[i], i);
  out.assign(out.size(), '?');
  request.positions = positions;
  VICINITY_REQUIRE_OK(Ask(shard, request));
  for (size_t i = 0; i < rows.size(); ++i) check(i, rows[i], positions[i]);

  request.rows = {};
  for (const bool scattered : {false, true}) {
    for (const int64_t first : {int64_t{0}, expected.num_rows(type) / 2}) {
      out.assign(out.size(), '?');
      request.first = first;
      request.count = expected.num_rows(type) - first;
      request.positions = absl::MakeConstSpan(positions).first(scattered ? request.count : 0);
      VICINITY_REQUIRE_OK(Ask(shard, request));
      for (int64_t i = 0; i < request.count; ++i) check(i, first + i, scattered ? positions[i] : i);
    }
  }
}

// How a hop along one edge type is drawn.
struct Way {
  EdgeTypeId edge_type;
  int64_t fanout;
  bool replace;
  bool weighted;
  bool trees;
  bool excluding = false;
};

std::vector<Way> EveryWay(const Schema& schema) {
  std::vector<Way> ways;
  for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
    for (const int64_t fanout : {int64_t{1}, int64_t{3}, kAllNeighbors}) {
      for (const bool replace : {false, true}) {
        for (const bool trees : {false, true}) {
          for (const bool excluding : {false, true}) {
            ways.push_back({{e}, fanout, replace, false, trees, excluding});
            if (schema.edge_types[e].weight_column.empty()) continue;
            ways.push_back({{e}, fanout, replace, true, trees, excluding});
          }
        }
      }
    }
  }
  return ways;
}

std::vector<Neighbors> Sample(ShardAccess* shard, std::vector<ShardHop::Relation> relations,
                              EdgeDetail detail) {
  std::vector<Neighbors> out(relations.size());
  ShardHop hop;
  hop.draw = {7, 3, 11};
  hop.hop = 1;
  hop.detail = detail;
  hop.relations = std::move(relations);
  hop.out = absl::MakeSpan(out);
  VICINITY_REQUIRE_OK(Ask(shard, hop));
  return out;
}

struct Targets {
  std::vector<uint64_t> rows;
  std::vector<uint32_t> trees;

  explicit Targets(int64_t num_rows) : rows(RowsWithRepeats(num_rows)) {
    for (size_t i = 0; i < rows.size(); ++i) trees.push_back(static_cast<uint32_t>(i % 5));
  }
  ShardHop::Relation Relation(const Way& way) const {
    ShardHop::Relation relation{way.edge_type, DrawSpec{way.fanout, way.replace, way.weighted},
                                rows};
    if (way.trees) relation.trees = trees;
    return relation;
  }
};

// Of every second row the first of its list's sources, and two nodes that may be others.
std::vector<ExcludedEdge> SomeEdges(const Expected& expected, EdgeTypeId edge_type,
                                    absl::Span<const uint64_t> rows) {
  std::vector<ExcludedEdge> excluded;
  for (uint32_t i = 0; i < rows.size(); i += 2) {
    const std::vector<InEdge> list = expected.List(edge_type, static_cast<int64_t>(rows[i]), false);
    if (!list.empty()) excluded.push_back({i, list.front().source});
    excluded.push_back({i, 3});
    excluded.push_back({i, int64_t{1} << 40});
  }
  return excluded;
}

// The list less what is excluded of target `i`.
std::vector<InEdge> Without(std::vector<InEdge> list, uint32_t i,
                            const std::vector<ExcludedEdge>& excluded) {
  const auto is_out = [&](const InEdge& edge) {
    return std::find(excluded.begin(), excluded.end(), ExcludedEdge{i, edge.source}) !=
           excluded.end();
  };
  list.erase(std::remove_if(list.begin(), list.end(), is_out), list.end());
  return list;
}

size_t ExpectedCount(const Way& way, size_t degree) {
  if (way.fanout == kAllNeighbors || degree == 0) return degree;
  const auto fanout = static_cast<size_t>(way.fanout);
  return way.replace ? fanout : std::min(fanout, degree);
}

// One target's neighbours: edges of its list, and which of them.
void CheckDrawn(const Way& way, const std::vector<InEdge>& list, const Neighbors& got, size_t first,
                size_t count) {
  REQUIRE(count == ExpectedCount(way, list.size()));
  // By weight, lists longer than the fanout are taken in any order, though zeros leave no choice.
  const bool in_order =
      count == list.size() && (way.fanout == kAllNeighbors || (!way.replace && !way.weighted));
  std::set<int64_t> drawn;
  for (size_t i = first; i < first + count; ++i) {
    const auto edge = std::find_if(list.begin(), list.end(), [&](const InEdge& candidate) {
      return candidate.edge_id == got.edge_ids[i];
    });
    REQUIRE(edge != list.end());
    CHECK(edge->source == got.sources[i]);
    drawn.insert(got.edge_ids[i]);
    if (in_order) CHECK(static_cast<size_t>(edge - list.begin()) == i - first);
  }
  if (!way.replace) CHECK(drawn.size() == count);
}

void CheckWay(ShardAccess* shard, const Expected& expected, const Way& way) {
  CAPTURE(way.edge_type.value, way.fanout, way.replace, way.weighted, way.trees, way.excluding);
  const Targets targets(expected.num_rows(expected.target_type(way.edge_type)));
  std::vector<ExcludedEdge> excluded;
  if (way.excluding) excluded = SomeEdges(expected, way.edge_type, targets.rows);
  ShardHop::Relation relation = targets.Relation(way);
  relation.excluded = excluded;
  const Neighbors got = Sample(shard, {relation}, EdgeDetail(true, true))[0];
  REQUIRE(got.counts.size() == targets.rows.size());
  REQUIRE(got.edge_ids.size() == got.sources.size());
  REQUIRE(got.edge_positions.size() == got.sources.size());
  size_t first = 0;
  for (uint32_t i = 0; i < targets.rows.size(); ++i) {
    CAPTURE(i, targets.rows[i]);
    REQUIRE(first + got.counts[i] <= got.sources.size());
    const auto row = static_cast<int64_t>(targets.rows[i]);
    const std::vector<InEdge> list =
        Without(expected.List(way.edge_type, row, way.weighted), i, excluded);
    CheckDrawn(way, list, got, first, got.counts[i]);
    first += got.counts[i];
  }
  CHECK(first == got.sources.size());
  // What is not asked for makes no difference to what is.
  const Neighbors bare = Sample(shard, {relation}, EdgeDetail())[0];
  CHECK(bare.counts == got.counts);
  CHECK(bare.sources == got.sources);
  CHECK(bare.edge_ids.empty());
  CHECK(bare.edge_positions.empty());
}

ShardHop HopOfUsers(absl::Span<const uint64_t> rows, std::vector<Neighbors>* out) {
  out->assign(1, Neighbors());
  ShardHop hop;
  hop.relations = {{EdgeTypeId{3}, DrawSpec{2}, rows}};
  hop.out = absl::MakeSpan(*out);
  return hop;
}

}  // namespace

void CheckNodeRows(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    const std::vector<NodeTypeSpec>& types = expected.schema().node_types;
    for (int32_t t = 0; t < static_cast<int32_t>(types.size()); ++t) {
      CheckColumn(shard, expected, {t}, kKeyColumn);
      for (int32_t c = 0; c < static_cast<int32_t>(types[t].columns.size()); ++c) {
        if (types[t].columns[c].row_bytes() > 0) CheckColumn(shard, expected, {t}, c);
      }
    }
  });
}

void CheckEdgeRows(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    const Targets targets(expected.num_rows(kItem));
    const Neighbors hop =
        Sample(shard, {targets.Relation({kBuys, kAllNeighbors, false, false, false})},
               EdgeDetail(true, true))[0];
    const std::vector<uint64_t> rows(hop.edge_positions.begin(), hop.edge_positions.end());
    const std::vector<int64_t> positions = ScatteredPositions(rows.size());
    std::vector<float> weights(rows.size(), -1);
    ShardRows request = ColumnRequest({-1}, 0, sizeof(float));
    request.edge_type = kBuys;
    request.rows = rows;
    request.positions = positions;
    request.out = reinterpret_cast<char*>(weights.data());
    VICINITY_REQUIRE_OK(Ask(shard, request));
    for (size_t i = 0; i < rows.size(); ++i) {
      CAPTURE(i);
      CHECK(std::memcmp(&weights[positions[i]], expected.EdgeRow(kBuys, hop.edge_ids[i]).data(),
                        sizeof(float)) == 0);
    }
  });
}

void CheckRagged(const ShardsUnderTest& under_test) {
  const auto num_columns = static_cast<int>(under_test.graph->nodes[kItem.value].ragged.size());
  for (int column = kNamesColumn; column < num_columns; ++column) {
    CAPTURE(column);
    ForEachShard(under_test, [column](ShardAccess* shard, const Expected& expected) {
      const std::vector<uint64_t> rows = RowsWithRepeats(expected.num_rows(kItem));
      const std::vector<int64_t> positions = ScatteredPositions(rows.size());
      std::vector<std::string> out(rows.size(), "?");
      VICINITY_REQUIRE_OK(Ask(shard, ShardRagged{kItem, column, rows, positions, out.data()}));
      for (size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        CHECK(out[positions[i]] == expected.Ragged(kItem, column, rows[i]));
      }
    });
  }
}

// Label of users, at least so much.
RowCondition LabelFrom(const Expected& expected, int64_t least) {
  const ColumnSpec label = {"label", DType::kInt32, {}};
  RowCondition where;
  where.terms.push_back({ConditionOp::kGreaterEqual,
                         expected.schema().node_types[kUser.value].FindColumn(label.name),
                         label.dtype,
                         {least}});
  return where;
}

void CheckFind(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    const int64_t num_users = expected.num_rows(kUser);
    for (const int64_t least : {int64_t{-1}, int64_t{1}, int64_t{3}, int64_t{1000}}) {
      const RowCondition where = LabelFrom(expected, least);
      for (const int64_t first : {int64_t{0}, num_users / 3}) {
        CAPTURE(least, first);
        const int64_t count = num_users - first - first / 2;
        std::vector<uint64_t> meet;
        for (int64_t row = first; row < first + count; ++row) {
          int32_t label = 0;
          const std::string bytes = expected.Row(kUser, where.terms[0].column, row);
          std::memcpy(&label, bytes.data(), sizeof(label));
          if (label >= least) meet.push_back(static_cast<uint64_t>(row));
        }
        FoundRows found;
        ShardFind find;
        find.type = kUser;
        find.where = &where;
        find.first = first;
        find.count = count;
        find.out = &found;
        VICINITY_REQUIRE_OK(Ask(shard, find));
        CHECK(found.rows == meet);
        CHECK(found.num_read == count);
      }
    }
  });
}

void CheckKeys(const ShardsUnderTest& under_test) {
  for (int32_t t = 0; t < static_cast<int32_t>(under_test.graph->nodes.size()); ++t) {
    CAPTURE(t);
    const std::vector<uint64_t>& known = under_test.graph->nodes[t].keys;
    size_t num_known = 0;
    ForEachShard(under_test, [&](ShardAccess* shard, const Expected& expected) {
      std::vector<uint64_t> keys;
      std::vector<int64_t> nodes;
      for (size_t position = 0; position < known.size(); ++position) {
        if (expected.Lists(known[position])) {
          keys.push_back(known[position]);
          nodes.push_back(expected.GlobalId({t}, position));
        }
      }
      num_known += keys.size();
      for (uint64_t key = 1; key < 40; ++key) {
        const uint64_t unknown = key * 0x123456789abcdef1;
        if (!expected.Lists(unknown)) continue;
        keys.insert(keys.begin() + keys.size() / 2, unknown);
        nodes.insert(nodes.begin() + nodes.size() / 2, -1);
      }
      const std::vector<int64_t> positions = ScatteredPositions(keys.size());
      std::vector<int64_t> out(keys.size(), -7);
      VICINITY_REQUIRE_OK(Ask(shard, ShardKeys{{t}, keys, positions, out.data()}));
      for (size_t i = 0; i < keys.size(); ++i) CHECK(out[positions[i]] == nodes[i]);
    });
    CHECK(num_known == known.size());
  }
}

void CheckDegrees(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    for (int32_t e = 0; e < static_cast<int32_t>(expected.schema().edge_types.size()); ++e) {
      CAPTURE(e);
      const std::vector<uint64_t> rows =
          RowsWithRepeats(expected.num_rows(expected.target_type({e})));
      const std::vector<int64_t> positions = ScatteredPositions(rows.size());
      std::vector<int64_t> out(rows.size(), -7);
      VICINITY_REQUIRE_OK(Ask(shard, ShardDegrees{{e}, rows, positions, out.data()}));
      for (size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i, rows[i]);
        const auto row = static_cast<int64_t>(rows[i]);
        CHECK(out[positions[i]] == static_cast<int64_t>(expected.List({e}, row, false).size()));
      }
    }
  });
}

void CheckEdgeIds(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    for (int32_t e = 0; e < static_cast<int32_t>(expected.schema().edge_types.size()); ++e) {
      CAPTURE(e);
      // Every row with each of its sources, one after the other, and with some that have no edge to
      // it, of which the last is no node at all.
      std::vector<uint64_t> sources;
      std::vector<uint64_t> rows;
      std::vector<int64_t> answers;
      for (const uint64_t row : RowsWithRepeats(expected.num_rows(expected.target_type({e})))) {
        const std::vector<InEdge> list = expected.List({e}, static_cast<int64_t>(row), false);
        const auto add = [&](uint64_t source) {
          const auto found = std::find_if(list.begin(), list.end(), [source](const InEdge& edge) {
            return static_cast<uint64_t>(edge.source) == source;
          });
          sources.push_back(source);
          rows.push_back(row);
          answers.push_back(found == list.end() ? -1 : found->edge_id);
        };
        for (const InEdge& edge : list) add(static_cast<uint64_t>(edge.source));
        for (uint64_t source = 0; source < 6; ++source) add((source * 7 + row) % 17);
        add(UINT64_MAX);
      }
      const std::vector<int64_t> positions = ScatteredPositions(rows.size());
      std::vector<int64_t> out(rows.size(), -7);
      VICINITY_REQUIRE_OK(Ask(shard, ShardEdgeIds{{e}, sources, rows, positions, out.data()}));
      for (size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i, rows[i], sources[i]);
        CHECK(out[positions[i]] == answers[i]);
      }
    }
  });
}

// One walk's step by itself: where it leads, and by which edge; -1 if it has ended.
std::pair<int64_t, int64_t> StepOf(ShardAccess* shard, const Expected& expected,
                                   const WalkSpec& spec, const MinibatchDraw& draw, uint32_t walk,
                                   int64_t step, uint64_t row) {
  if (EndingWalks(spec, draw, step).Has(walk)) return {-1, -1};
  const std::vector<uint64_t> rows = {row};
  const std::vector<uint32_t> trees = {walk};
  Neighbors drawn;
  ShardHop hop;
  hop.draw = draw;
  hop.hop = HopOfStep(step);
  hop.detail = EdgeDetail(true);
  hop.relations = {
      {{EdgeTypeOfStep(spec, step)}, DrawOfStep(expected.schema(), spec, step), rows, trees}};
  hop.out = absl::MakeSpan(&drawn, 1);
  VICINITY_REQUIRE_OK(Ask(shard, hop));
  if (drawn.sources.empty()) return {-1, -1};
  return {drawn.sources[0], drawn.edge_ids[0]};
}

void CheckWalks(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    WalkSpec spec;
    spec.metapath = {1, 0};  // from users by items to users
    spec.length = 6;
    int64_t crossed = 0;
    for (const bool plain : {true, false}) {
      spec.weighted_by = plain ? "" : "weight";
      spec.restart_prob = plain ? 0 : 0.2;
      const MinibatchDraw draw{3, 1, plain ? 4u : 5u};
      std::vector<uint32_t> walks;
      std::vector<uint32_t> steps;
      std::vector<uint64_t> rows;
      for (uint32_t i = 0; i < 120; ++i) {
        walks.push_back(1000 + i * 7);
        steps.push_back(i * 5 % 6);
        rows.push_back(i % expected.num_rows({NodeTypeOfWalk(expected.schema(), spec, steps[i])}));
      }
      const std::vector<int64_t> positions = ScatteredPositions(walks.size());
      std::vector<int64_t> nodes(walks.size() * 7, -7);
      std::vector<int64_t> edge_ids(walks.size() * 6, -7);
      ShardWalks request{&spec, draw, walks, steps, rows, positions, nodes.data(), edge_ids.data()};
      VICINITY_REQUIRE_OK(Ask(shard, request));
      std::vector<int64_t> alone(nodes.size(), -7);
      request.nodes = alone.data();
      request.edge_ids = nullptr;
      VICINITY_REQUIRE_OK(Ask(shard, request));
      CHECK(alone == nodes);
      for (size_t i = 0; i < walks.size(); ++i) {
        CAPTURE(plain, i);
        const int64_t* const to = nodes.data() + positions[i] * 7;
        const int64_t* const edges = edge_ids.data() + positions[i] * 6;
        for (uint32_t step = 0; step <= steps[i]; ++step) REQUIRE(to[step] == -7);
        for (uint32_t step = 0; step < steps[i]; ++step) REQUIRE(edges[step] == -7);
        bool is_here = true;
        uint64_t row = rows[i];
        for (int64_t step = steps[i]; step < spec.length; ++step) {
          const auto [node, edge_id] =
              is_here ? StepOf(shard, expected, spec, draw, walks[i], step, row)
                      : std::pair<int64_t, int64_t>(-1, -1);
          REQUIRE(to[step + 1] == node);
          REQUIRE(edges[step] == edge_id);
          const NodeTypeId type{NodeTypeOfWalk(expected.schema(), spec, step + 1)};
          is_here = node >= 0 && expected.Owns(type, node);
          crossed += node >= 0 && !is_here ? 1 : 0;
          if (is_here) row = static_cast<uint64_t>(expected.RowOf(type, node));
        }
      }
    }
    CHECK(crossed > 20);
  });
}

std::vector<Neighbors> SampleByRules(const ShardsUnderTest& under_test,
                                     const std::vector<DrawSpec>& rules) {
  const std::vector<TimeBounds> of_trees = {
      {INT64_MIN, 0}, {-6, -6}, {INT64_MIN, INT64_MAX}, {-2, 3}, {INT64_MIN, INT64_MIN}};
  EdgeDetail detail(true, true);
  detail.times = true;
  std::vector<Neighbors> all;
  ForEachShard(under_test, [&](ShardAccess* shard, const Expected& expected) {
    const Targets targets(expected.num_rows(expected.target_type({0})));
    const std::vector<ExcludedEdge> excluded = SomeEdges(expected, {0}, targets.rows);
    std::vector<TimeBounds> times;
    for (const uint32_t tree : targets.trees) times.push_back(of_trees[tree]);
    for (Way way : EveryWay(expected.schema())) {
      if (way.edge_type.value != 0) continue;
      way.trees = true;
      for (const DrawSpec& rule : rules) {
        if (rule.last && (way.replace || way.weighted)) continue;
        if (rule.labor && way.replace) continue;
        ShardHop::Relation relation = targets.Relation(way);
        relation.spec.time_column = rule.time_column;
        relation.times = times;
        relation.spec.last = rule.last;
        relation.spec.where = rule.where;
        relation.spec.labor = rule.labor;
        relation.spec.layer_dependency = rule.layer_dependency;
        relation.spec.batch_dependency = rule.batch_dependency;
        if (way.excluding) relation.excluded = excluded;
        all.push_back(Sample(shard, {relation}, detail)[0]);
        const bool by_time = rule.time_column >= 0;
        CHECK(all.back().edge_times.size() == (by_time ? all.back().sources.size() : 0));
      }
    }
  });
  return all;
}

void CheckHops(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    for (const Way& way : EveryWay(expected.schema())) CheckWay(shard, expected, way);
  });
}

void CheckRankings(const ShardsUnderTest& under_test, const std::string& name,
                   const RankedNodes& ranked) {
  const auto size = static_cast<int64_t>(ranked.nodes.size());
  ForEachShard(under_test, [&](ShardAccess* shard, const Expected&) {
    RankedNodes got;
    ShardRanking request;
    request.name = name;
    request.home = {0};
    request.type = kUser;
    request.out = &got;
    for (const int64_t count : {int64_t{0}, int64_t{1}, size / 2, size, size + 5}) {
      CAPTURE(count);
      got = RankedNodes();
      request.count = count;
      VICINITY_REQUIRE_OK(Ask(shard, request));
      const auto head = static_cast<size_t>(count == 0 ? size : std::min(count, size));
      CHECK(absl::MakeConstSpan(got.nodes) == absl::MakeConstSpan(ranked.nodes).first(head));
      CHECK(absl::MakeConstSpan(got.probabilities) ==
            absl::MakeConstSpan(ranked.probabilities).first(head));
    }
    request.name = absl::StrCat("not ", name);
    VICINITY_CHECK_CODE(Ask(shard, request), absl::StatusCode::kNotFound);
  });
}

void CheckEmptyRequests(const ShardsUnderTest& under_test) {
  ForEachShard(under_test, [](ShardAccess* shard, const Expected&) {
    VICINITY_CHECK_OK(Ask(shard, ColumnRequest(kUser, 0, 20)));
    ShardRows of_edges = ColumnRequest({-1}, 0, 4);
    of_edges.edge_type = kBuys;
    VICINITY_CHECK_OK(Ask(shard, of_edges));
    VICINITY_CHECK_OK(Ask(shard, ShardRagged{kItem, kNamesColumn, {}, {}, nullptr}));
    VICINITY_CHECK_OK(Ask(shard, ShardKeys{kUser, {}, {}, nullptr}));
    VICINITY_CHECK_OK(Ask(shard, ShardDegrees{kBuys, {}, {}, nullptr}));
    VICINITY_CHECK_OK(Ask(shard, ShardEdgeIds{kBuys, {}, {}, {}, nullptr}));
    WalkSpec spec;
    spec.metapath = {1, 0};
    spec.length = 3;
    VICINITY_CHECK_OK(Ask(shard, ShardWalks{&spec, {}, {}, {}, {}, {}, nullptr, nullptr}));
    VICINITY_CHECK_OK(Ask(shard, ShardHop()));
    std::vector<Neighbors> out;
    VICINITY_CHECK_OK(Ask(shard, HopOfUsers({}, &out)));
    CHECK(out[0].counts.empty());
    CHECK(out[0].sources.empty());
  });
}

void CheckRefusals(const ShardsUnderTest& under_test) {
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    const auto num_users = static_cast<uint64_t>(expected.num_rows(kUser));
    const auto num_items = static_cast<uint64_t>(expected.num_rows(kItem));
    for (const uint64_t beyond : {uint64_t{0}, uint64_t{1}, UINT64_MAX / 2}) {
      CAPTURE(beyond);
      const std::vector<uint64_t> users = {0, num_users + beyond, 1};
      const std::vector<uint64_t> items = {0, num_items + beyond, 1};
      const std::vector<int64_t> positions = {0, 1, 2};
      std::string out(100, '?');
      ShardRows rows = ColumnRequest(kUser, kKeyColumn, 8);
      rows.rows = users;
      rows.out = &out[0];
      VICINITY_CHECK_CODE(Ask(shard, rows), kRefused);
      std::vector<std::string> names(3);
      VICINITY_CHECK_CODE(
          Ask(shard, ShardRagged{kItem, kNamesColumn, items, positions, names.data()}), kRefused);
      std::vector<int64_t> degrees(3);
      VICINITY_CHECK_CODE(Ask(shard, ShardDegrees{kBuys, items, positions, degrees.data()}),
                          kRefused);
      const ShardEdgeIds pairs{kBuys, users, items, positions, degrees.data()};
      VICINITY_CHECK_CODE(Ask(shard, pairs), kRefused);
      WalkSpec spec;
      spec.metapath = {1, 0};
      spec.length = 3;
      const std::vector<uint32_t> walks = {0, 1, 2};
      const std::vector<uint32_t> steps = {0, 0, 0};
      std::vector<int64_t> nodes(12);
      VICINITY_CHECK_CODE(
          Ask(shard, ShardWalks{&spec, {}, walks, steps, users, positions, nodes.data(), nullptr}),
          kRefused);
      std::vector<Neighbors> neighbors;
      VICINITY_CHECK_CODE(Ask(shard, HopOfUsers(users, &neighbors)), kRefused);
      rows.rows = {};
      rows.first = static_cast<int64_t>(num_users - 1 + beyond / 2);
      rows.count = 2;
      VICINITY_CHECK_CODE(Ask(shard, rows), kRefused);
      const RowCondition where = LabelFrom(expected, 1);
      FoundRows found;
      ShardFind find;
      find.type = kUser;
      find.where = &where;
      find.first = rows.first;
      find.count = 2;
      find.out = &found;
      VICINITY_CHECK_CODE(Ask(shard, find), kRefused);
      const std::vector<uint64_t> edge_rows = {UINT64_MAX - beyond % 2};
      ShardRows of_edges = ColumnRequest({-1}, 0, 4);
      of_edges.edge_type = kBuys;
      of_edges.rows = edge_rows;
      of_edges.out = &out[0];
      VICINITY_CHECK_CODE(Ask(shard, of_edges), kRefused);
    }
    const std::vector<uint64_t> row = {0};
    for (const int64_t fanout : {int64_t{0}, int64_t{-2}, kMaxFanout + 1}) {
      std::vector<Neighbors> neighbors;
      ShardHop hop = HopOfUsers(row, &neighbors);
      hop.relations[0].spec.fanout = fanout;
      VICINITY_CHECK_CODE(Ask(shard, hop), kRefused);
    }
    std::vector<Neighbors> neighbors;
    ShardHop by_weight = HopOfUsers(row, &neighbors);
    by_weight.relations[0].spec.weighted = true;  // of edges that have none
    VICINITY_CHECK_CODE(Ask(shard, by_weight), kRefused);
    ShardHop by_layer = HopOfUsers(row, &neighbors);
    by_layer.relations[0].spec.labor = true;
    VICINITY_CHECK_OK(Ask(shard, by_layer));
    neighbors[0].Clear();
    by_layer.relations[0].spec.replace = true;
    VICINITY_CHECK_CODE(Ask(shard, by_layer), kRefused);
  });
}

void CheckCancelling(const ShardsUnderTest& under_test) {
  constexpr int kRequests = 50;
  ForEachShard(under_test, [](ShardAccess* shard, const Expected& expected) {
    const auto row_bytes = static_cast<int64_t>(expected.Row(kUser, 0, 0).size());
    const std::vector<uint64_t> rows = RowsWithRepeats(expected.num_rows(kUser));
    ShardRows request = ColumnRequest(kUser, 0, row_bytes);
    request.rows = rows;
    std::vector<std::string> outs(kRequests, std::string(rows.size() * row_bytes, '?'));
    std::vector<absl::Status> outcomes(kRequests);
    std::vector<std::atomic<int>> times(kRequests);
    Cancellation cancel;
    {
      FanOut calls;
      for (int i = 0; i < kRequests; ++i) {
        request.out = &outs[i][0];
        shard->Ask(request, &cancel, [&, i, done = calls.Add()](const absl::Status& status) {
          outcomes[i] = status;
          if (++times[i] == 1) done(absl::OkStatus());
        });
        if (i == kRequests / 2) cancel.Cancel();
      }
    }
    for (int i = 0; i < kRequests; ++i) {
      CAPTURE(i, outcomes[i]);
      CHECK(times[i] == 1);
      if (i > kRequests / 2 || !outcomes[i].ok()) {
        CHECK(absl::IsCancelled(outcomes[i]));
      } else {
        CHECK(outs[i].substr(0, row_bytes) == expected.Row(kUser, 0, rows[0]));
      }
    }
    std::vector<Neighbors> neighbors;
    VICINITY_CHECK_CODE(Ask(shard, HopOfUsers(rows, &neighbors), &cancel),
                        absl::StatusCode::kCancelled);
  });
}

std::vector<Neighbors> SampleEveryWay(const ShardsUnderTest& under_test) {
  std::vector<Neighbors> all;
  ForEachShard(under_test, [&all](ShardAccess* shard, const Expected& expected) {
    std::vector<Targets> targets;  // by node type
    for (size_t t = 0; t < expected.schema().node_types.size(); ++t) {
      targets.emplace_back(expected.num_rows({static_cast<int32_t>(t)}));
    }
    const auto relation = [&](const Way& way) {
      return targets[expected.target_type(way.edge_type).value].Relation(way);
    };
    const auto take = [&all](std::vector<Neighbors> some) {
      for (Neighbors& neighbors : some) all.push_back(std::move(neighbors));
    };
    for (const Way& way : EveryWay(expected.schema())) {
      take(Sample(shard, {relation(way)}, EdgeDetail(way.trees, way.weighted)));
    }
    // Along all edge types at once, as batches do.
    for (const bool trees : {false, true}) {
      std::vector<ShardHop::Relation> relations;
      for (int32_t e = 0; e < static_cast<int32_t>(expected.schema().edge_types.size()); ++e) {
        relations.push_back(relation({{e}, e == 1 ? kAllNeighbors : 2 + e, false, e == 0, trees}));
      }
      take(Sample(shard, std::move(relations), EdgeDetail(true, true)));
    }
  });
  return all;
}

std::string Difference(const std::vector<Neighbors>& a, const std::vector<Neighbors>& b) {
  if (a.size() != b.size()) return absl::StrCat(a.size(), " and ", b.size(), " answers");
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].counts != b[i].counts) return absl::StrCat("counts of answer ", i);
    if (a[i].sources != b[i].sources) return absl::StrCat("sources of answer ", i);
    if (a[i].edge_ids != b[i].edge_ids) return absl::StrCat("edge ids of answer ", i);
    if (a[i].edge_positions != b[i].edge_positions) return absl::StrCat("positions of answer ", i);
  }
  return "";
}

}  // namespace vicinity::testing
