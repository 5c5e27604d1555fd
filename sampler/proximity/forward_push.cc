#include "sampler/proximity/forward_push.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "sampler/node_index.h"
#include "sampler/one_hop.h"

namespace vicinity {
namespace {

// All lists are drawn by the draws of this hop, apart from those of minibatches and of walks: a
// node has one list, whoever pushes and when.
constexpr int kPushHop = 1 << 29;
constexpr int64_t kMaxGroupSeeds = 4096;
constexpr size_t kEdgesOfNode = 6;  // what a kept node takes as memory, in edges

// Nodes of all types in one numbering, to know them by; nothing is ordered by it.
class NodeNumbers {
 public:
  NodeNumbers(const Schema& schema, const Book& book) {
    firsts_.push_back(0);
    for (size_t type = 0; type < schema.node_types.size(); ++type) {
      firsts_.push_back(firsts_.back() + book.num_nodes({static_cast<int32_t>(type)}));
    }
  }

  int64_t num_nodes() const { return firsts_.back(); }
  int64_t NumberOf(int32_t type, int64_t id) const { return firsts_[type] + id; }
  int32_t TypeOf(int64_t number) const {
    const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), number);
    return static_cast<int32_t>(next - firsts_.begin()) - 1;
  }
  int64_t IdOf(int64_t number) const { return number - firsts_[TypeOf(number)]; }
  bool wide() const { return num_nodes() > int64_t{UINT32_MAX}; }

 private:
  std::vector<int64_t> firsts_;  // by type, and the number of all
};

// Where lists and what is known of them come from.
struct ListSources {
  NeighborSource* neighbors;
  WeightSource* weights;
};

// In-lists of the nodes that were met, shared by all seeds.
class InLists {
 public:
  InLists(const Schema& schema, const Book& book, const PprSpec& spec, const NodeNumbers& numbers,
          const ListSources& sources, int64_t max_kept_edges)
      : schema_(schema),
        book_(book),
        spec_(spec),
        numbers_(numbers),
        followed_(FollowedTypes(schema, spec)),
        sources_(sources),
        max_kept_edges_(static_cast<size_t>(max_kept_edges)),
        index_(numbers.wide()) {}

  // Before a round: makes room. Places are those of this round.
  void BeginRound() {
    if (edges_.size() + kEdgesOfNode * nodes_.size() <= max_kept_edges_) return;
    index_.Clear(nodes_.size());
    nodes_.clear();
    lists_.clear();
    edges_.clear();
    shares_.clear();
  }

  // Finds a place for each of `numbers`, where its degree is known from then on.
  absl::Status FindDegrees(absl::Span<const int64_t> numbers, std::vector<int32_t>* places);
  // Of these places, repeats allowed.
  absl::Status FetchLists(absl::Span<const int32_t> places);

  int64_t degree(int32_t place) const { return lists_[place].degree; }
  // By number; fetched before.
  absl::Span<const int64_t> list(int32_t place) const {
    return {edges_.data() + lists_[place].begin, static_cast<size_t>(lists_[place].degree)};
  }
  // Of what is pushed along the list, what goes to each; empty: all get as much.
  absl::Span<const double> shares(int32_t place) const {
    if (shares_.empty()) return {};
    return {shares_.data() + lists_[place].begin, static_cast<size_t>(lists_[place].degree)};
  }

 private:
  struct List {
    int64_t degree = 0;  // of all edge types, as much of each as max_neighbors_ allows
    int64_t begin = -1;  // in edges_; -1: not fetched
  };
  // Places of the nodes of one type, and their ids.
  struct OfType {
    std::vector<int32_t> places;
    std::vector<int64_t> ids;
  };

  // Edges of one type to some nodes, and their weights if it is by weight.
  struct Answer {
    int32_t edge_type = 0;
    Neighbors neighbors;
    std::vector<double> weights;
    size_t next = 0;  // neighbour to be taken
  };

  std::vector<OfType> ByType(absl::Span<const int32_t> places) const;
  // Along every edge type that leads to them, those for nodes of one type side by side.
  std::vector<RelationRequest> RequestsFor(const std::vector<OfType>& by_type) const;
  // Likewise.
  absl::Status Ask(const std::vector<OfType>& by_type, std::vector<Answer>* answers) const;
  absl::Status CheckAnswer(const OfType& nodes, const Answer& answer) const;
  void AddLists(const OfType& nodes, absl::Span<Answer> answers);
  // Weights of the last list become shares; false if they are 0 all.
  bool MakeShares(int64_t begin);

  const Schema& schema_;
  const Book& book_;
  const PprSpec& spec_;
  const NodeNumbers& numbers_;
  const std::vector<int32_t> followed_;
  const ListSources sources_;
  const size_t max_kept_edges_;
  NodeIndex index_;             // from numbers to places
  std::vector<int64_t> nodes_;  // numbers, by place
  std::vector<List> lists_;     // by place
  std::vector<int64_t> edges_;  // numbers of sources, list behind list
  std::vector<double> shares_;  // of each, where spec_ is by weight
};

std::vector<InLists::OfType> InLists::ByType(absl::Span<const int32_t> places) const {
  std::vector<OfType> by_type(schema_.node_types.size());
  for (const int32_t place : places) {
    const int32_t type = numbers_.TypeOf(nodes_[place]);
    by_type[type].places.push_back(place);
    by_type[type].ids.push_back(numbers_.IdOf(nodes_[place]));
  }
  return by_type;
}

std::vector<RelationRequest> InLists::RequestsFor(const std::vector<OfType>& by_type) const {
  std::vector<RelationRequest> requests;
  for (size_t type = 0; type < by_type.size(); ++type) {
    for (const int32_t edge_type : followed_) {
      if (schema_.edge_types[edge_type].target_type != static_cast<int32_t>(type)) continue;
      if (by_type[type].ids.empty()) continue;
      RelationRequest& request = requests.emplace_back();
      request.edge_type = {edge_type};
      request.spec.fanout = spec_.max_neighbors;
      request.detail.positions = !spec_.weighted_by.empty();
      request.targets = by_type[type].ids;
    }
  }
  return requests;
}

absl::Status InLists::FindDegrees(absl::Span<const int64_t> numbers, std::vector<int32_t>* places) {
  places->resize(numbers.size());
  index_.FindOrAdd(numbers, &nodes_, places->data());
  std::vector<int32_t> met;
  for (size_t place = lists_.size(); place < nodes_.size(); ++place) {
    met.push_back(static_cast<int32_t>(place));
  }
  lists_.resize(nodes_.size());
  const std::vector<OfType> by_type = ByType(met);
  const std::vector<RelationRequest> requests = RequestsFor(by_type);
  std::vector<std::vector<int64_t>> degrees(requests.size());
  if (requests.empty()) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(sources_.neighbors->CountEdges(requests, absl::MakeSpan(degrees)));
  for (size_t r = 0; r < requests.size(); ++r) {
    const OfType& nodes = by_type[schema_.edge_types[requests[r].edge_type.value].target_type];
    if (degrees[r].size() != nodes.ids.size()) {
      return absl::InternalError(
          absl::StrCat(degrees[r].size(), " degrees of ", nodes.ids.size(), " nodes"));
    }
    const int64_t most = spec_.max_neighbors;
    for (size_t i = 0; i < nodes.places.size(); ++i) {
      lists_[nodes.places[i]].degree +=
          most == kAllNeighbors ? degrees[r][i] : std::min(degrees[r][i], most);
    }
  }
  return absl::OkStatus();
}

absl::Status InLists::FetchLists(absl::Span<const int32_t> places) {
  std::vector<int32_t> missing;
  for (const int32_t place : places) {
    if (lists_[place].begin >= 0) continue;
    lists_[place].begin = 0;  // once is enough
    missing.push_back(place);
  }
  if (missing.empty()) return absl::OkStatus();
  const std::vector<OfType> by_type = ByType(missing);
  std::vector<Answer> answers;
  VICINITY_RETURN_IF_ERROR(Ask(by_type, &answers));
  for (size_t begin = 0, end = 0; begin < answers.size(); begin = end) {
    const int32_t type = schema_.edge_types[answers[begin].edge_type].target_type;
    for (; end < answers.size(); ++end) {
      if (schema_.edge_types[answers[end].edge_type].target_type != type) break;
      VICINITY_RETURN_IF_ERROR(CheckAnswer(by_type[type], answers[end]));
    }
    AddLists(by_type[type], absl::MakeSpan(answers).subspan(begin, end - begin));
  }
  return absl::OkStatus();
}

absl::Status InLists::Ask(const std::vector<OfType>& by_type, std::vector<Answer>* answers) const {
  const std::vector<RelationRequest> requests = RequestsFor(by_type);
  std::vector<Neighbors> neighbors(requests.size());
  VICINITY_RETURN_IF_ERROR(
      sources_.neighbors->Sample(kPushHop, requests, absl::MakeSpan(neighbors)));
  for (size_t i = 0; i < requests.size(); ++i) {
    Answer& answer = answers->emplace_back();
    answer.edge_type = requests[i].edge_type.value;
    answer.neighbors = std::move(neighbors[i]);
    if (!IsWeighted(schema_, spec_, answer.edge_type)) continue;
    VICINITY_RETURN_IF_ERROR(sources_.weights->FindWeights(
        requests[i].edge_type, requests[i].targets, answer.neighbors, &answer.weights));
  }
  return absl::OkStatus();
}

absl::Status InLists::CheckAnswer(const OfType& nodes, const Answer& answer) const {
  const Neighbors& drawn = answer.neighbors;
  size_t total = 0;
  for (const uint32_t count : drawn.counts) total += count;
  const bool weighted = IsWeighted(schema_, spec_, answer.edge_type);
  if (drawn.counts.size() != nodes.ids.size() || drawn.sources.size() != total ||
      answer.weights.size() != (weighted ? total : 0)) {
    return absl::InternalError(
        absl::StrCat(drawn.counts.size(), " lists with ", drawn.sources.size(), " neighbours and ",
                     answer.weights.size(), " weights for ", nodes.ids.size(), " nodes"));
  }
  const int64_t num_nodes = book_.num_nodes({schema_.edge_types[answer.edge_type].source_type});
  for (const int64_t source : drawn.sources) {
    if (source >= 0 && source < num_nodes) continue;
    return absl::DataLossError(absl::StrCat("neighbour ", source, " of ", num_nodes, " nodes"));
  }
  for (const double weight : answer.weights) {
    if (weight >= 0 && std::isfinite(weight)) continue;
    return absl::DataLossError(
        absl::StrCat("weight ", weight, " of an edge of ", schema_.EdgeTypeName(answer.edge_type)));
  }
  return absl::OkStatus();
}

void InLists::AddLists(const OfType& nodes, absl::Span<Answer> answers) {
  const bool with_shares = !spec_.weighted_by.empty();
  for (size_t i = 0; i < nodes.places.size(); ++i) {
    List& list = lists_[nodes.places[i]];
    list.begin = static_cast<int64_t>(edges_.size());
    for (Answer& answer : answers) {
      const int32_t source_type = schema_.edge_types[answer.edge_type].source_type;
      const size_t end = answer.next + answer.neighbors.counts[i];
      for (; answer.next < end; ++answer.next) {
        edges_.push_back(numbers_.NumberOf(source_type, answer.neighbors.sources[answer.next]));
        if (!with_shares) continue;
        shares_.push_back(answer.weights.empty() ? 1 : answer.weights[answer.next]);
      }
    }
    if (with_shares && !MakeShares(list.begin)) {
      edges_.resize(list.begin);  // no edge that is ever taken
      shares_.resize(list.begin);
    }
    list.degree = static_cast<int64_t>(edges_.size()) - list.begin;
  }
}

bool InLists::MakeShares(int64_t begin) {
  double sum = 0;
  for (auto share = shares_.begin() + begin; share != shares_.end(); ++share) sum += *share;
  for (auto share = shares_.begin() + begin; share != shares_.end(); ++share) *share /= sum;
  return sum > 0;
}

// One seed's scores and residuals.
class SeedPush {
 public:
  SeedPush(int64_t seed, bool wide) : index_(wide) { Add({&seed, 1}, {}, 1); }

  // Positions of nodes that got residual since they were last asked for, in that order, as far as
  // it is at least `least`, which is what a node of one edge needs.
  std::vector<int32_t> TakeDue(double least) {
    std::vector<int32_t> due;
    for (const int32_t position : touched_) {
      is_touched_[position] = false;
      if (residuals_[position] >= least) due.push_back(position);
    }
    touched_.clear();
    return due;
  }

  int64_t number(int32_t position) const { return nodes_[position]; }
  double residual(int32_t position) const { return residuals_[position]; }

  // Moves `share` of a node's residual to its score; gives the rest, which is under way.
  double Settle(int32_t position, double share) {
    const double residual = std::exchange(residuals_[position], 0);
    scores_[position] += share * residual;
    return residual - share * residual;
  }

  // Gives these nodes so much residual: to each its share, or, without shares, to all as much.
  void Add(absl::Span<const int64_t> numbers, absl::Span<const double> shares, double residual) {
    const double equal = residual / static_cast<double>(numbers.size());
    positions_.resize(numbers.size());
    index_.FindOrAdd(numbers, &nodes_, positions_.data());
    scores_.resize(nodes_.size(), 0);
    residuals_.resize(nodes_.size(), 0);
    is_touched_.resize(nodes_.size(), false);
    for (size_t i = 0; i < positions_.size(); ++i) {
      const int32_t position = positions_[i];
      residuals_[position] += shares.empty() ? equal : shares[i] * residual;
      if (is_touched_[position]) continue;
      is_touched_[position] = true;
      touched_.push_back(position);
    }
  }

  double SumOfResiduals() const {
    double sum = 0;
    for (const double residual : residuals_) sum += residual;
    return sum;
  }

  // The first `top` nodes of the type, to where they go; room that is left stays as it is.
  void Take(const NodeNumbers& numbers, int32_t type, int64_t top, int64_t* nodes,
            double* scores) const {
    std::vector<int32_t> order;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (scores_[i] > 0 && numbers.TypeOf(nodes_[i]) == type) {
        order.push_back(static_cast<int32_t>(i));
      }
    }
    const auto num_taken = std::min(top, static_cast<int64_t>(order.size()));
    std::partial_sort(order.begin(), order.begin() + num_taken, order.end(),
                      [this](int32_t a, int32_t b) {
                        return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
                      });
    for (int64_t i = 0; i < num_taken; ++i) {
      nodes[i] = numbers.IdOf(nodes_[order[i]]);
      scores[i] = scores_[order[i]];
    }
  }

 private:
  NodeIndex index_;             // from numbers to positions
  std::vector<int64_t> nodes_;  // numbers, in the order of meeting
  std::vector<double> scores_;
  std::vector<double> residuals_;
  std::vector<bool> is_touched_;
  std::vector<int32_t> touched_;
  std::vector<int32_t> positions_;  // reused
};

// A node of a seed that pushes in this round.
struct Pusher {
  SeedPush* seed;
  int32_t position;
  int32_t place = 0;  // of its list
  double rest = 0;    // what it pushes on
};

// Those whose residual has reached the threshold, seed by seed.
absl::Status FindPushers(const PprSpec& spec, absl::Span<SeedPush> seeds, InLists* lists,
                         std::vector<Pusher>* pushers) {
  std::vector<int64_t> numbers;
  for (SeedPush& seed : seeds) {
    for (const int32_t position : seed.TakeDue(spec.eps)) {
      pushers->push_back({&seed, position});
      numbers.push_back(seed.number(position));
    }
  }
  std::vector<int32_t> places;
  VICINITY_RETURN_IF_ERROR(lists->FindDegrees(numbers, &places));
  size_t kept = 0;
  for (size_t i = 0; i < pushers->size(); ++i) {
    Pusher pusher = (*pushers)[i];
    pusher.place = places[i];
    const auto degree = static_cast<double>(lists->degree(pusher.place));
    if (pusher.seed->residual(pusher.position) < spec.eps * degree) continue;
    (*pushers)[kept++] = pusher;
  }
  pushers->erase(pushers->begin() + static_cast<int64_t>(kept), pushers->end());
  return absl::OkStatus();
}

// Pushes until no node of these seeds reaches the threshold.
absl::Status PushAll(const PprSpec& spec, absl::Span<SeedPush> seeds, InLists* lists) {
  for (;;) {
    lists->BeginRound();
    std::vector<Pusher> pushers;
    VICINITY_RETURN_IF_ERROR(FindPushers(spec, seeds, lists, &pushers));
    if (pushers.empty()) return absl::OkStatus();
    std::vector<int32_t> places;
    for (const Pusher& pusher : pushers) {
      if (lists->degree(pusher.place) > 0) places.push_back(pusher.place);
    }
    VICINITY_RETURN_IF_ERROR(lists->FetchLists(places));
    // All settle before any pushes: what comes in this round waits for the next.
    for (Pusher& pusher : pushers) {
      const bool stops = lists->degree(pusher.place) == 0;
      pusher.rest = pusher.seed->Settle(pusher.position, stops ? 1 : spec.alpha);
    }
    for (const Pusher& pusher : pushers) {
      if (lists->degree(pusher.place) == 0) continue;
      pusher.seed->Add(lists->list(pusher.place), lists->shares(pusher.place), pusher.rest);
    }
  }
}

// How many seeds are pushed together.
int64_t GroupSize(const PprSpec& spec, int64_t num_nodes, int64_t max_group_nodes) {
  const double most = std::min(1 / (spec.alpha * spec.eps) + 1, static_cast<double>(num_nodes) + 1);
  const auto fitting = static_cast<int64_t>(static_cast<double>(max_group_nodes) / most);
  return std::max<int64_t>(1, std::min(fitting, kMaxGroupSeeds));
}

}  // namespace

ForwardPush::ForwardPush(const Schema& schema, const Book& book, NeighborSource* source,
                         WeightSource* weights)
    : ForwardPush(schema, book, source, weights, Limits()) {}

ForwardPush::ForwardPush(const Schema& schema, const Book& book, NeighborSource* source,
                         WeightSource* weights, const Limits& limits)
    : schema_(schema), book_(book), source_(source), weights_(weights), limits_(limits) {}

absl::StatusOr<PprScores> ForwardPush::Rank(const PprSpec& spec, NodeTypeId seed_type,
                                            absl::Span<const int64_t> seeds) {
  const auto num_seeds = static_cast<int64_t>(seeds.size());
  const std::string problem = PprProblem(schema_, spec, seed_type.value, num_seeds);
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  for (const int64_t seed : seeds) {
    if (book_.Contains(seed_type, GlobalNode{seed})) continue;
    return absl::InvalidArgumentError(absl::StrCat("seed ", seed, " is not among the ",
                                                   book_.num_nodes(seed_type), " nodes of type ",
                                                   schema_.node_types[seed_type.value].name));
  }
  PprScores ranked;
  ranked.top = spec.top;
  ranked.nodes.assign(num_seeds * spec.top, -1);
  ranked.scores.assign(num_seeds * spec.top, 0);
  const int32_t type = spec.node_type >= 0 ? spec.node_type : seed_type.value;
  const NodeNumbers numbers(schema_, book_);
  InLists lists(schema_, book_, spec, numbers, {source_, weights_}, limits_.max_kept_edges);
  const int64_t size = GroupSize(spec, numbers.num_nodes(), limits_.max_group_nodes);
  for (int64_t begin = 0; begin < num_seeds; begin += size) {
    std::vector<SeedPush> group;
    for (int64_t i = begin; i < std::min(num_seeds, begin + size); ++i) {
      group.emplace_back(numbers.NumberOf(seed_type.value, seeds[i]), numbers.wide());
    }
    VICINITY_RETURN_IF_ERROR(PushAll(spec, absl::MakeSpan(group), &lists));
    for (const SeedPush& seed : group) {
      const auto row = static_cast<int64_t>(ranked.residuals.size()) * spec.top;
      seed.Take(numbers, type, spec.top, &ranked.nodes[row], &ranked.scores[row]);
      ranked.residuals.push_back(seed.SumOfResiduals());
    }
  }
  return ranked;
}

}  // namespace vicinity
