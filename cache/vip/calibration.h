// Inclusion probabilities corrected by sampled batches: the formula is the prior, what batches
// needed the evidence.
//
// The VIP formula takes the ways that lead to a node as independent, and where they share edges its
// scores err, by another factor for every node. Counts alone tell the nodes that are needed often,
// and nothing of the many that a batch in a thousand needs. Together they are better than either.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace vicinity {

// In how many of some sampled batches each node was, for two halves of them, as many batches each.
struct UseCounts {
  std::array<std::vector<uint32_t>, 2> halves;  // by node
  int64_t num_batches = 0;                      // of both together
};

// Corrects one home's scores, of nodes of all types in one numbering. Empirical Bayes, linear
// (Bühlmann and Straub, 1970; Gelman et al., Bayesian Data Analysis, 3rd edition, section 2.7):
// among nodes of like score p the probability is c p on average, and varies by a factor of variance
// v around it; of n batches k need a node, with a variance of s c p n by chance. An epoch has every
// seed once, so s is below 1; the difference of the halves tells it, and k what is beyond chance,
// both of some hundred nodes of like score. The probability that is likeliest off by least is then
//
//   c p (s + v k) / (s + v c p n)
//
// cut to 1. Scores of 0 stay 0, and no score that is above it becomes 0.
//
// Cost: sorts the nodes with a score. Memory: 8 bytes for each of them.
void Calibrate(const UseCounts& counts, std::vector<float>* scores);

}  // namespace vicinity
