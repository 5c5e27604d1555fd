// Numbers the edges of one type anew: from 0 on without gaps, in the order of the ids that they
// have.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "partition/fold/ranked_bits.h"

namespace vicinity {

// Edges of the files come first, then new ones. These two are told apart by who asks, not by their
// ids: where import has dropped edges, ids of the files may be beyond their number.
//
// Threads: one may add; once sealed any number may read.
// Memory:  9 bits an id.
class NewEdgeIds {
 public:
  void AddOfFiles(absl::Span<const int64_t> ids) {
    for (const int64_t id : ids) of_files_.Set(id);
  }
  // Each by its place among the new ones, over all shards (GrownIds, less those in the files).
  void AddNew(absl::Span<const int64_t> places) {
    for (const int64_t place : places) new_.Set(place);
  }
  void Seal() {
    of_files_.Seal();
    new_.Seal();
  }

  bool HasOfFiles(int64_t id) const { return of_files_.Has(id); }
  bool HasNew(int64_t place) const { return new_.Has(place); }
  // Of one that there is:
  uint64_t OfFiles(int64_t id) const { return static_cast<uint64_t>(of_files_.Rank(id)); }
  uint64_t New(int64_t place) const {
    return static_cast<uint64_t>(of_files_.count() + new_.Rank(place));
  }
  // All are below it.
  uint64_t bound() const { return static_cast<uint64_t>(of_files_.count() + new_.count()); }

 private:
  RankedBits of_files_;
  RankedBits new_;
};

}  // namespace vicinity
