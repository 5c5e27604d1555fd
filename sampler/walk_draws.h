// What the draws of a walk's step are known by, whoever makes it: the same words give the same
// walk.
#pragma once

#include <cstdint>

#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/walk_spec.h"

namespace vicinity {

inline constexpr int64_t kMaxWalkRounds = 1 << 15;  // of one step

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
