#include "sampler/one_hop.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/prefetch.h"
#include "proto/common/status.h"
#include "sampler/layer_chooser.h"
#include "sampler/position_chooser.h"
#include "sampler/rules/matching_edges.h"
#include "sampler/weighted_chooser.h"

namespace vicinity {
namespace {

// How many targets ahead memory is asked for: long enough to cover a miss, short enough to stay in
// L1.
constexpr size_t kOffsetsAhead = 12;

// Lists that are gone through are asked for, once their offsets have come, so far ahead.
constexpr size_t kListsAhead = 6;

// Weighted draws go over so many targets twice: first their attempts are drawn and memory is asked
// for what they fall on, then they are settled.
constexpr size_t kWeightedGroup = 16;

absl::Status CheckRequest(const EdgeTable& edges, absl::Span<const uint64_t> target_keys,
                          absl::Span<const uint64_t> rows, const OneHopOptions& options) {
  const int64_t fanout = options.fanout;
  if (fanout != kAllNeighbors && (fanout < 1 || fanout > kMaxFanout)) {
    return absl::InvalidArgumentError(absl::StrCat("fanout ", fanout, " is neither ", kAllNeighbors,
                                                   " nor in 1 .. ", kMaxFanout));
  }
  if (options.labor && (options.replace || options.last)) {
    return absl::InvalidArgumentError(
        "LABOR draws by chance and without replacement: neither the last edges nor with it");
  }
  if (options.matching != nullptr && (options.weighted || DrawsByLayer(options))) {
    return absl::InvalidArgumentError("draws among matching edges are uniform");
  }
  const size_t num_targets = edges.offsets.empty() ? 0 : edges.offsets.size() - 1;
  if (target_keys.size() != num_targets) {
    return absl::DataLossError(absl::StrCat("there are keys of ", target_keys.size(),
                                            " target nodes and edge lists of ", num_targets));
  }
  if (!options.trees.empty() && options.trees.size() != rows.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.trees.size(), " trees for ", rows.size(), " targets"));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= num_targets) {
      return absl::InvalidArgumentError(absl::StrCat("row ", rows[i], " (target ", i,
                                                     ") is not below ", num_targets,
                                                     ", the number of target nodes"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckArrays(const EdgeTable& edges, const OneHopOptions& options) {
  const int64_t num_edges = edges.sources.size();
  if (options.want_edge_ids && edges.edge_ids.size() != num_edges) {
    return absl::DataLossError(
        absl::StrCat("there are ", edges.edge_ids.size(), " edge ids of ", num_edges, " edges"));
  }
  if (options.weighted && edges.weights.size() != static_cast<size_t>(num_edges)) {
    return absl::InvalidArgumentError(absl::StrCat("draws by weight, and ", edges.weights.size(),
                                                   " of ", num_edges, " edges have one"));
  }
  return absl::OkStatus();
}

// Lists are short and many: nearly all of them are passed without a call.
bool NeedsCheck(const EdgeTable& edges, int64_t row, bool all) {
  return all || !edges.has_list(row);
}

absl::Status CheckList(const EdgeTable& edges, int64_t row, bool all) {
  if (!edges.has_list(row)) return edges.CheckList(row);
  if (all && edges.degree(row) > int64_t{UINT32_MAX}) {
    return absl::ResourceExhaustedError(
        absl::StrCat("row ", row, " has ", edges.degree(row), " neighbours"));
  }
  return absl::OkStatus();
}

// Turns positions into the ids that stand there, some way behind the choosing: by then the ids,
// asked for as soon as their positions are known, have arrived, and the choosing of others has
// filled the time.
template <typename Id>
class Gatherer {
 public:
  Gatherer(const Id* ids, const EdgeTable& edges, size_t num_targets, const OneHopOptions& options,
           Neighbors* out)
      : ids_(ids),
        edges_(edges),
        want_edge_ids_(options.want_edge_ids),
        want_edge_positions_(options.want_edge_positions),
        min_room_(MinRoom(num_targets, options.fanout)),
        out_(out),
        chosen_(out->sources.size()),
        gathered_(chosen_) {}

  // Room for so many more positions; it is zeros behind those that were Added.
  int64_t* Room(uint64_t count) {
    if (chosen_ + count > out_->sources.size()) {
      Resize(std::max(chosen_ + count, chosen_ + chosen_ / 2 + min_room_));
    }
    return out_->sources.data() + chosen_;
  }

  // Takes the positions that were written to the room.
  void Add(uint64_t count) {
    const int64_t* const positions = out_->sources.data() + chosen_;
    for (uint64_t i = 0; i < count; ++i) {
      PrefetchFarAhead(&ids_[positions[i]]);
      if (want_edge_ids_) PrefetchEdgeId(positions[i]);
    }
    chosen_ += count;
    if (chosen_ - gathered_ > 2 * kBehind) GatherUpTo(chosen_ - kBehind);
  }

  // DataLoss: what was gathered is not what the files should hold.
  absl::Status Finish() {
    GatherUpTo(chosen_);
    Resize(chosen_);
    return verified_;
  }

 private:
  static constexpr size_t kBehind = 64;
  static constexpr size_t kMinRoom = 4096;

  // Few targets need no more than they can have: room is filled with zeros first.
  static size_t MinRoom(size_t num_targets, int64_t fanout) {
    if (fanout == kAllNeighbors || num_targets >= kMinRoom) return kMinRoom;
    return std::min(kMinRoom, num_targets * static_cast<size_t>(fanout));
  }

  void Resize(size_t size) {
    out_->sources.resize(size);
    if (want_edge_ids_) out_->edge_ids.resize(size);
    if (want_edge_positions_) out_->edge_positions.resize(size);
  }

  void PrefetchEdgeId(int64_t position) const {
    const IdArray& ids = edges_.edge_ids;
    if (ids.narrow() != nullptr) {
      PrefetchFarAhead(ids.narrow() + position);
    } else {
      PrefetchFarAhead(ids.wide() + position);
    }
  }

  // A pass of its own, over no more than what is left to verify: files that are whole cost one
  // look each for all these positions.
  template <typename Ids>
  void Verify(VerifiedFile* file, const Ids* ids, const int64_t* begin, const int64_t* end) {
    if (file == nullptr || file->whole()) return;
    bool all = true;
    for (const int64_t* at = begin; at < end; ++at) {
      all = file->IsVerified(ids + *at, sizeof(Ids)) && all;
    }
    if (all) return;
    for (const int64_t* at = begin; at < end && verified_.ok(); ++at) {
      verified_ = file->Touch(ids + *at, sizeof(Ids));
    }
  }

  void VerifyUpTo(size_t end) {
    const int64_t* const positions = out_->sources.data();
    Verify(edges_.sources_file, ids_, positions + gathered_, positions + end);
    if (!want_edge_ids_) return;
    const IdArray& ids = edges_.edge_ids;
    if (ids.narrow() != nullptr) {
      Verify(edges_.edge_ids_file, ids.narrow(), positions + gathered_, positions + end);
    } else {
      Verify(edges_.edge_ids_file, ids.wide(), positions + gathered_, positions + end);
    }
  }

  void GatherUpTo(size_t end) {
    VerifyUpTo(end);
    int64_t* const values = out_->sources.data();
    if (want_edge_ids_) {
      for (size_t i = gathered_; i < end; ++i) out_->edge_ids[i] = edges_.edge_ids[values[i]];
    }
    if (want_edge_positions_) {
      std::copy(values + gathered_, values + end, out_->edge_positions.begin() + gathered_);
    }
    for (size_t i = gathered_; i < end; ++i) values[i] = static_cast<int64_t>(ids_[values[i]]);
    gathered_ = end;
  }

  const Id* const ids_;
  const EdgeTable& edges_;
  const bool want_edge_ids_;
  const bool want_edge_positions_;
  const size_t min_room_;
  Neighbors* const out_;
  size_t chosen_;    // in out_->sources: ids, then positions, then room
  size_t gathered_;  // how many of them are ids
  absl::Status verified_;
};

// What is drawn for: rows of the target type, their keys and trees.
struct Targets {
  absl::Span<const uint64_t> keys;  // of all nodes
  absl::Span<const uint64_t> rows;
  absl::Span<const uint32_t> trees;

  uint32_t tree(size_t i) const { return trees.empty() ? 0 : trees[i]; }
  // Asks memory for where row i's list begins, and its key.
  void Prefetch(const EdgeTable& edges, size_t i) const {
    if (i >= rows.size()) return;
    __builtin_prefetch(&edges.offsets[rows[i]]);
    __builtin_prefetch(&keys[rows[i]]);
  }
};

template <typename Id>
absl::Status SampleUniform(const EdgeTable& edges, const Targets& targets,
                           const OneHopOptions& options, Gatherer<Id>* gatherer, uint32_t* counts) {
  const bool all = options.fanout == kAllNeighbors;
  PositionChooser chooser(options.fanout, options.replace, options.stream);
  for (size_t i = 0; i < targets.rows.size(); ++i) {
    targets.Prefetch(edges, i + kOffsetsAhead);
    const uint64_t row = targets.rows[i];
    if (NeedsCheck(edges, row, all)) VICINITY_RETURN_IF_ERROR(CheckList(edges, row, all));
    const uint64_t degree = static_cast<uint64_t>(edges.degree(row));
    const uint64_t count = chooser.CountFor(degree);
    chooser.Choose(edges.offsets[row], degree, targets.keys[row], targets.tree(i),
                   gatherer->Room(count));
    gatherer->Add(count);
    counts[i] = static_cast<uint32_t>(count);
  }
  return absl::OkStatus();
}

// As SampleUniform where lists had none but the matching edges: the same words for the same numbers
// of edges, so the same draws.
template <typename Id>
absl::Status SampleMatching(const EdgeTable& edges, const Targets& targets,
                            const OneHopOptions& options, Gatherer<Id>* gatherer,
                            uint32_t* counts) {
  const MatchingEdges& matching = *options.matching;
  PositionChooser chooser(options.fanout, options.replace, options.stream);
  for (size_t i = 0; i < targets.rows.size(); ++i) {
    targets.Prefetch(edges, i + kOffsetsAhead);
    if (i + kListsAhead < targets.rows.size()) {
      const auto row = static_cast<int64_t>(targets.rows[i + kListsAhead]);
      if (edges.has_list(row)) matching.Prefetch(edges.begin(row));
    }
    const auto row = static_cast<int64_t>(targets.rows[i]);
    VICINITY_RETURN_IF_ERROR(CheckList(edges, row, options.fanout == kAllNeighbors));
    const int64_t begin = edges.begin(row);
    const MatchingEdges::Some some = matching.Among(begin, begin + edges.degree(row));
    const auto degree = static_cast<uint64_t>(some.count);
    const uint64_t count = chooser.CountFor(degree);
    int64_t* const room = gatherer->Room(count);
    chooser.Choose(0, degree, targets.keys[row], targets.tree(i), room);
    for (uint64_t k = 0; k < count; ++k) room[k] = matching.Select(some, room[k]);
    gatherer->Add(count);
    counts[i] = static_cast<uint32_t>(count);
  }
  return absl::OkStatus();
}

template <typename Id>
absl::Status SampleWeighted(const EdgeTable& edges, const Targets& targets,
                            const OneHopOptions& options, Gatherer<Id>* gatherer,
                            uint32_t* counts) {
  WeightedChooser chooser(options.fanout, options.replace, options.stream);
  std::array<WeightedList, kWeightedGroup> lists;
  std::array<WeightedChooser::Attempts, kWeightedGroup> attempts;
  for (size_t i = 0; i < kWeightedGroup; ++i) targets.Prefetch(edges, i);
  for (size_t first = 0; first < targets.rows.size(); first += kWeightedGroup) {
    const size_t size = std::min(kWeightedGroup, targets.rows.size() - first);
    for (size_t i = 0; i < size; ++i) {
      targets.Prefetch(edges, first + i + kWeightedGroup);
      const uint64_t row = targets.rows[first + i];
      VICINITY_RETURN_IF_ERROR(CheckList(edges, row, options.fanout == kAllNeighbors));
      const uint64_t begin = edges.offsets[row];
      lists[i] = {edges.weights.data() + begin, begin, static_cast<uint64_t>(edges.degree(row)),
                  targets.keys[row], targets.tree(first + i)};
      if (edges.weights_file != nullptr) {
        VICINITY_RETURN_IF_ERROR(
            edges.weights_file->Touch(lists[i].table, lists[i].degree * sizeof(AliasEntry)));
      }
      chooser.Prepare(lists[i], &attempts[i]);
    }
    for (size_t i = 0; i < size; ++i) {
      int64_t* const room = gatherer->Room(chooser.MostFor(lists[i].degree));
      const uint64_t count = chooser.Choose(lists[i], attempts[i], room);
      gatherer->Add(count);
      counts[first + i] = static_cast<uint32_t>(count);
    }
  }
  return absl::OkStatus();
}

// Asks memory for the beginning of row i's list: long ones follow of themselves.
template <typename Id>
void PrefetchList(const Id* ids, const EdgeTable& edges, const Targets& targets, size_t i) {
  if (i >= targets.rows.size()) return;
  if (!edges.has_list(static_cast<int64_t>(targets.rows[i]))) return;
  constexpr uint64_t kLine = 64 / sizeof(Id);
  const uint64_t begin = edges.offsets[targets.rows[i]];
  __builtin_prefetch(ids + begin);
  if (edges.offsets[targets.rows[i] + 1] > begin + kLine) __builtin_prefetch(ids + begin + kLine);
}

// Of a list that is read whole.
template <typename Id>
absl::Status VerifyList(const Id* ids, const EdgeTable& edges, uint64_t begin, uint64_t degree,
                        bool weighted) {
  if (edges.sources_file != nullptr) {
    VICINITY_RETURN_IF_ERROR(edges.sources_file->Touch(ids + begin, degree * sizeof(Id)));
  }
  if (!weighted || edges.weights_file == nullptr) return absl::OkStatus();
  return edges.weights_file->Touch(edges.weights.data() + begin, degree * sizeof(AliasEntry));
}

template <typename Id>
absl::Status SampleLabor(const Id* ids, const EdgeTable& edges, const Targets& targets,
                         const OneHopOptions& options, Gatherer<Id>* gatherer, uint32_t* counts) {
  LayerChooser chooser(options.fanout, options.stream);
  std::vector<uint64_t> units;
  for (size_t i = 0; i < targets.rows.size(); ++i) {
    targets.Prefetch(edges, i + kOffsetsAhead);
    PrefetchList(ids, edges, targets, i + kListsAhead);
    const uint64_t row = targets.rows[i];
    VICINITY_RETURN_IF_ERROR(CheckList(edges, row, false));
    const uint64_t begin = edges.offsets[row];
    const auto degree = static_cast<uint64_t>(edges.degree(row));
    VICINITY_RETURN_IF_ERROR(VerifyList(ids, edges, begin, degree, options.weighted));
    const absl::Span<const Id> sources(ids + begin, degree);
    int64_t* const room = gatherer->Room(chooser.MostFor(degree));
    uint64_t count = 0;
    if (options.weighted) {
      AliasUnits(edges.weights.subspan(begin, degree), &units);
      count = chooser.Choose(sources, units, room);
    } else {
      count = chooser.Choose(sources, room);
    }
    for (uint64_t k = 0; k < count; ++k) room[k] += static_cast<int64_t>(begin);
    gatherer->Add(count);
    counts[i] = static_cast<uint32_t>(count);
  }
  return absl::OkStatus();
}

template <typename Id>
absl::Status SampleRows(const Id* ids, const EdgeTable& edges, const Targets& targets,
                        const OneHopOptions& options, Neighbors* out) {
  Gatherer<Id> gatherer(ids, edges, targets.rows.size(), options, out);
  const size_t first = out->counts.size();
  out->counts.resize(first + targets.rows.size());
  uint32_t* const counts = out->counts.data() + first;
  for (size_t i = 0; i < kOffsetsAhead; ++i) targets.Prefetch(edges, i);
  VICINITY_RETURN_IF_ERROR(
      DrawsByLayer(options) ? SampleLabor(ids, edges, targets, options, &gatherer, counts)
      : options.weighted    ? SampleWeighted(edges, targets, options, &gatherer, counts)
      : options.matching    ? SampleMatching(edges, targets, options, &gatherer, counts)
                            : SampleUniform(edges, targets, options, &gatherer, counts));
  return gatherer.Finish();
}

}  // namespace

void Neighbors::Clear() {
  counts.clear();
  sources.clear();
  edge_ids.clear();
  edge_positions.clear();
  edge_times.clear();
}

NeighborsSize::NeighborsSize(const Neighbors& neighbors)
    : counts_(neighbors.counts.size()),
      sources_(neighbors.sources.size()),
      edge_ids_(neighbors.edge_ids.size()),
      edge_positions_(neighbors.edge_positions.size()),
      edge_times_(neighbors.edge_times.size()) {}

void NeighborsSize::Restore(Neighbors* neighbors) const {
  neighbors->counts.resize(counts_);
  neighbors->sources.resize(sources_);
  neighbors->edge_ids.resize(edge_ids_);
  neighbors->edge_positions.resize(edge_positions_);
  neighbors->edge_times.resize(edge_times_);
}

absl::Status SampleOneHop(const EdgeTable& edges, absl::Span<const uint64_t> target_keys,
                          absl::Span<const uint64_t> rows, const OneHopOptions& options,
                          Neighbors* out) {
  VICINITY_RETURN_IF_ERROR(CheckRequest(edges, target_keys, rows, options));
  VICINITY_RETURN_IF_ERROR(CheckArrays(edges, options));
  const Targets targets = {target_keys, rows, options.trees};
  if (edges.sources.narrow() != nullptr) {
    return SampleRows(edges.sources.narrow(), edges, targets, options, out);
  }
  return SampleRows(edges.sources.wide(), edges, targets, options, out);
}

}  // namespace vicinity
