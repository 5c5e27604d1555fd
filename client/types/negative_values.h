// Pairs of nodes that no edge joins, which a minibatch of links has beside them, as plain values.
//
// Public header: standard C++.
#pragma once

#include <cstdint>

namespace vicinity {

// Which negatives a minibatch of links has. The words are PyG's.
enum class NegativeMode : uint8_t {
  kNone,
  // Pairs of their own, both ends drawn: the seeds of a batch are the links' sources and targets,
  // then the negatives' sources and targets.
  kBinary,
  // Further targets for the source of every link: the seeds of a batch are the links' sources and
  // targets, then the targets drawn, first all those of the first link.
  kTriplet,
};

// Of links (client/types/seed_values.h). Nodes are drawn from the whole graph, whatever a trainer's
// home; which ones depends on run_seed, epoch, batch and the nodes' keys alone, so they are the
// same for any cut of the graph, any servers and threads.
struct NegativeOptions {
  NegativeMode mode = NegativeMode::kNone;
  // kBinary: so many pairs a link, the batch's sum rounded up. kTriplet: so many targets a link, a
  // whole number.
  double amount = 1;
  // No pair is an edge of the links' type in the graph that is served, and each that is none is as
  // likely as its nodes are: what an edge joins is drawn again. An edge that was held out of the
  // graph is no edge to it. Else pairs are taken as they are drawn, and some are edges.
  bool exact = true;
  // A target's chance goes by its in-degree along the links' edge type to this power: 0, all alike;
  // 0.75, as in word2vec. Above 0 a node without in-edges is never drawn. Sources of kBinary are
  // drawn uniformly.
  double degree_power = 0;
};

}  // namespace vicinity
