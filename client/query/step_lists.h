// The lists of one step while it is made, and what is taken of them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/schema/schema.h"

namespace vicinity {

struct StepLists {
  std::vector<int64_t> offsets;  // as StepAnswer has them
  std::vector<int64_t> nodes;
  std::vector<int64_t> edge_ids;        // of each node, or empty
  std::vector<int64_t> edge_positions;  // likewise

  int64_t num_lists() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

// Some of every list, in an order of its own.
struct Selection {
  std::vector<int64_t> offsets;    // of the lists that are selected
  std::vector<int64_t> positions;  // in the lists there are, StepLists::nodes counted through
};

// All of it.
Selection SelectAll(absl::Span<const int64_t> offsets);

// What a mask says: positions at which `keeps` is not 0.
Selection SelectWhere(absl::Span<const int64_t> offsets, absl::Span<const uint8_t> keeps);

// Values to put rows in order by: those of a column of one value a row.
class OrderValues {
 public:
  OrderValues(const ColumnSpec& spec, absl::Span<const char> rows);

  // Whether row a comes before row b: integers exactly, NaN behind all others, whatever
  // `descending`.
  bool Before(int64_t a, int64_t b, bool descending) const;

 private:
  std::vector<int64_t> whole_;
  std::vector<double> real_;  // one of both
};

// Every list in this order, equals as they are, and of it the first `limit` (-1: all).
Selection SelectFirst(absl::Span<const int64_t> offsets, const OrderValues* values, bool descending,
                      int64_t limit);

// `lists` become what is selected of them.
void Take(const Selection& selection, StepLists* lists);

}  // namespace vicinity
