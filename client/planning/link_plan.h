// The links that a dataset's homes have as seeds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/seed_chances.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"

namespace vicinity {

// By home: all edges of the type whose target is its own, as home_of[target] says, -1 for nobody's;
// homes may be of another cut than the dataset's. Without negatives.
//
// It reads lists raw: to be called inside ReadWhole (partition/dataset/whole_read.h).
//
// Memory: 8 bytes a home and node of the links' types. Cost: one pass over the edges.
std::vector<LinkSeeds> LinksOfHomes(const Dataset& dataset, EdgeTypeId type,
                                    absl::Span<const int32_t> home_of, int32_t num_homes);

// Finds links by number, where homes are shards of the dataset itself. It reads lists raw: to be
// made and asked inside ReadWhole.
//
// Threads: immutable; any number may read. Lifetime: the dataset must outlive it.
class LinkIndex {
 public:
  // Of the edges of a type in these shards; they must lie in their files, as ComputeVip checks.
  LinkIndex(const Dataset& dataset, EdgeTypeId type, absl::Span<const int32_t> shards);

  int64_t num_links() const { return begins_.back(); }
  // Source and target, as global ids, of link 0 <= i < num_links().
  std::pair<int64_t, int64_t> EndsOf(int64_t i) const;

 private:
  struct Part {
    BaseLists edges;
    int64_t first_target;
  };
  std::vector<Part> parts_;
  std::vector<int64_t> begins_;  // the first link of each part, and the number of links
};

}  // namespace vicinity
