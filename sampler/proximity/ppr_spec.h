// Personalised PageRank: what is asked for, and what comes back.
//
// Standard C++ alone, since the client's public headers show it.
//
// A walker starts at a seed. Before each step it stops with chance alpha; else it takes an edge as
// walks do (sampler/walk_spec.h), from a node that edges lead to, to one that an edge comes from,
// all of them alike or by weight. Where there is no edge to take it stops, too. ppr(v) is the
// chance that it stops at v; that of all nodes sums up to 1.
//
// Forward push (Andersen, Chung and Lang, FOCS 2006) finds it from below. A part of the walker's
// chance, the residual, is still under way when it ends; PprScores has the sum of that. On any
// graph score(v) <= ppr(v) <= score(v) + residual, and the differences ppr(v) - score(v) of all
// nodes sum up to the residual. Where every edge also leads back, and all are alike, ppr(v) -
// score(v) is at most eps times the in-degree of v: the paper's bound, whose proof needs walks that
// can be turned round. Elsewhere the residual is the bound, and a smaller eps makes it smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity {

struct PprSpec {
  // Edge types that walkers take. Where several lead to nodes of one type, edges of all of them are
  // alike. Empty: all of the graph.
  std::vector<int32_t> edge_types{};
  // Of edge types whose weight column has this name an edge counts as its weight, others as 1; one
  // of weight 0 is never taken. Empty: all count as 1.
  std::string weighted_by{};
  double alpha = 0.15;  // chance to stop, above 0 and below 1
  // A node's residual is pushed on when it is at least eps x in-degree: above 0, at most 1. For one
  // seed at most 1 / (alpha x eps) edges are followed, on however large a graph.
  double eps = 1e-4;
  int64_t top = 0;  // nodes of each seed, at least 1
  // Of this type are the nodes that come back; -1: of the type of the seeds.
  int32_t node_type = -1;
  // Of a longer list of an edge type so many edges are drawn, once and for all by the draw, and ppr
  // is that of the graph with these; kAllNeighbors: lists are whole.
  int64_t max_neighbors = kAllNeighbors;
};

struct PprScores {
  int64_t top = 0;
  // Both [number of seeds, top]. Global ids, the highest score first, of equals the one that the
  // push met first; -1 behind them. The seed itself is among them.
  std::vector<int64_t> nodes;
  std::vector<double> scores;     // 0 behind them
  std::vector<double> residuals;  // of each seed
};

// Limits that every entry point enforces.
inline constexpr double kLeastPprShare = 1e-7;             // alpha x eps
inline constexpr int64_t kMaxPprNodes = int64_t{1} << 27;  // of all seeds, rows' -1 included

// Whether edges of the type count as their weights.
inline bool IsWeighted(const Schema& schema, const PprSpec& spec, int32_t edge_type) {
  return !spec.weighted_by.empty() &&
         schema.edge_types[edge_type].weight_column == spec.weighted_by;
}

// The edge types that are followed, in the order in which their lists are.
std::vector<int32_t> FollowedTypes(const Schema& schema, const PprSpec& spec);

// Empty if the spec fits the schema and so many seeds of this type, which exists; else what is
// wrong, with the value.
std::string PprProblem(const Schema& schema, const PprSpec& spec, int32_t seed_type,
                       int64_t num_seeds);

}  // namespace vicinity
