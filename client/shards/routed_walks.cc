#include "client/shards/routed_walks.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"
#include "client/shards/lookups.h"
#include "client/shards/shard_requests.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/turns/mapped_turns.h"
#include "sampler/walk_sampler.h"

namespace vicinity {
namespace {

// Walks that stand at nodes of one shard.
struct Standing {
  std::vector<uint32_t> walks;
  std::vector<uint32_t> steps;
  std::vector<uint64_t> rows;
  std::vector<int64_t> positions;
};

class Walkers {
 public:
  Walkers(const ShardRouter& router, const WalkSpec& spec, Walks* walks)
      : router_(router), spec_(spec), walks_(*walks), by_shard_(router.book().num_shards()) {
    for (int64_t walk = 0; walk < walks_.num_walks(); ++walk) Stand(walk, 0, &by_shard_);
  }

  // One round; false: all walks have come to their ends.
  absl::StatusOr<bool> GoOn(const MinibatchDraw& draw, const CallContext& context) {
    FanOut calls;
    bool any = false;
    for (const bool remote : {true, false}) {  // what takes long first
      for (size_t s = 0; s < by_shard_.size(); ++s) {
        const Standing& standing = by_shard_[s];
        ShardAccess& shard = router_.shard(ShardId{static_cast<int32_t>(s)});
        if (standing.walks.empty() || shard.remote() != remote) continue;
        any = true;
        ShardWalks request;
        request.spec = &spec_;
        request.draw = draw;
        request.walks = standing.walks;
        request.steps = standing.steps;
        request.rows = standing.rows;
        request.positions = standing.positions;
        request.nodes = walks_.nodes.data();
        if (!walks_.edge_ids.empty()) request.edge_ids = walks_.edge_ids.data();
        shard.Ask(request, context, calls.Add());
      }
    }
    VICINITY_RETURN_IF_ERROR(calls.Wait());
    std::vector<Standing> next(by_shard_.size());
    for (size_t s = 0; s < by_shard_.size(); ++s) {
      const Standing& stood = by_shard_[s];
      for (size_t i = 0; i < stood.walks.size(); ++i) {
        const int64_t made = StepsOf(stood.walks[i], stood.steps[i]);
        if (made == spec_.length ||
            PlaceOf(stood.walks[i], made).shard.value == static_cast<int32_t>(s)) {
          continue;  // it is at its end
        }
        Stand(stood.walks[i], made, &next);
      }
    }
    by_shard_ = std::move(next);
    return any;
  }

 private:
  int64_t NodeOf(int64_t walk, int64_t step) const {
    return walks_.nodes[walk * (spec_.length + 1) + step];
  }
  NodeTypeId TypeBehind(int64_t steps) const {
    return {NodeTypeOfWalk(router_.schema(), spec_, steps)};
  }
  Book::Place PlaceOf(int64_t walk, int64_t step) const {
    return router_.book().PlaceOf(TypeBehind(step), GlobalNode{NodeOf(walk, step)});
  }
  // How many it has made now.
  int64_t StepsOf(int64_t walk, int64_t before) const {
    int64_t steps = before;
    while (steps < spec_.length && NodeOf(walk, steps + 1) >= 0) ++steps;
    return steps;
  }
  void Stand(int64_t walk, int64_t steps, std::vector<Standing>* by_shard) const {
    const Book::Place place = PlaceOf(walk, steps);
    Standing& standing = (*by_shard)[place.shard.value];
    standing.walks.push_back(static_cast<uint32_t>(walk));
    standing.steps.push_back(static_cast<uint32_t>(steps));
    standing.rows.push_back(static_cast<uint64_t>(place.row.value));
    standing.positions.push_back(walk);
  }

  const ShardRouter& router_;
  const WalkSpec& spec_;
  Walks& walks_;
  std::vector<Standing> by_shard_;
};

// Of all shards; empty: one of them is not mapped here.
std::vector<const ShardReader*> MappedReaders(const ShardRouter& router) {
  std::vector<const ShardReader*> readers;
  for (int32_t s = 0; s < router.book().num_shards(); ++s) {
    const ShardReader* const reader = router.shard(ShardId{s}).mapped();
    if (reader == nullptr) return {};
    readers.push_back(reader);
  }
  return readers;
}

}  // namespace

absl::StatusOr<Walks> WalkOverShards(const ShardRouter& router, const WalkSpec& spec,
                                     absl::Span<const int64_t> starts, const MinibatchDraw& draw,
                                     bool want_edge_ids, const CallContext& context) {
  VICINITY_RETURN_IF_ERROR(CheckWalks(router.schema(), router.book(), spec, starts));
  Walks walks = NoSteps(spec, starts, want_edge_ids);
  Walkers walkers(router, spec, &walks);
  for (bool any = true; any;) {
    if (context.cancelled()) return absl::CancelledError("walking: cancelled");
    VICINITY_ASSIGN_OR_RETURN(any, walkers.GoOn(draw, context));
  }
  return walks;
}

absl::StatusOr<Walks> RouteWalks(const ShardRouter& router, const WalkSpec& spec,
                                 absl::Span<const int64_t> starts, const MinibatchDraw& draw,
                                 bool want_edge_ids, const CallContext& context) {
  if (spec.p == 1 && spec.q == 1) {
    return WalkOverShards(router, spec, starts, draw, want_edge_ids, context);
  }
  RoutedSource source(router, draw, context);
  RoutedFinder finder(router, context);
  std::vector<const ShardReader*> readers = MappedReaders(router);
  if (readers.empty()) {
    WalkSampler sampler(router.schema(), router.book(), draw, &source, &finder);
    return sampler.Walk(spec, starts, want_edge_ids);
  }
  MappedTurns turns(router.schema(), router.book(), draw, std::move(readers),
                    [&context] { return context.cancelled(); });
  WalkSampler sampler(router.schema(), router.book(), draw, &source, &finder, &turns);
  absl::StatusOr<Walks> walks = sampler.Walk(spec, starts, want_edge_ids);
  router.shard(ShardId{0}).CountSampledEdges(turns.num_made());
  return walks;
}

}  // namespace vicinity
