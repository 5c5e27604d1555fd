#include "sampler/shard_walks.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/local_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"
#include "sampler/walk_draws.h"

namespace vicinity {
namespace {

// Walks that go on together: their lines lie in the caches, and a step of all is looked at for
// whether anybody still waits.
constexpr int64_t kMostTogether = 4096;
constexpr int64_t kNodesTogether = int64_t{1} << 19;

// Some walks, step by step.
class WalkGroup {
 public:
  WalkGroup(const Schema& schema, const Book& book, const ShardReader& reader, const WalkSpec& spec,
            const MinibatchDraw& draw, bool want_edge_ids)
      : schema_(schema),
        book_(book),
        reader_(reader),
        spec_(spec),
        draw_(draw),
        want_edge_ids_(want_edge_ids) {}

  absl::Status Walk(const StandingWalks& standing, absl::FunctionRef<bool()> is_gone,
                    WalkedSteps* out) {
    const size_t count = standing.walks.size();
    std::vector<uint32_t> order(count);  // by the step that comes next
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return standing.steps[a] < standing.steps[b]; });
    counts_.assign(count, 0);
    nodes_.resize(count * spec_.length);
    if (want_edge_ids_) edge_ids_.resize(nodes_.size());
    size_t joined = 0;
    for (int64_t step = 0; step < spec_.length; ++step) {
      for (; joined < count && standing.steps[order[joined]] == step; ++joined) {
        places_.push_back(order[joined]);
        walks_.push_back(standing.walks[order[joined]]);
        rows_.push_back(standing.rows[order[joined]]);
      }
      if (places_.empty()) continue;
      if (is_gone()) return absl::CancelledError("the caller is gone or its deadline is over");
      VICINITY_RETURN_IF_ERROR(Step(step));
    }
    for (size_t i = 0; i < count; ++i) {
      out->counts.push_back(counts_[i]);
      Append(nodes_, i, &out->nodes);
      if (want_edge_ids_) Append(edge_ids_, i, &out->edge_ids);
    }
    Leave(0);
    return absl::OkStatus();
  }

 private:
  void Append(const std::vector<int64_t>& from, size_t i, std::vector<int64_t>* to) const {
    const auto begin = from.begin() + static_cast<int64_t>(i) * spec_.length;
    to->insert(to->end(), begin, begin + counts_[i]);
  }

  // Keeps the first so many of those that walk.
  void Leave(size_t left) {
    places_.resize(left);
    walks_.resize(left);
    rows_.resize(left);
  }
  void Keep(size_t from, size_t to) {
    places_[to] = places_[from];
    walks_[to] = walks_[from];
    rows_[to] = rows_[from];
  }

  absl::Status Step(int64_t step) {
    const EndingWalks ending(spec_, draw_, step);
    size_t left = 0;
    for (size_t i = 0; i < places_.size(); ++i) {
      if (!ending.Has(walks_[i])) Keep(i, left++);
    }
    Leave(left);
    if (left == 0) return absl::OkStatus();
    const EdgeTypeId edge_type{EdgeTypeOfStep(spec_, step)};
    OneHopOptions options = OptionsOf(schema_, draw_, HopOfStep(step), edge_type,
                                      DrawOfStep(schema_, spec_, step), EdgeDetail(want_edge_ids_));
    options.trees = walks_;
    drawn_.Clear();
    VICINITY_RETURN_IF_ERROR(SampleShard(schema_, reader_, edge_type, rows_, options, &drawn_));
    return Move(NodeTypeId{schema_.edge_types[edge_type.value].source_type});
  }

  absl::Status Move(NodeTypeId type) {
    const int64_t num_nodes = book_.id_limit(type);
    const ShardId shard = reader_.shard().id();
    const int64_t num_rows = reader_.num_nodes(type);
    size_t left = 0;
    for (size_t i = 0, next = 0; i < drawn_.counts.size(); ++i) {
      if (drawn_.counts[i] == 0) continue;
      const int64_t node = drawn_.sources[next];
      if (node < 0 || node >= num_nodes) {
        return absl::DataLossError(
            absl::StrCat("shard ", shard.value, ": neighbour ", node, " of ", num_nodes, " nodes"));
      }
      const int64_t at = places_[i] * spec_.length + counts_[places_[i]]++;
      nodes_[at] = node;
      if (want_edge_ids_) edge_ids_[at] = drawn_.edge_ids[next];
      ++next;
      const std::optional<LocalRow> row = book_.RowIn(type, shard, GlobalNode{node});
      // An edge may say of another shard what is not there yet, of this one too, if it is damaged.
      if (!row.has_value() || row->value >= num_rows) continue;
      Keep(i, left);
      rows_[left++] = static_cast<uint64_t>(row->value);
    }
    Leave(left);
    return absl::OkStatus();
  }

  const Schema& schema_;
  const Book& book_;
  const ShardReader& reader_;
  const WalkSpec& spec_;
  const MinibatchDraw& draw_;
  const bool want_edge_ids_;
  std::vector<uint32_t> counts_;   // of each walk, steps made here
  std::vector<int64_t> nodes_;     // [walks, length]
  std::vector<int64_t> edge_ids_;  // likewise
  // Of those that walk.
  std::vector<uint32_t> places_;  // in the group
  std::vector<uint32_t> walks_;
  std::vector<uint64_t> rows_;
  Neighbors drawn_;
};

}  // namespace

absl::Status CheckStanding(const Schema& schema, const ShardReader& reader, const WalkSpec& spec,
                           const StandingWalks& standing) {
  for (size_t i = 0; i < standing.walks.size(); ++i) {
    if (standing.steps[i] >= spec.length) {
      return absl::InvalidArgumentError(absl::StrCat("walk ", standing.walks[i], " has made ",
                                                     standing.steps[i], " of ", spec.length,
                                                     " steps"));
    }
    const NodeTypeId type{NodeTypeOfWalk(schema, spec, standing.steps[i])};
    if (standing.rows[i] < static_cast<uint64_t>(reader.num_nodes(type))) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("walk ", standing.walks[i], " stands at row ", standing.rows[i], " of the ",
                     reader.num_nodes(type), " of type ", schema.node_types[type.value].name,
                     " in shard ", reader.shard().id().value));
  }
  return absl::OkStatus();
}

absl::Status WalkOnShard(const Schema& schema, const Book& book, const ShardReader& reader,
                         const WalkSpec& spec, const MinibatchDraw& draw,
                         const StandingWalks& standing, bool want_edge_ids,
                         absl::FunctionRef<bool()> is_gone, WalkedSteps* out) {
  VICINITY_RETURN_IF_ERROR(CheckStanding(schema, reader, spec, standing));
  WalkGroup group(schema, book, reader, spec, draw, want_edge_ids);
  const auto together = static_cast<size_t>(
      std::min(kMostTogether, std::max<int64_t>(1, kNodesTogether / spec.length)));
  for (size_t begin = 0; begin < standing.walks.size(); begin += together) {
    const StandingWalks some = {standing.walks.subspan(begin, together),
                                standing.steps.subspan(begin, together),
                                standing.rows.subspan(begin, together)};
    VICINITY_RETURN_IF_ERROR(group.Walk(some, is_gone, out));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
