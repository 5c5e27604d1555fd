#include "sampler/one_hop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/sampling_spec.h"
#include "partition/shard.h"
#include "proto/common/status.h"
#include "sampler/position_chooser.h"

namespace vicinity {
namespace {

// How many targets ahead memory is asked for: long enough to cover a miss, short enough to stay in
// L1.
constexpr size_t kOffsetsAhead = 12;

absl::Status CheckRequest(const EdgeTable& edges, absl::Span<const uint64_t> target_keys,
                          absl::Span<const uint64_t> rows, int64_t fanout) {
  if (fanout != kAllNeighbors && (fanout < 1 || fanout > kMaxFanout)) {
    return absl::InvalidArgumentError(absl::StrCat("fanout ", fanout, " is neither ", kAllNeighbors,
                                                   " nor in 1 .. ", kMaxFanout));
  }
  const size_t num_targets = edges.offsets.empty() ? 0 : edges.offsets.size() - 1;
  if (target_keys.size() != num_targets) {
    return absl::DataLossError(absl::StrCat("there are keys of ", target_keys.size(),
                                            " target nodes and edge lists of ", num_targets));
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

absl::Status CheckList(const EdgeTable& edges, uint64_t row, bool all) {
  const uint64_t begin = edges.offsets[row];
  const uint64_t end = edges.offsets[row + 1];
  const uint64_t num_edges = static_cast<uint64_t>(edges.sources.size());
  if (begin > end || end > num_edges) {
    return absl::DataLossError(
        absl::StrCat("row ", row, " has its edges at ", begin, " .. ", end, " of ", num_edges));
  }
  if (all && end - begin > UINT32_MAX) {
    return absl::ResourceExhaustedError(
        absl::StrCat("row ", row, " has ", end - begin, " neighbours"));
  }
  return absl::OkStatus();
}

// Turns positions into the ids that stand there, some way behind the choosing: by then the ids,
// asked for as soon as their positions are known, have arrived, and the choosing of others has
// filled the time.
template <typename Id>
class Gatherer {
 public:
  Gatherer(const Id* ids, const EdgeTable& edges, bool want_edge_ids, Neighbors* out)
      : ids_(ids),
        edges_(edges),
        want_edge_ids_(want_edge_ids),
        out_(out),
        chosen_(out->sources.size()),
        gathered_(chosen_) {}

  // Room for so many more positions; it is zeros behind those that were Added.
  int64_t* Room(uint64_t count) {
    std::vector<int64_t>& sources = out_->sources;
    if (chosen_ + count > sources.size()) {
      const size_t size = std::max(chosen_ + count, chosen_ + chosen_ / 2 + kMinRoom);
      sources.resize(size);
      if (want_edge_ids_) out_->edge_ids.resize(size);
    }
    return sources.data() + chosen_;
  }

  // Takes the positions that were written to the room.
  void Add(uint64_t count) {
    const int64_t* const positions = out_->sources.data() + chosen_;
    for (uint64_t i = 0; i < count; ++i) {
      __builtin_prefetch(&ids_[positions[i]]);
      if (want_edge_ids_) PrefetchEdgeId(positions[i]);
    }
    chosen_ += count;
    if (chosen_ - gathered_ > 2 * kBehind) GatherUpTo(chosen_ - kBehind);
  }

  void Finish() {
    GatherUpTo(chosen_);
    out_->sources.resize(chosen_);
    if (want_edge_ids_) out_->edge_ids.resize(chosen_);
  }

 private:
  static constexpr size_t kBehind = 64;
  static constexpr size_t kMinRoom = 4096;

  void PrefetchEdgeId(int64_t position) const {
    const IdArray& ids = edges_.edge_ids;
    if (ids.narrow() != nullptr) {
      __builtin_prefetch(ids.narrow() + position);
    } else {
      __builtin_prefetch(ids.wide() + position);
    }
  }

  void GatherUpTo(size_t end) {
    int64_t* const values = out_->sources.data();
    if (want_edge_ids_) {
      for (size_t i = gathered_; i < end; ++i) out_->edge_ids[i] = edges_.edge_ids[values[i]];
    }
    for (size_t i = gathered_; i < end; ++i) values[i] = static_cast<int64_t>(ids_[values[i]]);
    gathered_ = end;
  }

  const Id* const ids_;
  const EdgeTable& edges_;
  const bool want_edge_ids_;
  Neighbors* const out_;
  size_t chosen_;    // in out_->sources: ids, then positions, then room
  size_t gathered_;  // how many of them are ids
};

template <typename Id>
absl::Status SampleRows(const Id* ids, const EdgeTable& edges,
                        absl::Span<const uint64_t> target_keys, absl::Span<const uint64_t> rows,
                        const OneHopOptions& options, Neighbors* out) {
  const bool all = options.fanout == kAllNeighbors;
  PositionChooser chooser(options.fanout, options.replace, options.stream);
  Gatherer<Id> gatherer(ids, edges, options.want_edge_ids, out);
  const size_t first = out->counts.size();
  out->counts.resize(first + rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kOffsetsAhead < rows.size()) {
      __builtin_prefetch(&edges.offsets[rows[i + kOffsetsAhead]]);
      __builtin_prefetch(&target_keys[rows[i + kOffsetsAhead]]);
    }
    VICINITY_RETURN_IF_ERROR(CheckList(edges, rows[i], all));
    const uint64_t degree = static_cast<uint64_t>(edges.degree(rows[i]));
    const uint64_t count = chooser.CountFor(degree);
    chooser.Choose(edges.offsets[rows[i]], degree, target_keys[rows[i]], gatherer.Room(count));
    gatherer.Add(count);
    out->counts[first + i] = static_cast<uint32_t>(count);
  }
  gatherer.Finish();
  return absl::OkStatus();
}

}  // namespace

void Neighbors::Clear() {
  counts.clear();
  sources.clear();
  edge_ids.clear();
}

absl::Status SampleOneHop(const EdgeTable& edges, absl::Span<const uint64_t> target_keys,
                          absl::Span<const uint64_t> rows, const OneHopOptions& options,
                          Neighbors* out) {
  VICINITY_RETURN_IF_ERROR(CheckRequest(edges, target_keys, rows, options.fanout));
  if (options.want_edge_ids && edges.edge_ids.size() != edges.sources.size()) {
    return absl::DataLossError(absl::StrCat("there are ", edges.edge_ids.size(), " edge ids of ",
                                            edges.sources.size(), " edges"));
  }
  if (edges.sources.narrow() != nullptr) {
    return SampleRows(edges.sources.narrow(), edges, target_keys, rows, options, out);
  }
  return SampleRows(edges.sources.wide(), edges, target_keys, rows, options, out);
}

}  // namespace vicinity
