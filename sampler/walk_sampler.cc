#include "sampler/walk_sampler.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/random.h"
#include "proto/common/status.h"
#include "sampler/draw_words.h"
#include "sampler/walk_draws.h"

namespace vicinity {
absl::Status CheckWalks(const Schema& schema, const Book& book, const WalkSpec& spec,
                        absl::Span<const int64_t> starts) {
  if (const std::string problem = WalkProblem(schema, spec); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  if (static_cast<int64_t>(starts.size()) > kMaxWalkNodes / (spec.length + 1)) {
    return absl::InvalidArgumentError(absl::StrCat(starts.size(), " walks of ", spec.length,
                                                   " steps are more than ", kMaxWalkNodes,
                                                   " nodes: ask for fewer at once"));
  }
  const NodeTypeId type{NodeTypeOfWalk(schema, spec, 0)};
  for (const int64_t start : starts) {
    if (book.Contains(type, GlobalNode{start})) continue;
    return absl::InvalidArgumentError(absl::StrCat("start ", start, " is not among the ",
                                                   book.num_nodes(type), " nodes of type ",
                                                   schema.node_types[type.value].name));
  }
  return absl::OkStatus();
}

Walks NoSteps(const WalkSpec& spec, absl::Span<const int64_t> starts, bool want_edge_ids) {
  Walks walks;
  walks.length = spec.length;
  walks.nodes.assign(starts.size() * (spec.length + 1), -1);
  if (want_edge_ids) walks.edge_ids.assign(starts.size() * spec.length, -1);
  for (size_t i = 0; i < starts.size(); ++i) walks.nodes[i * (spec.length + 1)] = starts[i];
  return walks;
}

WalkSampler::WalkSampler(const Schema& schema, const Book& book, const MinibatchDraw& draw,
                         NeighborSource* source, EdgeFinder* edges, TurnTaker* turns)
    : schema_(schema), book_(book), draw_(draw), source_(source), edges_(edges), turns_(turns) {}

absl::StatusOr<Walks> WalkSampler::Walk(const WalkSpec& spec, absl::Span<const int64_t> starts,
                                        bool want_edge_ids) {
  VICINITY_RETURN_IF_ERROR(CheckWalks(schema_, book_, spec, starts));
  want_edge_ids_ = want_edge_ids;
  Walks walks = NoSteps(spec, starts, want_edge_ids);
  Front front;
  front.nodes.assign(starts.begin(), starts.end());
  front.walks.resize(starts.size());
  std::iota(front.walks.begin(), front.walks.end(), 0);
  const bool biased = spec.p != 1 || spec.q != 1;
  std::vector<int64_t> previous(biased ? starts.size() : 0);
  std::vector<Turn> taken;
  for (int64_t step = 0; step < spec.length; ++step) {
    EndByChance(spec, step, &front);
    if (front.walks.empty()) break;
    const absl::Status status = biased && step > 0
                                    ? TakeByPrevious(spec, step, front, previous, &taken)
                                    : TakeAny(spec, step, front, &taken);
    if (!status.ok()) return At(absl::StrCat("step ", step), status);
    size_t left = 0;
    for (size_t i = 0; i < front.walks.size(); ++i) {
      if (taken[i].node < 0) continue;
      const uint32_t walk = front.walks[i];
      if (biased) previous[walk] = front.nodes[i];
      walks.nodes[walk * (spec.length + 1) + step + 1] = taken[i].node;
      if (want_edge_ids) walks.edge_ids[walk * spec.length + step] = taken[i].edge_id;
      front.walks[left] = walk;
      front.nodes[left++] = taken[i].node;
    }
    front.walks.resize(left);
    front.nodes.resize(left);
  }
  return walks;
}

void WalkSampler::EndByChance(const WalkSpec& spec, int64_t step, Front* front) const {
  const EndingWalks ending(spec, draw_, step);
  size_t left = 0;
  for (size_t i = 0; i < front->walks.size(); ++i) {
    if (ending.Has(front->walks[i])) continue;
    front->walks[left] = front->walks[i];
    front->nodes[left++] = front->nodes[i];
  }
  front->walks.resize(left);
  front->nodes.resize(left);
}

absl::Status WalkSampler::Draw(const WalkSpec& spec, int64_t step, int64_t round, int64_t amount,
                               const Front& front) {
  RelationRequest request;
  request.edge_type = {EdgeTypeOfStep(spec, step)};
  const EdgeTypeSpec& type = schema_.edge_types[request.edge_type.value];
  request.spec = DrawOfStep(schema_, spec, step, amount);
  request.detail = EdgeDetail(want_edge_ids_);
  request.targets = front.nodes;
  request.trees = front.walks;
  drawn_.Clear();
  VICINITY_RETURN_IF_ERROR(
      source_->Sample(HopOfStep(step, round), {request}, absl::MakeSpan(&drawn_, 1)));
  size_t total = 0;
  for (const uint32_t count : drawn_.counts) {
    if (count != 0 && count != amount) {
      return absl::InternalError(absl::StrCat(count, " edges where ", amount, " were asked for"));
    }
    total += count;
  }
  if (drawn_.counts.size() != front.nodes.size() || drawn_.sources.size() != total ||
      (want_edge_ids_ && drawn_.edge_ids.size() != total)) {
    return absl::InternalError(absl::StrCat(drawn_.counts.size(), " lists with ",
                                            drawn_.sources.size(), " neighbours for ",
                                            front.nodes.size(), " walks"));
  }
  const int64_t num_nodes = book_.id_limit(NodeTypeId{type.source_type});
  for (const int64_t source : drawn_.sources) {
    if (source >= 0 && source < num_nodes) continue;
    return absl::DataLossError(absl::StrCat("neighbour ", source, " of ", num_nodes, " nodes"));
  }
  return absl::OkStatus();
}

absl::Status WalkSampler::TakeAny(const WalkSpec& spec, int64_t step, const Front& front,
                                  std::vector<Turn>* taken) {
  VICINITY_RETURN_IF_ERROR(Draw(spec, step, /*round=*/0, /*amount=*/1, front));
  taken->assign(front.walks.size(), Turn());
  for (size_t i = 0, next = 0; i < drawn_.counts.size(); ++i) {
    if (drawn_.counts[i] == 0) continue;
    (*taken)[i].node = drawn_.sources[next];
    if (want_edge_ids_) (*taken)[i].edge_id = drawn_.edge_ids[next];
    ++next;
  }
  return absl::OkStatus();
}

absl::Status WalkSampler::TakeByPrevious(const WalkSpec& spec, int64_t step, const Front& front,
                                         absl::Span<const int64_t> previous,
                                         std::vector<Turn>* taken) {
  if (turns_ != nullptr) {
    VICINITY_ASSIGN_OR_RETURN(const bool done, turns_->Take(spec, step, front.walks, front.nodes,
                                                            previous, want_edge_ids_, taken));
    if (done) return absl::OkStatus();
  }
  taken->assign(front.walks.size(), Turn());
  std::vector<bool> has_way_back(front.walks.size());
  if (TurnBias::AsksForWayBack(spec)) {
    std::vector<int64_t> from;
    for (const uint32_t walk : front.walks) from.push_back(previous[walk]);
    VICINITY_RETURN_IF_ERROR(
        edges_->FindEdges({EdgeTypeOfStep(spec, step)}, from, front.nodes, &has_way_back));
  }
  for (const bool back : {false, true}) {
    Front some;
    std::vector<uint32_t> place;  // in `taken`
    for (size_t i = 0; i < front.walks.size(); ++i) {
      if (has_way_back[i] != back) continue;
      some.walks.push_back(front.walks[i]);
      some.nodes.push_back(front.nodes[i]);
      place.push_back(static_cast<uint32_t>(i));
    }
    VICINITY_RETURN_IF_ERROR(TakeInRounds(spec, step, TurnBias(spec, back), std::move(some),
                                          std::move(place), previous, taken));
  }
  return absl::OkStatus();
}

absl::Status WalkSampler::TakeInRounds(const WalkSpec& spec, int64_t step, const TurnBias& bias,
                                       Front left, std::vector<uint32_t> place,
                                       absl::Span<const int64_t> previous,
                                       std::vector<Turn>* taken) {
  std::vector<Turn> found;
  std::vector<bool> settled;
  for (int64_t round = 0; !left.walks.empty(); ++round) {
    if (round == kMaxWalkRounds) return NoneAccepted(left.nodes.front());
    VICINITY_RETURN_IF_ERROR(Draw(spec, step, round, bias.Candidates(round), left));
    VICINITY_RETURN_IF_ERROR(Accept(spec, step, round, bias, left, previous, &found, &settled));
    size_t kept = 0;
    for (size_t i = 0; i < left.walks.size(); ++i) {
      if (settled[i]) {
        (*taken)[place[i]] = found[i];
        continue;
      }
      left.walks[kept] = left.walks[i];
      left.nodes[kept] = left.nodes[i];
      place[kept++] = place[i];
    }
    left.walks.resize(kept);
    left.nodes.resize(kept);
  }
  return absl::OkStatus();
}

// The first accepted of each walk's candidates; a walk without any is settled, too.
absl::Status WalkSampler::Accept(const WalkSpec& spec, int64_t step, int64_t round,
                                 const TurnBias& bias, const Front& front,
                                 absl::Span<const int64_t> previous, std::vector<Turn>* taken,
                                 std::vector<bool>* settled) {
  // A candidate that may be: whether an edge joins it with `previous` decides. The last one of a
  // walk may be one that is accepted in any case.
  struct Possible {
    size_t of;         // which walk of the front
    size_t candidate;  // in `drawn`
    bool if_joined;
    bool if_not;
  };
  const uint64_t stream = StreamOf(draw_, HopOfStep(step, round), WalkChance::kAccept);
  std::vector<Possible> possible;
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  alignas(16) uint32_t words[TurnBias::kMostCandidates];
  taken->assign(front.walks.size(), Turn());
  settled->assign(front.walks.size(), false);
  size_t first = 0;
  for (size_t i = 0; i < front.walks.size(); first += drawn_.counts[i++]) {
    (*settled)[i] = drawn_.counts[i] == 0;
    DrawWords(stream, front.walks[i], /*tree=*/0, /*first_block=*/0, drawn_.counts[i], words);
    for (size_t k = first; k < first + drawn_.counts[i]; ++k) {
      const int64_t from = previous[front.walks[i]];
      const bool is_back = drawn_.sources[k] == from;
      const uint64_t chance = words[k - first];
      if (chance >= (is_back ? bias.back : bias.most)) continue;
      const bool is_sure = is_back || chance < bias.least;
      possible.push_back({i, k, is_sure || chance < bias.near, is_sure || chance < bias.far});
      if (is_sure) break;
      sources.push_back(drawn_.sources[k]);
      targets.push_back(from);
    }
  }
  std::vector<bool> joined;
  if (!sources.empty()) {
    VICINITY_RETURN_IF_ERROR(
        edges_->FindEdges({EdgeTypeOfStep(spec, step)}, sources, targets, &joined));
  }
  size_t next = 0;
  for (const Possible& each : possible) {
    const bool is_sure = each.if_joined && each.if_not;
    const bool accepted = is_sure || (joined[next++] ? each.if_joined : each.if_not);
    if (!accepted || (*settled)[each.of]) continue;
    (*settled)[each.of] = true;
    (*taken)[each.of].node = drawn_.sources[each.candidate];
    if (want_edge_ids_) (*taken)[each.of].edge_id = drawn_.edge_ids[each.candidate];
  }
  return absl::OkStatus();
}

}  // namespace vicinity
