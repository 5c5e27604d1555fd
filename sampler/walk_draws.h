// What the draws of a walk's step are known by, whoever makes it: the same words give the same
// walk.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/walk_spec.h"

namespace vicinity {

inline constexpr int64_t kMaxWalkRounds = 1 << 15;  // of one step

inline absl::Status NoneAccepted(int64_t node) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no edge of node ", node, " was accepted in ", kMaxWalkRounds, " rounds"));
}

// Apart from all hops of minibatches; each round of a step draws apart, too.
inline int HopOfStep(int64_t step, int64_t round = 0) {
  constexpr int kWalkHops = 1 << 30;
  return kWalkHops + static_cast<int>(round * (kMaxWalkLength + 1) + step);
}

// What is drawn along the edge type of a step: `amount` edges, with replacement.
inline DrawSpec DrawOfStep(const Schema& schema, const WalkSpec& spec, int64_t step,
                           int64_t amount = 1) {
  const EdgeTypeSpec& type = schema.edge_types[EdgeTypeOfStep(spec, step)];
  DrawSpec draw;
  draw.fanout = amount;
  draw.replace = true;
  draw.weighted = !spec.weighted_by.empty() && type.weight_column == spec.weighted_by;
  return draw;
}

// In the place of an edge type, for what is no draw of edges.
enum class WalkChance : int32_t { kEnd = -1, kAccept = -2 };

inline uint64_t StreamOf(const MinibatchDraw& draw, int hop, WalkChance chance) {
  DrawKey key;
  key.run_seed = draw.run_seed;
  key.epoch = draw.epoch;
  key.batch = draw.batch;
  key.hop = static_cast<uint32_t>(hop);
  key.edge_type = static_cast<int32_t>(chance);
  return StreamKey(key);
}

// In [0, 1), a multiple of 2^-53.
inline double Uniform(NodeDraws* draws) {
  return static_cast<double>(draws->Next64() >> 11) * 0x1p-53;
}

// node2vec's factors of an edge, as chances, of 2^32, to accept one that was drawn without them
// (rejection: KnightKing, SOSP 2019). An edge back may have a factor far above all others; of walks
// that have none, whose lists tell, the others' chances are larger for it. Which of the two it is
// depends on the graph alone, and the distribution is the same.
struct TurnBias {
  uint64_t back;   // to where the walk came from
  uint64_t near;   // to a neighbour of that
  uint64_t far;    // elsewhere
  uint64_t least;  // of the last two
  uint64_t most;   // of the last two

  TurnBias(const WalkSpec& spec, bool has_way_back) {
    const double others = std::max(1.0, 1 / spec.q);
    const double largest = has_way_back ? std::max(1 / spec.p, others) : others;
    back = Of32Bits(std::min(1.0, 1 / spec.p / largest));
    near = Of32Bits(1 / largest);
    far = Of32Bits(1 / spec.q / largest);
    least = std::min(near, far);
    most = std::max(near, far);
  }
  // Whether it matters if a walk has an edge back.
  static bool AsksForWayBack(const WalkSpec& spec) {
    return 1 / spec.p > std::max(1.0, 1 / spec.q);
  }
  // How many edges are drawn in a round: many walks accept one of the first few.
  int64_t Candidates(int64_t round) const {
    const int64_t first =
        std::clamp<int64_t>((int64_t{1} << 31) / static_cast<int64_t>(least), 4, 64);
    return round >= 3 ? kMostCandidates : std::min(kMostCandidates, first << (2 * round));
  }
  static constexpr int64_t kMostCandidates = 256;

 private:
  static uint64_t Of32Bits(double chance) {
    return static_cast<uint64_t>(std::llround(chance * 0x1p32));
  }
};

// Which walks end before a step, by their numbers.
class EndingWalks {
 public:
  EndingWalks(const WalkSpec& spec, const MinibatchDraw& draw, int64_t step)
      : chance_(spec.restart_prob), stream_(StreamOf(draw, HopOfStep(step), WalkChance::kEnd)) {}

  bool Has(uint32_t walk) const {
    if (chance_ == 0) return false;
    NodeDraws draws(stream_, walk);
    return Uniform(&draws) < chance_;
  }

 private:
  const double chance_;
  const uint64_t stream_;
};

}  // namespace vicinity
