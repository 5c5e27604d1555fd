#include "client/shards/shard_router.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "client/shards/fan_out.h"
#include "proto/common/status.h"
#include "sampler/excluded_edges.h"
#include "sampler/owner_groups.h"

namespace vicinity {
namespace {

// A fetch, taken apart by owner.
struct RoutedFetch {
  std::vector<OwnerGroup> groups;
  std::vector<std::vector<int64_t>> positions;  // of each group's rows, in `out`
};

RoutedFetch Route(const ColumnFetch& fetch, const Book& book) {
  RoutedFetch routed;
  routed.groups = GroupByOwner(book, fetch.type, fetch.nodes);
  routed.positions.reserve(routed.groups.size());
  for (const OwnerGroup& group : routed.groups) {
    std::vector<int64_t>& positions = routed.positions.emplace_back();
    positions.reserve(group.positions.size());
    for (const uint32_t i : group.positions) {
      positions.push_back(fetch.positions.empty() ? int64_t{i} : fetch.positions[i]);
    }
  }
  return routed;
}

bool SameNodes(const ColumnFetch& a, const ColumnFetch& b) {
  return a.type == b.type && a.nodes.data() == b.nodes.data() && a.nodes.size() == b.nodes.size() &&
         a.positions.data() == b.positions.data();
}

// One hop, by shard. `lists[i]` are the targets of relation i by owner; relations of one target
// type share a list.
struct RoutedHop {
  std::vector<std::vector<OwnerGroup>> lists;
  std::vector<int> list_of;  // of each relation
};

// What is asked of each edge: the same of all relations, but for times, which only those have that
// are drawn by them.
EdgeDetail DetailOf(absl::Span<const RelationRequest> relations) {
  EdgeDetail detail = relations.front().detail;
  for (const RelationRequest& relation : relations) {
    detail.times = detail.times || relation.detail.times;
  }
  return detail;
}

RoutedHop Route(absl::Span<const RelationRequest> relations, const Schema& schema,
                const Book& book) {
  RoutedHop routed;
  std::vector<int> list_of_type(schema.node_types.size(), -1);
  for (const RelationRequest& relation : relations) {
    const int32_t type = schema.edge_types[relation.edge_type.value].target_type;
    if (list_of_type[type] < 0) {
      list_of_type[type] = static_cast<int>(routed.lists.size());
      routed.lists.push_back(
          GroupByOwner(book, NodeTypeId{type}, relation.targets, relation.trees, relation.times));
    }
    routed.list_of.push_back(list_of_type[type]);
  }
  return routed;
}

}  // namespace

ShardRouter::ShardRouter(const Schema& schema, const Book& book,
                         std::vector<std::unique_ptr<ShardAccess>> shards,
                         std::vector<RankingHomes> rankings)
    : schema_(schema), book_(book), shards_(std::move(shards)), rankings_(std::move(rankings)) {}

ColumnSpec ShardRouter::SpecOf(NodeTypeId type, int32_t column) const {
  if (column != kKeyColumn) return schema_.node_types[type.value].columns[column];
  ColumnSpec spec;
  spec.name = "user_ids";
  spec.dtype = DType::kInt64;
  return spec;
}

int64_t ShardRouter::RowBytes(NodeTypeId type, int32_t column) const {
  if (column == kKeyColumn) return sizeof(uint64_t);
  return schema_.node_types[type.value].columns[column].row_bytes();
}

absl::Status ShardRouter::FetchRows(absl::Span<const ColumnFetch> fetches,
                                    const CallContext& context) const {
  std::vector<RoutedFetch> routed;
  std::vector<const RoutedFetch*> routed_of;
  routed.reserve(fetches.size());  // pointers into it stay valid
  for (size_t i = 0; i < fetches.size(); ++i) {
    if (i == 0 || !SameNodes(fetches[i], fetches[i - 1])) {
      routed.push_back(Route(fetches[i], book_));
    }
    routed_of.push_back(&routed.back());
  }
  FanOut calls;
  for (const bool remote : {true, false}) {  // what takes long first
    for (size_t i = 0; i < fetches.size(); ++i) {
      ShardRows request;
      request.type = fetches[i].type;
      request.column = fetches[i].column;
      request.row_bytes = RowBytes(request.type, request.column);
      request.out = fetches[i].out;
      if (request.row_bytes == 0) continue;
      for (size_t g = 0; g < routed_of[i]->groups.size(); ++g) {
        const OwnerGroup& group = routed_of[i]->groups[g];
        if (shard(group.shard).remote() != remote) continue;
        request.rows = group.rows;
        request.positions = routed_of[i]->positions[g];
        shard(group.shard).Ask(request, context, calls.Add());
      }
    }
  }
  return calls.Wait();
}

absl::Status ShardRouter::FetchDegrees(absl::Span<const DegreesFetch> fetches,
                                       const CallContext& context) const {
  std::vector<RoutedFetch> routed;
  for (const DegreesFetch& fetch : fetches) {
    ColumnFetch nodes;
    nodes.type = {schema_.edge_types[fetch.edge_type.value].target_type};
    nodes.nodes = fetch.nodes;
    routed.push_back(Route(nodes, book_));
  }
  FanOut calls;
  for (const bool remote : {true, false}) {  // what takes long first
    for (size_t i = 0; i < fetches.size(); ++i) {
      for (size_t g = 0; g < routed[i].groups.size(); ++g) {
        const OwnerGroup& group = routed[i].groups[g];
        if (shard(group.shard).remote() != remote) continue;
        shard(group.shard)
            .Ask(ShardDegrees{fetches[i].edge_type, group.rows, routed[i].positions[g],
                              fetches[i].out},
                 context, calls.Add());
      }
    }
  }
  return calls.Wait();
}

RoutedSource::RoutedSource(const ShardRouter& router, const MinibatchDraw& draw,
                           const CallContext& context)
    : router_(router), draw_(draw), context_(context) {}

absl::Status RoutedSource::CountEdges(absl::Span<const RelationRequest> relations,
                                      absl::Span<std::vector<int64_t>> degrees) {
  if (context_.cancelled()) return absl::CancelledError("sampling: cancelled");
  std::vector<DegreesFetch> fetches;
  for (size_t i = 0; i < relations.size(); ++i) {
    degrees[i].resize(relations[i].targets.size());
    fetches.push_back({relations[i].edge_type, relations[i].targets, degrees[i].data()});
  }
  return router_.FetchDegrees(fetches, context_);
}

absl::Status RoutedSource::Sample(int hop, absl::Span<const RelationRequest> relations,
                                  absl::Span<Neighbors> neighbors) {
  if (context_.cancelled()) return absl::CancelledError("sampling: cancelled");
  if (relations.empty()) return absl::OkStatus();
  const RoutedHop routed = Route(relations, router_.schema(), router_.book());

  // What each shard is asked, and where its answers go: [shard][relation of that shard].
  const size_t num_shards = router_.book().num_shards();
  std::vector<ShardHop> asked(num_shards);
  std::vector<std::vector<Neighbors>> answers(num_shards);
  std::deque<std::vector<ExcludedEdge>> excluded;  // whose elements stay where they are
  for (size_t i = 0; i < relations.size(); ++i) {
    const std::vector<OwnerGroup>& groups = routed.lists[routed.list_of[i]];
    for (const OwnerGroup& group : groups) {
      excluded.push_back(ExcludedOf(group, relations[i].excluded));
      asked[group.shard.value].relations.push_back({relations[i].edge_type, relations[i].spec,
                                                    group.rows, group.trees, excluded.back(),
                                                    group.times});
      Neighbors& answer = answers[group.shard.value].emplace_back();
      // The memory of the last hop's answer, warm and mapped, goes round with it.
      if (groups.size() == 1) std::swap(answer, neighbors[i]);
    }
  }
  {
    FanOut calls;
    for (const bool remote : {true, false}) {  // what takes long first
      for (size_t s = 0; s < num_shards; ++s) {
        ShardAccess& shard = router_.shard(ShardId{static_cast<int32_t>(s)});
        if (asked[s].relations.empty() || shard.remote() != remote) continue;
        asked[s].draw = draw_;
        asked[s].hop = hop;
        asked[s].detail = DetailOf(relations);
        asked[s].out = absl::MakeSpan(answers[s]);
        shard.Ask(asked[s], context_, calls.Add());
      }
    }
    VICINITY_RETURN_IF_ERROR(calls.Wait());
  }

  std::vector<size_t> next(num_shards, 0);  // relation of each shard that comes next
  for (size_t i = 0; i < relations.size(); ++i) {
    const std::vector<OwnerGroup>& groups = routed.lists[routed.list_of[i]];
    std::vector<Neighbors> parts;
    parts.reserve(groups.size());
    for (const OwnerGroup& group : groups) {
      parts.push_back(std::move(answers[group.shard.value][next[group.shard.value]++]));
    }
    VICINITY_RETURN_IF_ERROR(MergeByOwner(groups, absl::MakeSpan(parts),
                                          static_cast<int64_t>(relations[i].targets.size()),
                                          &neighbors[i]));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
