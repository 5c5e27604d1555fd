// What a home's minibatches begin with, and how likely each node is among it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"

namespace vicinity {

// The seeds of one home: nodes of one type, as global ids.
struct HomeSeeds {
  NodeTypeId type;
  std::vector<int64_t> nodes;
};

// Links that a home's batches are about: both ends of each are seeds, and so are nodes drawn for
// comparison ("negatives").
struct LinkSeeds {
  // Nodes of one type, rising, and of how many links each is an end; a loop counts once.
  struct Ends {
    NodeTypeId type;
    std::vector<int64_t> nodes;
    std::vector<int64_t> counts;
  };

  int64_t num_links = 0;
  std::vector<Ends> ends;  // one or two types
  // For every link of a batch so many draws, each node alike, with replacement, among the nodes of
  // a type, or those given.
  int64_t negatives_per_link = 0;
  NodeTypeId negative_type{0};
  std::vector<int64_t> negatives;  // empty: all of the type
};

// Which links they are, where they are all edges of one type in a dataset.
struct LinkEdges {
  EdgeTypeId type{-1};           // -1: they are no edges
  std::vector<int32_t> home_of;  // by target: whose links its edges are; -1: nobody's
};

// Counts the ends of links sources[i] - targets[i].
LinkSeeds CountEnds(NodeTypeId source_type, std::vector<int64_t> sources, NodeTypeId target_type,
                    std::vector<int64_t> targets);

// The chance that a batch has a node of one type as a seed.
struct SeedChances {
  NodeTypeId type;
  double others = 0;  // of nodes not listed
  std::vector<int64_t> nodes;
  std::vector<double> chances;
};

// c_0 of cache/vip/vip.h, exact for each node: for batches of min(batch_size, all) seeds or links,
// every choice equally likely. Empty for a home without seeds. InvalidArgument naming a node that
// is not in the book or given twice, an unknown type, or counts that no links have.
absl::StatusOr<std::vector<SeedChances>> ChancesOf(const HomeSeeds& seeds, int64_t batch_size,
                                                   const Book& book);
absl::StatusOr<std::vector<SeedChances>> ChancesOf(const LinkSeeds& seeds, int64_t batch_size,
                                                   const Book& book);

}  // namespace vicinity
