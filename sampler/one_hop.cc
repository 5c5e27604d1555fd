#include "sampler/one_hop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/sampling_spec.h"
#include "partition/shard.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// How far ahead memory is asked for: long enough to cover a miss, short enough to stay in L1.
constexpr size_t kOffsetsAhead = 12;
constexpr size_t kSourcesAhead = 24;

// Below this many draws a target, looking through those made so far beats any table.
constexpr int64_t kScanLimit = 32;

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

// Chooses positions of one list at a time.
class Chooser {
 public:
  Chooser(const OneHopOptions& options, std::vector<int64_t>* positions)
      : options_(options), positions_(positions) {}

  // Appends positions in [begin, begin + degree) and returns how many.
  uint32_t Choose(uint64_t begin, uint64_t degree, uint64_t key) {
    const bool all = options_.fanout == kAllNeighbors;
    if (degree == 0) return 0;
    if (all || (!options_.replace && degree <= static_cast<uint64_t>(options_.fanout))) {
      for (uint64_t i = 0; i < degree; ++i) positions_->push_back(begin + i);
      return static_cast<uint32_t>(degree);
    }
    NodeDraws draws(options_.stream, key);
    if (options_.replace) {
      for (int64_t i = 0; i < options_.fanout; ++i) {
        positions_->push_back(begin + draws.Below(degree));
      }
    } else if (options_.fanout <= kScanLimit) {
      FloydByScan(begin, degree, &draws);
    } else {
      FloydByTable(begin, degree, &draws);
    }
    return static_cast<uint32_t>(options_.fanout);
  }

 private:
  // Floyd (CACM 30(9), 1987): for j = d - k .. d - 1 take t, uniform over 0 .. j inclusive, or j
  // itself if t was taken. Every k-subset is equally likely, with k draws.
  void FloydByScan(uint64_t begin, uint64_t degree, NodeDraws* draws) {
    const size_t first = positions_->size();
    for (uint64_t j = degree - options_.fanout; j < degree; ++j) {
      const int64_t candidate = begin + draws->Below(j + 1);
      const auto chosen = positions_->begin() + first;
      const bool taken = std::find(chosen, positions_->end(), candidate) != positions_->end();
      positions_->push_back(taken ? begin + j : candidate);
    }
  }

  void FloydByTable(uint64_t begin, uint64_t degree, NodeDraws* draws) {
    taken_.clear();
    for (uint64_t j = degree - options_.fanout; j < degree; ++j) {
      int64_t position = begin + draws->Below(j + 1);
      if (!taken_.insert(position).second) {
        position = begin + j;
        taken_.insert(position);
      }
      positions_->push_back(position);
    }
  }

  const OneHopOptions& options_;
  std::vector<int64_t>* const positions_;
  absl::flat_hash_set<int64_t> taken_;
};

// The first pass: out->sources receives positions in the edge table.
absl::Status ChoosePositions(const EdgeTable& edges, absl::Span<const uint64_t> target_keys,
                             absl::Span<const uint64_t> rows, const OneHopOptions& options,
                             Neighbors* out) {
  const uint64_t num_edges = static_cast<uint64_t>(edges.sources.size());
  Chooser chooser(options, &out->sources);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kOffsetsAhead < rows.size()) {
      __builtin_prefetch(&edges.offsets[rows[i + kOffsetsAhead]]);
      __builtin_prefetch(&target_keys[rows[i + kOffsetsAhead]]);
    }
    const uint64_t begin = edges.offsets[rows[i]];
    const uint64_t end = edges.offsets[rows[i] + 1];
    if (begin > end || end > num_edges) {
      return absl::DataLossError(absl::StrCat("row ", rows[i], " has its edges at ", begin, " .. ",
                                              end, " of ", num_edges));
    }
    if (options.fanout == kAllNeighbors && end - begin > UINT32_MAX) {
      return absl::ResourceExhaustedError(
          absl::StrCat("row ", rows[i], " has ", end - begin, " neighbours"));
    }
    out->counts.push_back(chooser.Choose(begin, end - begin, target_keys[rows[i]]));
  }
  return absl::OkStatus();
}

// The second pass: positions become the ids that stand there.
template <typename Id>
void Gather(const Id* ids, absl::Span<const int64_t> positions, int64_t* out) {
  for (size_t i = 0; i < positions.size(); ++i) {
    if (i + kSourcesAhead < positions.size()) {
      __builtin_prefetch(&ids[positions[i + kSourcesAhead]]);
    }
    out[i] = static_cast<int64_t>(ids[positions[i]]);
  }
}

void Gather(const IdArray& ids, absl::Span<const int64_t> positions, int64_t* out) {
  if (ids.narrow() != nullptr) {
    Gather(ids.narrow(), positions, out);
  } else {
    Gather(ids.wide(), positions, out);
  }
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
  const size_t first = out->sources.size();
  out->counts.reserve(out->counts.size() + rows.size());
  VICINITY_RETURN_IF_ERROR(ChoosePositions(edges, target_keys, rows, options, out));
  const absl::Span<int64_t> chosen = absl::MakeSpan(out->sources).subspan(first);
  if (options.want_edge_ids) {
    const size_t first_id = out->edge_ids.size();
    out->edge_ids.resize(first_id + chosen.size());
    Gather(edges.edge_ids, chosen, out->edge_ids.data() + first_id);
  }
  Gather(edges.sources, chosen, chosen.data());
  return absl::OkStatus();
}

}  // namespace vicinity
