// What is drawn along an edge type: one value from the sampling spec through every layer and the
// wire to the loop that draws.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "partition/schema/condition.h"

namespace vicinity {

// Which times edges may have to be drawn for a target: from the one to the other, both included.
struct TimeBounds {
  int64_t from = std::numeric_limits<int64_t>::min();
  int64_t until = std::numeric_limits<int64_t>::max();

  bool Has(int64_t time) const { return from <= time && time <= until; }
};

struct DrawSpec {
  int64_t fanout = 0;     // neighbours a target, > 0, or kAllNeighbors
  bool replace = false;   // with replacement: `fanout` draws from any non-empty list
  bool weighted = false;  // by the edge type's weight column, else uniformly
  // >= 0: the position of the edge type's column of times (int64): an edge is drawn only for
  // targets within whose bounds its time is.
  int32_t time_column = -1;
  bool last = false;  // with time_column: not by chance, but the latest of these
  // Null: none. Else only edges for which it holds are there, as if the lists had no others.
  std::shared_ptr<const RowCondition> where{};
  // By one number a source for all targets (sampler/layer_chooser.h). Not with `replace` or `last`;
  // says nothing where all neighbours are taken.
  bool labor = false;
  bool layer_dependency = false;  // with labor: all hops share the numbers
  uint64_t batch_dependency = 1;  // with labor: so many batches in a row do, at least 1
};

inline bool operator==(const DrawSpec& a, const DrawSpec& b) {
  const bool same_where = a.where == b.where || (a.where && b.where && *a.where == *b.where);
  return a.fanout == b.fanout && a.replace == b.replace && a.weighted == b.weighted &&
         a.time_column == b.time_column && a.last == b.last && same_where && a.labor == b.labor &&
         a.layer_dependency == b.layer_dependency && a.batch_dependency == b.batch_dependency;
}

// Whether lists are gone through for draws by one number a source.
inline bool DrawsByLayer(const DrawSpec& spec) { return spec.labor && spec.fanout > 0; }

// Whether lists are shortened before anything is drawn, whatever their targets.
inline bool Filters(const DrawSpec& spec) { return spec.time_column >= 0 || spec.where; }

// Whether a condition alone says which edges may be drawn, all of these alike: then it is enough to
// know which they are (sampler/rules/matching_edges.h), and lists need not be gone through.
inline bool DrawsByMatching(const DrawSpec& spec) {
  return spec.where && spec.time_column < 0 && !spec.weighted && !DrawsByLayer(spec);
}

}  // namespace vicinity
