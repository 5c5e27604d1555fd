// What can be asked of a shard: a struct for each operation, which is all that a trainer's side has
// to know of it.
//
// Each struct has, beside what is asked and where the answer goes:
//   kMethod             its name in proto/service.proto
//   num_elements()      into how many elements it can be cut; 1 where it cannot
//   max_elements()      how many of them one call may ask for (proto/limits.h)
//   Part(begin, end)    the request for those elements alone
//   bytes()             about how much it moves, both ways: for loads and for limits of time
//   Forget()            clears what an attempt that failed left in the answer
//   Apart()             the same request with room of its own for the answer
//
// A new operation is a struct here and in the list at the end, an Ask in each of mapped_shard.cc
// and client/rpc/remote_shard.cc, and on the server a handler and its row in
// server/calls/data_operations.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/ranking.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/rules/found_rows.h"
#include "sampler/sampled_graph.h"
#include "sampler/shard_walks.h"
#include "sampler/walk_spec.h"

namespace vicinity {

namespace proto {
class Change;
class WriteBatch;
class WriteSession;
}  // namespace proto

// A request whose answer goes to room of its own, so that a second attempt never writes where the
// first does. The room lives as long as `take`, which moves the answer to where the first request
// wants it.
template <typename Request>
struct RequestApart {
  Request request;
  std::function<void()> take;
};

// One hop from nodes of this shard, along several edge types: SampleNeighbors.
struct ShardHop {
  struct Relation {
    EdgeTypeId edge_type{};
    DrawSpec spec;
    // Local rows of the edge type's target type; relations of one target type have the same.
    absl::Span<const uint64_t> rows;
    absl::Span<const uint32_t> trees{};  // of each row; empty: trees are not disjoint
    // Not to be drawn, by rising index among the rows.
    absl::Span<const ExcludedEdge> excluded{};
    absl::Span<const TimeBounds> times{};  // of each row, for draws by time
  };
  MinibatchDraw draw;
  int hop = 0;
  EdgeDetail detail;
  std::vector<Relation> relations;
  // Neighbours for each relation, in the order of its rows; empty elements at first.
  absl::Span<Neighbors> out;

  static constexpr const char* kMethod = "SampleNeighbors";
  int64_t num_elements() const { return 1; }
  int64_t max_elements() const { return 1; }
  ShardHop Part(int64_t /*begin*/, int64_t /*end*/) const { return *this; }
  int64_t bytes() const;
  void Forget() const;
  RequestApart<ShardHop> Apart() const;
};

// Rows of one column: `rows`, or, where that is empty, [first, first + count).
struct ShardRows {
  NodeTypeId type{};
  int32_t column = 0;               // position in the type, or kKeyColumn
  int64_t row_bytes = 0;            // > 0
  absl::Span<const uint64_t> rows;  // local rows, any order, repeats allowed
  int64_t first = 0;
  int64_t count = 0;
  // Row i goes to out + positions[i] * row_bytes; no positions: to out + i * row_bytes.
  absl::Span<const int64_t> positions;
  char* out = nullptr;
  // Of edges instead of nodes: `type` is not used, rows are Neighbors::edge_positions.
  std::optional<EdgeTypeId> edge_type;

  static constexpr const char* kMethod = "FetchRows";
  int64_t num_elements() const { return rows.empty() ? count : static_cast<int64_t>(rows.size()); }
  int64_t max_elements() const;
  ShardRows Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const {}
  RequestApart<ShardRows> Apart() const;
};

// The keys of a type's nodes, asked for like a column: uint64, 8 bytes a row.
inline constexpr int32_t kKeyColumn = -1;

// Rows of a ragged column, or names of nodes of a STRING type: the bytes of row i go to
// out[positions[i]].
struct ShardRagged {
  NodeTypeId type{};
  int32_t column = kNamesColumn;  // position in the type
  absl::Span<const uint64_t> rows;
  absl::Span<const int64_t> positions;
  std::string* out = nullptr;

  static constexpr const char* kMethod = "FetchRagged";
  int64_t num_elements() const { return static_cast<int64_t>(rows.size()); }
  int64_t max_elements() const;
  ShardRagged Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const {}
  RequestApart<ShardRagged> Apart() const;
};

// Which rows of a type meet a condition, of [first, first + count). Every kMaxRequestLooked of
// them, counted from `first` on, have a place of their own in `out`, so that parts do not meet:
// what is found among [first + i * kMaxRequestLooked, ...) is added to out[i], rows rising.
struct ShardFind {
  NodeTypeId type{};
  // Of edges instead of nodes: `type` is not used, rows are Neighbors::edge_positions.
  std::optional<EdgeTypeId> edge_type;
  const RowCondition* where = nullptr;  // it has terms
  int64_t first = 0;
  int64_t count = 0;
  FoundRows* out = nullptr;  // num_places() of them, empty at first

  static constexpr const char* kMethod = "FindRows";
  int64_t num_elements() const { return count; }
  int64_t max_elements() const;
  int64_t num_places() const;
  // `begin` is a multiple of max_elements().
  ShardFind Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const;
  RequestApart<ShardFind> Apart() const;
};

// Global ids of keys that this shard's directory lists: that of key i goes to out[positions[i]], -1
// for a key that no node has.
struct ShardKeys {
  NodeTypeId type{};
  absl::Span<const uint64_t> keys;
  absl::Span<const int64_t> positions;
  int64_t* out = nullptr;

  static constexpr const char* kMethod = "ResolveKeys";
  int64_t num_elements() const { return static_cast<int64_t>(keys.size()); }
  int64_t max_elements() const;
  ShardKeys Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const {}
  RequestApart<ShardKeys> Apart() const;
};

// In-degrees of nodes along one edge type: that of row i goes to out[positions[i]].
struct ShardDegrees {
  EdgeTypeId edge_type{};
  absl::Span<const uint64_t> rows;  // local rows of the edge type's target type
  absl::Span<const int64_t> positions;
  int64_t* out = nullptr;

  static constexpr const char* kMethod = "FetchDegrees";
  int64_t num_elements() const { return static_cast<int64_t>(rows.size()); }
  int64_t max_elements() const;
  ShardDegrees Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const {}
  RequestApart<ShardDegrees> Apart() const;
};

// Ids of edges along one edge type that join pairs of nodes: that of pair i goes to
// out[positions[i]], -1 where none does; of parallel ones that which comes first in the list.
struct ShardEdgeIds {
  EdgeTypeId edge_type{};
  absl::Span<const uint64_t> sources;  // global ids of the edge type's source type
  absl::Span<const uint64_t> rows;     // local rows of its target type, as many
  absl::Span<const int64_t> positions;
  int64_t* out = nullptr;

  static constexpr const char* kMethod = "FetchEdgeIds";
  int64_t num_elements() const { return static_cast<int64_t>(rows.size()); }
  int64_t max_elements() const;
  ShardEdgeIds Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const {}
  RequestApart<ShardEdgeIds> Apart() const;
};

// Walks that stand at nodes of this shard, each until it leaves the shard: the k-th step that walk
// i makes here goes to nodes[positions[i] * (length + 1) + steps[i] + 1 + k], its edge to
// edge_ids[positions[i] * length + steps[i] + k]. What is behind these in its line becomes -1.
struct ShardWalks {
  const WalkSpec* spec = nullptr;  // p and q are 1
  MinibatchDraw draw;
  absl::Span<const uint32_t> walks;  // as StandingWalks
  absl::Span<const uint32_t> steps;
  absl::Span<const uint64_t> rows;
  absl::Span<const int64_t> positions;
  int64_t* nodes = nullptr;
  int64_t* edge_ids = nullptr;  // null: not asked for

  static constexpr const char* kMethod = "Walk";
  int64_t num_elements() const { return static_cast<int64_t>(walks.size()); }
  int64_t max_elements() const;
  ShardWalks Part(int64_t begin, int64_t end) const;
  int64_t bytes() const;
  void Forget() const {}
  RequestApart<ShardWalks> Apart() const;
  // Puts the steps of walk i where they belong.
  void Place(size_t i, absl::Span<const int64_t> to, absl::Span<const int64_t> edges) const;
  // ... of all.
  void Place(const WalkedSteps& made) const;
};

// The head of a stored ranking, appended to `out`.
struct ShardRanking {
  std::string name;
  std::vector<int32_t> home;  // rising shard numbers
  NodeTypeId type{};
  int64_t count = 0;  // 0: all
  RankedNodes* out = nullptr;

  static constexpr const char* kMethod = "FetchRanking";
  int64_t num_elements() const { return 1; }
  int64_t max_elements() const { return 1; }
  ShardRanking Part(int64_t /*begin*/, int64_t /*end*/) const { return *this; }
  int64_t bytes() const;
  void Forget() const;
  RequestApart<ShardRanking> Apart() const;
};

// Commits a batch of changes: Apply. A session's batches come in order, each when the one before
// has been answered; one that got no answer is asked again as it was.
struct ShardWrite {
  const proto::WriteSession* session = nullptr;
  const proto::WriteBatch* batch = nullptr;
  Durability durability = Durability::kSync;
  AppliedBatch* out = nullptr;

  static constexpr const char* kMethod = "Apply";
  static constexpr bool of_writer = true;  // of the servers that have the shard
  int64_t num_elements() const { return 1; }
  int64_t max_elements() const { return 1; }
  ShardWrite Part(int64_t /*begin*/, int64_t /*end*/) const { return *this; }
  int64_t bytes() const;
  void Forget() const { *out = AppliedBatch(); }
  RequestApart<ShardWrite> Apart() const;
};

// The version that the shard is read at, and its sizes there: Barrier. Every write that was
// acknowledged before is known to the writer alone.
struct ShardBarrier {
  ShardVersion* out = nullptr;
  bool of_writer = false;
  bool want_cursors = false;

  static constexpr const char* kMethod = "Barrier";
  int64_t num_elements() const { return 1; }
  int64_t max_elements() const { return 1; }
  ShardBarrier Part(int64_t /*begin*/, int64_t /*end*/) const { return *this; }
  int64_t bytes() const { return 0; }
  void Forget() const { *out = ShardVersion(); }
  RequestApart<ShardBarrier> Apart() const;
};

// What made the versions behind `after`, in order: Changes. `count` of them, or fewer where the
// shard has no more. OutOfRange if `after` is of another term than `after_term`, where that is
// given.
struct ShardChanges {
  uint64_t after = 0;
  std::optional<uint64_t> after_term{};
  uint64_t count = 0;  // kMaxRequestChanges at most
  std::vector<proto::Change>* out = nullptr;
  std::string cursor{};       // not empty: as service.proto says of ChangesRequest
  bool acknowledges = false;  // what comes before is `after`; else the cursor says
  bool drops = false;
  bool of_writer = false;  // who has cursors

  static constexpr const char* kMethod = "Changes";
  int64_t num_elements() const { return 1; }
  int64_t max_elements() const { return 1; }
  ShardChanges Part(int64_t /*begin*/, int64_t /*end*/) const { return *this; }
  int64_t bytes() const;
  void Forget() const;
  RequestApart<ShardChanges> Apart() const;
};

template <typename... Requests>
struct RequestList {
  static constexpr int kSize = sizeof...(Requests);
};

// All of them.
using ShardRequests =
    RequestList<ShardHop, ShardRows, ShardRagged, ShardFind, ShardKeys, ShardDegrees, ShardEdgeIds,
                ShardWalks, ShardRanking, ShardWrite, ShardBarrier, ShardChanges>;

namespace internal {

template <typename Request, typename List>
struct PositionIn;
template <typename Request, typename... Rest>
struct PositionIn<Request, RequestList<Request, Rest...>> {
  static constexpr int value = 0;
};
template <typename Request, typename First, typename... Rest>
struct PositionIn<Request, RequestList<First, Rest...>> {
  static constexpr int value = 1 + PositionIn<Request, RequestList<Rest...>>::value;
};

template <typename... Requests>
constexpr std::array<const char*, sizeof...(Requests)> MethodsOf(RequestList<Requests...>) {
  return {Requests::kMethod...};
}

}  // namespace internal

// The place of a request in the list: for tables with a row for each.
template <typename Request>
inline constexpr int kRequestIndex = internal::PositionIn<Request, ShardRequests>::value;

// Their methods, in the list's order.
inline constexpr auto kRequestMethods = internal::MethodsOf(ShardRequests());

}  // namespace vicinity
