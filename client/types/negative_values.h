// Pairs of nodes that no edge joins, which a minibatch of links has beside them, as plain values.
//
// Public header: standard C++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  // What a target's chance goes by: one of these or NegativeWeights; none of them: all are alike.
  // `degree_power`: its in-degree along the links' edge type to this power (0.75, as in word2vec);
  // a node without in-edges is never drawn. `weight_column`: a column of its node type, with one
  // integer, float32 or float64 a row.
  double degree_power = 0;
  std::string weight_column;
  // Likewise of the sources of kBinary.
  std::string source_weight_column;
  // Of kTriplet: shares of each link's negatives, rounded down, that have the value which the
  // link's own target has in a column of its node type, one of up to 8 bytes a row: "topic=0.5,
  // language=0.25". They come first among the link's, in this order; the others, and with "" all,
  // have any. Where no such target is left that is an error of the batch.
  std::string same;
  // Of kTriplet. `shared`: all links have the same negatives, so that a batch brings `amount` nodes
  // for them and few more. The k-th of each link is the first of the k-th row of draws, one row for
  // all, to which no edge of its source leads; links part there alone, and none has an edge. A
  // link's chances are those without `shared`; what is no longer so is that two links' negatives
  // are independent. With `same`: of all links whose targets have the same value.
  bool shared = false;
  // `in_batch`: they are targets of the batch's links, drawn with replacement, each link's target
  // as likely as another's, so that a batch brings no nodes for them. A link of the batch is never
  // a negative in it, held out of the graph or not, nor with `exact` off. A link that has none
  // among them, as the only one of its batch, has negatives from the whole graph, all alike. Not
  // with degree_power, weight_column, weights of targets or `same`.
  bool in_batch = false;
};

// Weights that negatives are drawn by in the place of columns: one for each node of the type, in
// the order of Graph::NodesOf, which for dense ids is that of the ids. Empty: none.
//
// Weights, here and in columns, are finite, 0 or more and not all 0. A node's chance is its weight
// over the sum of all, as a whole number of units that are at most 2^-60; above 0 it is one unit at
// least. So integers up to 2^53 whose sum is up to 2^60 are exact. GraphOptions::wire_precision
// rounds columns of float32, weights too.
struct NegativeWeights {
  std::vector<double> targets;
  std::vector<double> sources;  // of kBinary
};

}  // namespace vicinity
