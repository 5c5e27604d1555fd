// Draws from lists of which only some edges may be drawn, without a copy of them: those that are
// not excluded, and that the draw's rule allows (sampler/rules/list_rule.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/layer_chooser.h"
#include "sampler/one_hop.h"
#include "sampler/owner_groups.h"
#include "sampler/position_chooser.h"
#include "sampler/rules/list_rule.h"
#include "sampler/weighted_chooser.h"

namespace vicinity {

// Chooses among the positions of a list that are left as if it had no others: what is drawn is what
// a list without the other edges would give. By weight it has the chances of such a list, as exact
// as the whole list's table has them: to 2^-32 of the mean weight of an edge of the whole list, so
// what weighs less than that beside the edges that are out is drawn as if it weighed as much.
//
// Threads: one at a time; keeps its memory from list to list.
class FilteredListSampler {
 public:
  explicit FilteredListSampler(const OneHopOptions& options);

  // What may be drawn of a list, and for whom.
  struct Target {
    absl::Span<const ExcludedEdge> excluded;  // its own
    AllowedEdges allowed;
    uint64_t key = 0;
    uint32_t tree = 0;
  };
  // Appends one target's neighbours. `list` is whole.
  // Cost: a pass over the list; by weight, of long lists a new table of what is left.
  void Sample(const ListPart& list, const Target& target, Neighbors* out);

  // The same in two steps, for who verifies between them what the second reads. Not by weight,
  // `list` may be the part that has all edges within the target's times (AllowedEdges::all_within).
  // Cost: as Sample; O(fanout) where nothing else is asked of edges, and none are excluded.
  void Choose(const ListPart& list, const Target& target);
  absl::Span<const int64_t> chosen() const { return chosen_; }  // positions in the list
  void Append(const ListPart& list, const Target& target, Neighbors* out) const;

 private:
  // Sets out_ to the positions of the excluded edges.
  void FindOut(const ListPart& list, absl::Span<const ExcludedEdge> excluded);
  void FindLeft(const ListPart& list, const Target& target);
  // Where the i-th that is left is in the list.
  int64_t InList(int64_t i) const;
  // Set chosen_ to some of those that are left, by their numbers.
  void ChooseUniform(const Target& target);
  void ChooseLast(const Target& target);
  void ChooseByWeight(const ListPart& list, const Target& target);
  void ChooseByLayer(const ListPart& list);
  // Sets units_left_ to the weights of those that are left.
  void FindUnitsLeft(const ListPart& list);

  const OneHopOptions& options_;
  PositionChooser uniform_;
  UnitsChooser weighted_;
  std::optional<LayerChooser> by_layer_;
  std::vector<int64_t> out_;     // rising
  std::vector<int64_t> before_;  // of each, how many positions before it are left
  bool listed_ = false;          // left_ has them: else all but out_ are left
  std::vector<int64_t> left_;    // the first num_left_ of them
  int64_t num_left_ = 0;
  std::vector<int64_t> times_left_;
  std::vector<int64_t> chosen_;  // by their numbers, at last by their positions
  std::vector<int64_t> sources_;
  std::vector<uint64_t> units_;
  std::vector<uint64_t> units_left_;
};

// Appends the neighbours of a group's rows; `excluded` by rising index among them. InvalidArgument
// naming a row that there is not, or where rows have no times; else ShardReader's.
absl::Status SampleFiltered(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                            const OwnerGroup& group, absl::Span<const ExcludedEdge> excluded,
                            const OneHopOptions& options, Neighbors* out);

}  // namespace vicinity
