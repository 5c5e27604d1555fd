#include "client/negatives/negative_sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/shards/lookups.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Where draws of hops have the hop's number; UINT32_MAX is that of shuffling
// (client/loading/seed_schedule.cc).
constexpr uint32_t kNegativesHop = UINT32_MAX - 1;
constexpr uint32_t kTries = 32;
// Tries that are looked at together where few pairs are left cost less than another call; of many
// pairs they are a sixteenth of the first.
constexpr size_t kTriesAtOnce = 64;
// Trees of the draws that follow those.
constexpr uint32_t kAllTree = kTries;

constexpr double kMostAmount = 1 << 20;
constexpr double kMostPower = 16;
constexpr double kMostPairs = 1 << 27;  // of a batch
constexpr double kShareSlack = 1e-9;    // 0.3 x 10 is 3
// Pairs that are gone through for one node, or for a batch of kBinary; and at a time.
constexpr int64_t kMostGoneThrough = int64_t{1} << 24;
constexpr int64_t kBlock = int64_t{1} << 16;
// Those, for each negative that is wanted of them.
constexpr int64_t kMostDraws = int64_t{1} << 28;

// Of Exp(1): the least of several divided by their chances is each one's by its chance.
double DrawExponential(NodeDraws* draws) {
  return -std::log1p(-std::ldexp(static_cast<double>(draws->Next64() >> 11), -53));
}

// By what one end of a pair is drawn.
absl::StatusOr<CandidateNodes> Candidates(const ShardRouter& router, NodeTypeId type,
                                          const std::string& weight_column,
                                          const std::vector<double>& weights) {
  if (!weights.empty()) return CandidateNodes::ByWeights(router, type, weights);
  if (!weight_column.empty()) return CandidateNodes::ByColumn(router, type, weight_column);
  return CandidateNodes::Uniform(router, type);
}

// As NegativesProblem.
std::string WeightsProblem(const NegativeOptions& options, const NegativeWeights& weights) {
  const bool of_sources = !weights.sources.empty() || !options.source_weight_column.empty();
  if (of_sources && options.mode == NegativeMode::kTriplet) {
    return "negatives have weights of sources, and triplets draw targets alone";
  }
  std::vector<std::string> given;
  if (options.in_batch) given.emplace_back("negatives.in_batch");
  if (options.degree_power > 0) {
    given.push_back(absl::StrCat("negatives.degree_power ", options.degree_power));
  }
  if (!options.weight_column.empty()) {
    given.push_back(absl::StrCat("negatives.weight_column ", options.weight_column));
  }
  if (!weights.targets.empty()) given.emplace_back("a list of weights");
  if (given.size() > 1) {
    return absl::StrCat("targets of negatives go by ", absl::StrJoin(given, " and by "),
                        ": give one of them");
  }
  if (weights.sources.empty() || options.source_weight_column.empty()) return "";
  return absl::StrCat("sources of negatives go by negatives.source_weight_column ",
                      options.source_weight_column, " and by a list of weights: give one of them");
}

}  // namespace

std::string NegativesProblem(const NegativeOptions& options, const NegativeWeights& weights) {
  const bool whole = options.amount == std::floor(options.amount);
  if (!(options.amount > 0) || options.amount > kMostAmount) {
    return absl::StrCat("negatives.amount ", options.amount, " is not above 0 and at most ",
                        kMostAmount);
  }
  if (options.mode == NegativeMode::kTriplet && !whole) {
    return absl::StrCat("negatives.amount ", options.amount,
                        " is not a whole number, as triplets need");
  }
  if (options.mode != NegativeMode::kTriplet && (options.shared || options.in_batch)) {
    return absl::StrCat("negatives.", options.shared ? "shared" : "in_batch",
                        " is of mode triplet: pairs of mode binary have sources of their own");
  }
  if (!(options.degree_power >= 0) || options.degree_power > kMostPower) {
    return absl::StrCat("negatives.degree_power ", options.degree_power, " is not from 0 to ",
                        kMostPower);
  }
  return WeightsProblem(options, weights);
}

absl::StatusOr<std::vector<SameValue>> ParseSame(const std::string& text) {
  std::vector<SameValue> same;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> sides = absl::StrSplit(part, '=');
    SameValue each;
    each.column = std::string(absl::StripAsciiWhitespace(sides.front()));
    if (sides.size() != 2 || each.column.empty() || !absl::SimpleAtod(sides.back(), &each.share)) {
      return absl::InvalidArgumentError(
          absl::StrCat("negatives.same \"", text,
                       "\" is no list of columns and shares: topic=0.5, language=0.25"));
    }
    same.push_back(std::move(each));
  }
  return same;
}

NegativeSampler::NegativeSampler(const ShardRouter& router, EdgeTypeId edge_type,
                                 const NegativeOptions& options,
                                 std::optional<CandidateNodes> sources, CandidateNodes targets)
    : router_(router),
      edge_type_(edge_type),
      options_(options),
      targets_(std::move(targets)),
      own_sources_(std::move(sources)),
      sources_(own_sources_.has_value() ? *own_sources_ : targets_) {}

absl::StatusOr<std::unique_ptr<NegativeSampler>> NegativeSampler::Make(
    const ShardRouter& router, EdgeTypeId edge_type, const NegativeOptions& options,
    const NegativeWeights& weights, const std::vector<SameValue>& same) {
  if (const std::string problem = NegativesProblem(options, weights); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  const EdgeTypeSpec& spec = router.schema().edge_types[edge_type.value];
  VICINITY_ASSIGN_OR_RETURN(CandidateNodes targets,
                            options.degree_power > 0
                                ? CandidateNodes::ByDegree(router, edge_type, options.degree_power)
                                : Candidates(router, NodeTypeId{spec.target_type},
                                             options.weight_column, weights.targets));
  const bool uniform = options.degree_power == 0 && options.weight_column.empty() &&
                       weights.targets.empty() && options.source_weight_column.empty() &&
                       weights.sources.empty();
  // Those of triplets are the links'.
  const bool alike =
      options.mode == NegativeMode::kTriplet || (uniform && spec.source_type == spec.target_type);
  std::optional<CandidateNodes> sources;
  if (!alike) {
    VICINITY_ASSIGN_OR_RETURN(sources, Candidates(router, NodeTypeId{spec.source_type},
                                                  options.source_weight_column, weights.sources));
  }
  std::unique_ptr<NegativeSampler> sampler(
      new NegativeSampler(router, edge_type, options, std::move(sources), std::move(targets)));
  VICINITY_RETURN_IF_ERROR(sampler->AddShares(same));
  return sampler;
}

absl::Status NegativeSampler::AddShares(const std::vector<SameValue>& same) {
  if (!same.empty() && draws_sources()) {
    return absl::InvalidArgumentError(
        "negatives that share a value with a link's target are triplets");
  }
  if (!same.empty() && options_.in_batch) {
    return absl::InvalidArgumentError(
        "negatives.in_batch draws from the targets of a batch's links, whatever their values: "
        "leave out negatives.same, or draw from the whole graph");
  }
  double sum = 0;
  for (const SameValue& each : same) {
    sum += each.share;
    if (each.share > 0 && sum <= 1 + kShareSlack) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the share ", each.share, " of negatives with the same ", each.column,
                     ": above 0, and of all columns together at most 1"));
  }
  int64_t end = 0;
  for (const SameValue& each : same) {
    VICINITY_ASSIGN_OR_RETURN(ValuePools pools,
                              ValuePools::Make(router_, targets_, each.column, StartOperation()));
    end += static_cast<int64_t>(each.share * options_.amount + kShareSlack);
    shares_.push_back({std::move(pools), end});
  }
  return absl::OkStatus();
}

absl::Status NegativeSampler::FindPools(absl::Span<const int64_t> targets,
                                        const CallContext& context, Pairs* pairs) const {
  pairs->pools.assign(pairs->targets.size(), &targets_);
  const auto each = static_cast<int64_t>(options_.amount);
  int64_t begin = 0;
  for (const Share& share : shares_) {
    VICINITY_ASSIGN_OR_RETURN(const std::vector<const CandidateNodes*> pools,
                              share.pools.PoolsOf(targets, context));
    for (size_t link = 0; link < targets.size(); ++link) {
      if (begin < share.end && pools[link] == nullptr) {
        return absl::FailedPreconditionError(
            absl::StrCat("none of the nodes that negatives are drawn from has the value of node ",
                         UserIdText(router_, targets_.type(), targets[link]), " in column ",
                         share.pools.column()));
      }
      const auto first = pairs->pools.begin() + static_cast<int64_t>(link) * each;
      std::fill(first + begin, first + share.end, pools[link]);
    }
    begin = share.end;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TypedSeeds>> NegativeSampler::Draw(
    absl::Span<const int64_t> sources, const MinibatchDraw& draw, const CallContext& context,
    absl::Span<const int64_t> targets) const {
  DrawKey key;
  key.run_seed = draw.run_seed;
  key.epoch = draw.epoch;
  key.batch = draw.batch;
  key.hop = kNegativesHop;
  key.edge_type = edge_type_.value;
  Batch batch{StreamKey(key), context, {}};
  if ((options_.in_batch || !shares_.empty()) && targets.size() != sources.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "negatives of equal values, or of the batch, need each link's own target: there are ",
        sources.size(), " sources and ", targets.size(), " targets"));
  }
  VICINITY_ASSIGN_OR_RETURN(Pairs pairs, StartPairs(sources));
  VICINITY_RETURN_IF_ERROR(FindPools(targets, context, &pairs));
  std::vector<uint32_t> left(pairs.targets.size());
  std::iota(left.begin(), left.end(), 0);
  if (options_.in_batch) {
    for (size_t i = 0; i < sources.size(); ++i) batch.links.emplace(sources[i], targets[i]);
    const CandidateNodes of_links = CandidateNodes::Given(router_, targets_.type(), targets);
    std::fill(pairs.pools.begin(), pairs.pools.end(), &of_links);
    VICINITY_RETURN_IF_ERROR(Settle(batch, &left, &pairs));
    std::fill(pairs.pools.begin(), pairs.pools.end(), &targets_);
  }
  VICINITY_RETURN_IF_ERROR(Settle(batch, &left, &pairs));
  if (!left.empty()) {
    const uint32_t pair = left.front();
    const absl::Span<const int64_t> source = absl::MakeConstSpan(pairs.sources).subspan(pair, 1);
    return absl::FailedPreconditionError(absl::StrCat(
        "there is no negative of ",
        Describe(draws_sources() ? absl::Span<const int64_t>() : source, *pairs.pools[pair])));
  }
  std::vector<TypedSeeds> lists;
  if (draws_sources()) {
    const NodeTypeId type{router_.schema().edge_types[edge_type_.value].source_type};
    lists.push_back({type, std::move(pairs.sources)});
  }
  lists.push_back({targets_.type(), std::move(pairs.targets)});
  return lists;
}

absl::StatusOr<NegativeSampler::Pairs> NegativeSampler::StartPairs(
    absl::Span<const int64_t> sources) const {
  const double count = std::ceil(static_cast<double>(sources.size()) * options_.amount);
  if (count > kMostPairs) {
    return absl::InvalidArgumentError(absl::StrCat(sources.size(), " links with ", options_.amount,
                                                   " negatives each are more than ", kMostPairs));
  }
  Pairs pairs;
  pairs.targets.resize(static_cast<size_t>(count));
  pairs.sources.resize(pairs.targets.size());
  if (draws_sources() || sources.empty()) return pairs;
  const size_t each = pairs.targets.size() / sources.size();
  for (size_t i = 0; i < pairs.sources.size(); ++i) pairs.sources[i] = sources[i / each];
  return pairs;
}

uint32_t NegativeSampler::RowOf(uint32_t pair) const {
  return options_.shared ? pair % static_cast<uint32_t>(options_.amount) : pair;
}

absl::Status NegativeSampler::Settle(const Batch& batch, std::vector<uint32_t>* left,
                                     Pairs* pairs) const {
  const size_t at_once = std::max(kTriesAtOnce, left->size() / 16);
  for (uint32_t number = 0, num_tries = 1; number < kTries && !left->empty(); number += num_tries) {
    num_tries =
        static_cast<uint32_t>(std::clamp<size_t>(at_once / left->size(), 1, kTries - number));
    VICINITY_ASSIGN_OR_RETURN(const Pairs tries,
                              DrawTries(*left, batch, number, num_tries, *pairs));
    VICINITY_RETURN_IF_ERROR(TakeFirst(tries, num_tries, batch, left, pairs));
  }
  return left->empty() ? absl::OkStatus() : GoThroughAll(batch, left, pairs);
}

absl::StatusOr<NegativeSampler::Pairs> NegativeSampler::DrawTries(absl::Span<const uint32_t> which,
                                                                  const Batch& batch,
                                                                  uint32_t number,
                                                                  uint32_t num_tries,
                                                                  const Pairs& pairs) const {
  Pairs places;
  Pairs tries;
  const size_t count = which.size() * num_tries;
  places.targets.reserve(count);
  (draws_sources() ? places : tries).sources.reserve(count);
  for (const uint32_t pair : which) {
    for (uint32_t i = 0; i < num_tries; ++i) {
      NodeDraws draws(batch.stream, RowOf(pair), number + i);
      if (draws_sources()) {
        places.sources.push_back(sources_.Draw(&draws));
      } else {
        tries.sources.push_back(pairs.sources[pair]);
      }
      places.targets.push_back(pairs.pools[pair]->Draw(&draws));
    }
  }
  if (count > 0 && pairs.pools[which.front()]->listed().empty()) {  // then all have this pool
    VICINITY_ASSIGN_OR_RETURN(tries.targets, targets_.NodesAt(places.targets, batch.context));
  } else {  // apart from the drawing, so that memory is read from many places at once
    tries.targets = std::move(places.targets);
    for (size_t k = 0; k < count; ++k) {
      const CandidateNodes& pool = *pairs.pools[which[k / num_tries]];
      tries.targets[k] = pool.listed()[tries.targets[k]];
    }
  }
  if (!draws_sources()) return tries;
  VICINITY_ASSIGN_OR_RETURN(tries.sources, sources_.NodesAt(places.sources, batch.context));
  return tries;
}

absl::StatusOr<std::vector<bool>> NegativeSampler::AreJoined(absl::Span<const int64_t> sources,
                                                             absl::Span<const int64_t> targets,
                                                             const Batch& batch) const {
  std::vector<bool> joined(sources.size());
  bool all = true;
  for (size_t i = 0; i < sources.size() && !batch.links.empty(); ++i) {
    joined[i] = batch.links.contains(std::make_pair(sources[i], targets[i]));
    all = all && joined[i];
  }
  if (!options_.exact || (all && !batch.links.empty())) return joined;
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> edges,
                            EdgeIdsOf(router_, edge_type_, sources, targets, batch.context));
  for (size_t i = 0; i < edges.size(); ++i) joined[i] = joined[i] || edges[i] >= 0;
  return joined;
}

absl::Status NegativeSampler::TakeFirst(const Pairs& tries, uint32_t num_tries, const Batch& batch,
                                        std::vector<uint32_t>* left, Pairs* pairs) const {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<bool> joined,
                            AreJoined(tries.sources, tries.targets, batch));
  std::vector<uint32_t> without;
  for (size_t i = 0; i < left->size(); ++i) {
    size_t at = i * num_tries;
    const size_t end = at + num_tries;
    while (at < end && joined[at]) ++at;
    if (at == end) {
      without.push_back((*left)[i]);
      continue;
    }
    pairs->sources[(*left)[i]] = tries.sources[at];
    pairs->targets[(*left)[i]] = tries.targets[at];
  }
  *left = std::move(without);
  return absl::OkStatus();
}

absl::Status NegativeSampler::GoThroughAll(const Batch& batch, std::vector<uint32_t>* left,
                                           Pairs* pairs) const {
  const std::vector<uint32_t> which = std::exchange(*left, {});
  if (draws_sources()) {
    if (sources_.size() > kMostGoneThrough / targets_.size()) return TooMany({}, targets_);
    std::vector<int64_t> places(sources_.size());
    std::iota(places.begin(), places.end(), 0);
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> sources,
                              sources_.NodesAt(places, batch.context));
    VICINITY_ASSIGN_OR_RETURN(const bool found, PickFrom(sources, targets_, which, batch, pairs));
    if (!found) *left = which;
    return absl::OkStatus();
  }
  std::map<std::pair<int64_t, const CandidateNodes*>, std::vector<uint32_t>> alike;
  for (const uint32_t pair : which) {
    alike[{pairs->sources[pair], pairs->pools[pair]}].push_back(pair);
  }
  for (const auto& [ends, of_both] : alike) {
    VICINITY_ASSIGN_OR_RETURN(const bool found,
                              PickFrom({ends.first}, *ends.second, of_both, batch, pairs));
    if (!found) left->insert(left->end(), of_both.begin(), of_both.end());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> NegativeSampler::PickFrom(absl::Span<const int64_t> sources,
                                               const CandidateNodes& pool,
                                               absl::Span<const uint32_t> which, const Batch& batch,
                                               Pairs* pairs) const {
  const int64_t num_targets = pool.size();
  const int64_t count = static_cast<int64_t>(sources.size()) * num_targets;
  if (count > kMostGoneThrough || count > kMostDraws / static_cast<int64_t>(which.size())) {
    return TooMany(sources, pool);
  }
  std::vector<double> least(which.size(), std::numeric_limits<double>::infinity());
  for (int64_t first = 0; first < count; first += kBlock) {
    std::vector<int64_t> places;
    std::vector<int64_t> starts;
    for (int64_t at = first; at < std::min(count, first + kBlock); ++at) {
      starts.push_back(sources[at / num_targets]);
      places.push_back(at % num_targets);
    }
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, pool.NodesAt(places, batch.context));
    VICINITY_ASSIGN_OR_RETURN(const std::vector<bool> joined, AreJoined(starts, ends, batch));
    for (size_t i = 0; i < places.size(); ++i) {
      const double chance = pool.chance(places[i]);
      if (joined[i] || chance <= 0) continue;
      const auto candidate = static_cast<uint64_t>(first) + i;
      for (size_t k = 0; k < which.size(); ++k) {
        NodeDraws draws(batch.stream, candidate, kAllTree + RowOf(which[k]));
        const double value = DrawExponential(&draws) / chance;
        if (value >= least[k]) continue;
        least[k] = value;
        pairs->sources[which[k]] = starts[i];
        pairs->targets[which[k]] = ends[i];
      }
    }
  }
  return !std::isinf(least.front());
}

absl::Status NegativeSampler::TooMany(absl::Span<const int64_t> sources,
                                      const CandidateNodes& pool) const {
  return absl::ResourceExhaustedError(
      absl::StrCat(kTries, " draws found no negative, and too many are left to go through, of ",
                   Describe(sources, pool)));
}

std::string NegativeSampler::Describe(absl::Span<const int64_t> sources,
                                      const CandidateNodes& pool) const {
  const Schema& schema = router_.schema();
  const EdgeTypeSpec& spec = schema.edge_types[edge_type_.value];
  const std::string& source_type = schema.node_types[spec.source_type].name;
  return absl::StrCat(
      sources.size() == 1
          ? absl::StrCat("node ", sources.front(), " (a global id) of ", source_type)
          : absl::StrCat("any node of ", source_type),
      ", among ", pool.size(), " nodes of ", schema.node_types[spec.target_type].name,
      &pool == &targets_ ? "" : " that share a value,",
      targets_.are_alike()        ? ""
      : options_.degree_power > 0 ? ", those with in-edges,"
                                  : ", those with a weight above 0,",
      " and edges of type ", schema.EdgeTypeName(edge_type_.value),
      "; with negatives.exact off edges are taken, too");
}

}  // namespace vicinity
