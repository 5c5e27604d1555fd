#include "sampler/turns/mapped_turns.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/find_id.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/draw_words.h"
#include "sampler/one_hop.h"
#include "sampler/position_chooser.h"
#include "sampler/sampled_graph.h"
#include "sampler/walk_draws.h"
#include "sampler/weighted_chooser.h"

namespace vicinity {
namespace {

// How many walks ahead memory is asked for where lists begin, and for the lists.
constexpr size_t kOffsetsAhead = 16;
constexpr size_t kListsAhead = 8;

constexpr size_t kWalksBetweenLooks = 4096;

template <typename T>
absl::Status Touch(VerifiedFile* file, const T* begin, int64_t count) {
  if (file == nullptr || count == 0) return absl::OkStatus();
  return file->Touch(begin, static_cast<size_t>(count) * sizeof(T));
}

absl::Status TouchIds(VerifiedFile* file, const IdArray& ids, int64_t begin, int64_t count) {
  return ids.narrow() != nullptr ? Touch(file, ids.narrow() + begin, count)
                                 : Touch(file, ids.wide() + begin, count);
}

// A node's list, verified.
struct List {
  const EdgeTable* edges = nullptr;
  int64_t begin = 0;
  int64_t degree = 0;
  uint64_t key = 0;

  bool Has(int64_t source) const {
    const IdArray& ids = edges->sources;
    if (ids.wide() != nullptr) {
      return FindId(ids.wide() + begin, degree, static_cast<uint64_t>(source)) < degree;
    }
    return source <= int64_t{UINT32_MAX} &&
           FindId(ids.narrow() + begin, degree, static_cast<uint32_t>(source)) < degree;
  }
};

// Edges of which one is to be accepted, round by round: what a hop of WalkSampler's would draw, for
// one walk after the other.
class Rounds {
 public:
  Rounds(const Schema& schema, const WalkSpec& spec, const MinibatchDraw& draw, int64_t step,
         bool has_way_back)
      : schema_(schema), spec_(spec), draw_(draw), step_(step), bias_(spec, has_way_back) {}

  const TurnBias& bias() const { return bias_; }

  // The edges of a round: where they are, and how likely each is accepted.
  struct Candidates {
    uint64_t count = 0;  // 0: there is no edge to draw
    std::array<int64_t, TurnBias::kMostCandidates> positions;
    alignas(16) std::array<uint32_t, TurnBias::kMostCandidates> chances;
  };
  // Valid until the next call.
  const Candidates& Draw(int64_t round, const List& list, uint32_t walk) {
    while (static_cast<size_t>(round) >= rounds_.size()) {
      rounds_.emplace_back(*this, rounds_.size());
    }
    Round& of = rounds_[static_cast<size_t>(round)];
    const auto begin = static_cast<uint64_t>(list.begin);
    const auto degree = static_cast<uint64_t>(list.degree);
    int64_t* const positions = drawn_.positions.data();
    if (of.is_weighted) {
      const WeightedList weights = {list.edges->weights.data() + begin, begin, degree, list.key,
                                    walk};
      of.weighted.Prepare(weights, &attempts_);
      drawn_.count = of.weighted.Choose(weights, attempts_, positions);
    } else {
      drawn_.count = of.uniform.CountFor(degree);
      of.uniform.Choose(begin, degree, list.key, walk, positions);
    }
    if (drawn_.count > 0) {
      DrawWords(of.accept_stream, walk, /*tree=*/0, /*first_block=*/0, drawn_.count,
                drawn_.chances.data());
    }
    return drawn_;
  }

 private:
  struct Round {
    Round(const Rounds& rounds, size_t number)
        : Round(rounds,
                OptionsOf(rounds.schema_, rounds.draw_, Hop(rounds, number),
                          EdgeTypeId{EdgeTypeOfStep(rounds.spec_, rounds.step_)},
                          DrawOfStep(rounds.schema_, rounds.spec_, rounds.step_,
                                     rounds.bias_.Candidates(static_cast<int64_t>(number))),
                          EdgeDetail()),
                StreamOf(rounds.draw_, Hop(rounds, number), WalkChance::kAccept)) {}
    Round(const Rounds&, const OneHopOptions& options, uint64_t stream)
        : is_weighted(options.weighted),
          uniform(options.fanout, options.replace, options.stream),
          weighted(options.fanout, options.replace, options.stream),
          accept_stream(stream) {}
    static int Hop(const Rounds& rounds, size_t number) {
      return HopOfStep(rounds.step_, static_cast<int64_t>(number));
    }

    bool is_weighted;
    PositionChooser uniform;
    WeightedChooser weighted;
    uint64_t accept_stream;
  };

  const Schema& schema_;
  const WalkSpec& spec_;
  const MinibatchDraw& draw_;
  const int64_t step_;
  const TurnBias bias_;
  std::deque<Round> rounds_;
  WeightedChooser::Attempts attempts_;
  Candidates drawn_;
};

// One step of all walks.
class Step {
 public:
  Step(const Schema& schema, const Book& book, const MinibatchDraw& draw, const WalkSpec& spec,
       int64_t step, absl::Span<const MappedTurns::Lists> lists, bool want_edge_ids)
      : book_(book),
        lists_(lists),
        type_{NodeTypeOfWalk(schema, spec, step)},
        is_weighted_(DrawOfStep(schema, spec, step).weighted),
        asks_for_way_back_(TurnBias::AsksForWayBack(spec)),
        want_edge_ids_(want_edge_ids),
        without_way_back_(schema, spec, draw, step, false),
        with_way_back_(schema, spec, draw, step, true) {}

  absl::Status Take(uint32_t walk, int64_t node, int64_t from, Turn* turn) {
    *turn = Turn();
    List list;
    List before;
    VICINITY_RETURN_IF_ERROR(Read(node, is_weighted_, &list));
    VICINITY_RETURN_IF_ERROR(Read(from, false, &before));
    Rounds& rounds = asks_for_way_back_ && list.Has(from) ? with_way_back_ : without_way_back_;
    const TurnBias& bias = rounds.bias();
    for (int64_t round = 0; round < kMaxWalkRounds; ++round) {
      const Rounds::Candidates& drawn = rounds.Draw(round, list, walk);
      if (drawn.count == 0) return absl::OkStatus();
      for (uint64_t k = 0; k < drawn.count; ++k) {
        const int64_t position = drawn.positions[k];
        const int64_t source = list.edges->sources[position];
        const uint64_t chance = drawn.chances[k];
        const bool is_back = source == from;
        if (chance >= (is_back ? bias.back : bias.most)) continue;
        const bool is_sure = is_back || chance < bias.least;
        if (!is_sure && before.Has(source) != (bias.near > bias.far)) continue;
        return Settle(list, position, source, turn);
      }
    }
    return NoneAccepted(node);
  }

  // Asks memory for what Take will read of a node.
  void PrefetchOffsets(int64_t node) const {
    const auto [shard, row] = Find(node);
    const MappedTurns::Lists& lists = lists_[shard];
    if (row >= static_cast<uint64_t>(lists.edges->num_targets())) return;
    __builtin_prefetch(&lists.edges->offsets[row]);
    if (row < lists.keys.size()) __builtin_prefetch(&lists.keys[row]);
  }
  void PrefetchList(int64_t node) const {
    const auto [shard, row] = Find(node);
    const EdgeTable& edges = *lists_[shard].edges;
    if (row >= static_cast<uint64_t>(edges.num_targets())) return;
    const uint64_t begin = edges.offsets[row];
    if (begin >= static_cast<uint64_t>(edges.num_edges())) return;
    const IdArray& ids = edges.sources;
    const char* const at = ids.narrow() != nullptr
                               ? reinterpret_cast<const char*>(ids.narrow() + begin)
                               : reinterpret_cast<const char*>(ids.wide() + begin);
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
    if (is_weighted_ && begin < edges.weights.size()) {
      __builtin_prefetch(edges.weights.data() + begin);
    }
  }

 private:
  std::pair<size_t, uint64_t> Find(int64_t node) const {
    if (lists_.size() == 1) return {0, static_cast<uint64_t>(node)};
    const ShardId owner = book_.OwnerOf(type_, GlobalNode{node});
    return {static_cast<size_t>(owner.value),
            static_cast<uint64_t>(node - book_.First(type_, owner).value)};
  }

  absl::Status Read(int64_t node, bool weighted, List* list) const {
    const auto [shard, row] = Find(node);
    const MappedTurns::Lists& lists = lists_[shard];
    const EdgeTable& edges = *lists.edges;
    const auto num_targets = static_cast<uint64_t>(edges.num_targets());
    if (row >= num_targets || lists.keys.size() != num_targets) {
      return absl::DataLossError(absl::StrCat("node ", node, " is row ", row, " of ", num_targets,
                                              " lists and ", lists.keys.size(), " keys"));
    }
    const auto at = static_cast<int64_t>(row);
    if (!edges.has_list(at)) return edges.CheckList(at);
    *list = {&edges, edges.begin(at), edges.degree(at), lists.keys[row]};
    VICINITY_RETURN_IF_ERROR(
        TouchIds(edges.sources_file, edges.sources, list->begin, list->degree));
    if (!weighted) return absl::OkStatus();
    if (edges.weights.size() != static_cast<size_t>(edges.num_edges())) {
      return absl::InvalidArgumentError(absl::StrCat("draws by weight, and ", edges.weights.size(),
                                                     " of ", edges.num_edges(), " edges have one"));
    }
    return Touch(edges.weights_file, edges.weights.data() + list->begin, list->degree);
  }

  absl::Status Settle(const List& list, int64_t position, int64_t source, Turn* turn) const {
    const int64_t num_nodes = book_.num_nodes(type_);
    if (source < 0 || source >= num_nodes) {
      return absl::DataLossError(absl::StrCat("neighbour ", source, " of ", num_nodes, " nodes"));
    }
    turn->node = source;
    if (!want_edge_ids_) return absl::OkStatus();
    const EdgeTable& edges = *list.edges;
    if (edges.edge_ids.size() != edges.num_edges()) {
      return absl::DataLossError(absl::StrCat("there are ", edges.edge_ids.size(), " edge ids of ",
                                              edges.num_edges(), " edges"));
    }
    VICINITY_RETURN_IF_ERROR(TouchIds(edges.edge_ids_file, edges.edge_ids, position, 1));
    turn->edge_id = edges.edge_ids[position];
    return absl::OkStatus();
  }

  const Book& book_;
  const absl::Span<const MappedTurns::Lists> lists_;
  const NodeTypeId type_;
  const bool is_weighted_;
  const bool asks_for_way_back_;
  const bool want_edge_ids_;
  Rounds without_way_back_;
  Rounds with_way_back_;
};

}  // namespace

MappedTurns::MappedTurns(const Schema& schema, const Book& book, const MinibatchDraw& draw,
                         std::vector<const ShardReader*> readers, std::function<bool()> is_gone)
    : schema_(schema),
      book_(book),
      draw_(draw),
      readers_(std::move(readers)),
      is_gone_(std::move(is_gone)),
      rows_(readers_.size()),
      lists_(readers_.size()) {}

absl::StatusOr<bool> MappedTurns::Take(const WalkSpec& spec, int64_t step,
                                       absl::Span<const uint32_t> walks,
                                       absl::Span<const int64_t> nodes,
                                       absl::Span<const int64_t> previous, bool want_edge_ids,
                                       std::vector<Turn>* turns) {
  const EdgeTypeId edge_type{EdgeTypeOfStep(spec, step)};
  const NodeTypeId type{NodeTypeOfWalk(schema_, spec, step)};
  for (std::vector<uint64_t>& rows : rows_) rows.clear();
  for (size_t i = 0; i < walks.size(); ++i) {
    for (const int64_t node : {nodes[i], previous[walks[i]]}) {
      const ShardId owner = book_.OwnerOf(type, GlobalNode{node});
      rows_[owner.value].push_back(static_cast<uint64_t>(node - book_.First(type, owner).value));
    }
  }
  for (size_t s = 0; s < readers_.size(); ++s) {
    if (readers_[s]->ChangesLists(edge_type, rows_[s])) return false;
  }
  turns->resize(walks.size());
  VICINITY_RETURN_IF_ERROR(ReadLists(edge_type, type, 0, [&]() -> absl::Status {
    Step all(schema_, book_, draw_, spec, step, lists_, want_edge_ids);
    const size_t count = walks.size();
    for (size_t i = 0; i < count; ++i) {
      if (i % kWalksBetweenLooks == 0 && is_gone_()) {
        return absl::CancelledError("walking: cancelled");
      }
      if (i + kOffsetsAhead < count) all.PrefetchOffsets(nodes[i + kOffsetsAhead]);
      if (i + kListsAhead < count) all.PrefetchList(nodes[i + kListsAhead]);
      VICINITY_RETURN_IF_ERROR(all.Take(walks[i], nodes[i], previous[walks[i]], &(*turns)[i]));
    }
    return absl::OkStatus();
  }));
  num_made_ +=
      std::count_if(turns->begin(), turns->end(), [](const Turn& turn) { return turn.node >= 0; });
  return true;
}

absl::Status MappedTurns::ReadLists(EdgeTypeId type, NodeTypeId node_type, size_t shard,
                                    absl::FunctionRef<absl::Status()> read) {
  if (shard == readers_.size()) return read();
  return readers_[shard]->ReadLists(
      type, node_type, rows_[shard],
      [&](const EdgeTable& edges, absl::Span<const uint64_t> keys) -> absl::Status {
        lists_[shard] = {&edges, keys};
        return ReadLists(type, node_type, shard + 1, read);
      });
}

}  // namespace vicinity
