// Draws from lists that some edges are left out of, without a copy of them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/one_hop.h"
#include "sampler/owner_groups.h"
#include "sampler/position_chooser.h"
#include "sampler/weighted_chooser.h"

namespace vicinity {

// Chooses among the positions that are left of a list as if it had no others: what is drawn is what
// a list without the excluded edges would give (by weight: with the same chances).
//
// Threads: one at a time; keeps its memory from list to list.
class ShortenedListSampler {
 public:
  explicit ShortenedListSampler(const OneHopOptions& options);

  // Appends one target's neighbours. `list` is whole; `excluded` are the target's.
  // Cost: a pass over the list; by weight, a new table of what is left.
  void Sample(const ListPart& list, absl::Span<const ExcludedEdge> excluded, uint64_t key,
              uint32_t tree, Neighbors* out);

 private:
  // Sets out_ to the positions of the excluded edges.
  void FindOut(const ListPart& list, absl::Span<const ExcludedEdge> excluded);
  // Sets chosen_ to positions among those that are left.
  void ChooseUniform(const ListPart& list, uint64_t key, uint32_t tree);
  void ChooseByWeight(const ListPart& list, uint64_t key, uint32_t tree);
  // Where the i-th that is left is in the list.
  int64_t InList(int64_t i) const;

  const OneHopOptions& options_;
  PositionChooser uniform_;
  WeightedChooser weighted_;
  AliasBuilder tables_;
  std::vector<int64_t> out_;     // rising
  std::vector<int64_t> before_;  // of each, how many positions before it are left
  std::vector<int64_t> chosen_;
  std::vector<uint64_t> units_;
  std::vector<double> weights_;
  std::vector<AliasEntry> table_;
};

// Appends the neighbours of targets that all have excluded edges, by rising index among the group's
// rows. InvalidArgument naming a row that there is not; ResourceExhausted for a list that is longer
// than a count can say; else ShardReader's.
absl::Status SampleShortened(const ShardReader& reader, EdgeTypeId edge_type,
                             NodeTypeId target_type, const OwnerGroup& group,
                             absl::Span<const ExcludedEdge> excluded, const OneHopOptions& options,
                             Neighbors* out);

}  // namespace vicinity
