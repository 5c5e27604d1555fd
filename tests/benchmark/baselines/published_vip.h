// The recurrence of Kaler et al. (MLSys 2023) as published, edge by edge in doubles: what
// cache/vip/vip.h began as, to be compared with.
#pragma once

#include <vector>

#include "cache/vip/seed_chances.h"
#include "cache/vip/vip.h"
#include "partition/dataset/dataset.h"

namespace vicinity::benchmark {

// What is mended in it, to tell what each difference is worth.
enum class Recurrence {
  // p_0 = B / |T|, p_h(u) = 1 - prod over v of (1 - t_h(v) p_(h-1)(v)), P = 1 - prod over h of
  // (1 - p_h), hop 0 counted: walks of exactly h steps.
  kPublished,
  // A node that is met is expanded in every later hop, and draws for edges that it may have drawn
  // before. Still every edge is independent of all others.
  kExpandedAgain,
};

// Scores of one node type and home, by global id; all types and edges of the dataset must be of it.
// Draws without replacement, every node expanded in each hop.
VipScores PublishedVip(const Dataset& dataset, const std::vector<HomeSeeds>& homes,
                       const VipOptions& options, Recurrence recurrence);

}  // namespace vicinity::benchmark
