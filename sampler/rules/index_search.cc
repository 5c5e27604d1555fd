#include "sampler/rules/index_search.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of a run's rows: where more than one of so many may meet a condition, all are read.
constexpr int64_t kWorthOneOf = 8;
// Where one side of an `and` has so many times the rows of the other, values of those are read.
constexpr int64_t kManyTimes = 16;
// More rows than one in so many are sorted by a bit for each row of the run.
constexpr int64_t kSortByBitsOneOf = 64;

void SortRows(int64_t run_rows, std::vector<uint32_t>* rows) {
  if (static_cast<int64_t>(rows->size()) < run_rows / kSortByBitsOneOf) {
    std::sort(rows->begin(), rows->end());
    return;
  }
  std::vector<uint64_t> bits((run_rows + 63) / 64);
  for (const uint32_t row : *rows) bits[row / 64] |= uint64_t{1} << row % 64;
  rows->clear();
  for (size_t word = 0; word < bits.size(); ++word) {
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      rows->push_back(static_cast<uint32_t>(word * 64 + __builtin_ctzll(left)));
    }
  }
}

IndexedRows AnyRow() { return {true, false}; }

}  // namespace

IndexSearch::IndexSearch(const RowCondition& condition,
                         std::vector<std::optional<ColumnIndex>> indexes)
    : condition_(condition), indexes_(std::move(indexes)) {
  std::vector<size_t> stack;
  for (size_t t = 0; t < condition.terms.size(); ++t) {
    const ConditionOp op = condition.terms[t].op;
    if (op == ConditionOp::kNot) {
      Negate(stack.back());
      continue;
    }
    Part part;
    part.term = t;
    part.is_comparison = IsComparison(op);
    part.is_and = op == ConditionOp::kAnd;
    if (!part.is_comparison) {
      part.right = stack.back();
      stack.pop_back();
      part.left = stack.back();
      stack.pop_back();
    }
    stack.push_back(parts_.size());
    parts_.push_back(std::move(part));
  }
}

// not (a and b) is not a or not b.
void IndexSearch::Negate(size_t part) {
  Part& negated = parts_[part];
  if (negated.is_comparison) {
    negated.negated = !negated.negated;
    return;
  }
  negated.is_and = !negated.is_and;
  Negate(negated.left);
  Negate(negated.right);
}

absl::StatusOr<IndexedRows> IndexSearch::Find(int64_t run) {
  int64_t run_rows = 0;
  for (const std::optional<ColumnIndex>& index : indexes_) {
    if (index.has_value()) run_rows = index->RunRows(run);
  }
  for (Part& part : parts_) {
    part.most = run_rows;
    VICINITY_RETURN_IF_ERROR(Bound(run, &part));
  }
  const Part& whole = parts_.back();
  if (whole.most > run_rows / kWorthOneOf) return AnyRow();
  return Collect(run, whole);
}

// `most` is what there is in the run.
absl::Status IndexSearch::Bound(int64_t run, Part* part) const {
  if (part->is_comparison) {
    part->stretches.clear();
    const std::optional<ColumnIndex>& index = indexes_[part->term];
    if (!index.has_value()) return absl::OkStatus();
    VICINITY_RETURN_IF_ERROR(
        index->FindStretches(run, condition_.terms[part->term], part->negated, &part->stretches));
    part->most = 0;
    for (const IndexStretch& stretch : part->stretches) part->most += stretch.size();
    return absl::OkStatus();
  }
  const int64_t left = parts_[part->left].most;
  const int64_t right = parts_[part->right].most;
  part->most = part->is_and ? std::min(left, right) : std::min(part->most, left + right);
  return absl::OkStatus();
}

absl::StatusOr<IndexedRows> IndexSearch::Collect(int64_t run, const Part& part) const {
  if (!part.is_comparison) return part.is_and ? CollectAll(run, part) : CollectAny(run, part);
  const std::optional<ColumnIndex>& index = indexes_[part.term];
  if (!index.has_value()) return AnyRow();
  IndexedRows found = {false, true};
  for (const IndexStretch& stretch : part.stretches) {
    VICINITY_RETURN_IF_ERROR(index->AppendRows(run, stretch, &found.rows));
  }
  SortRows(index->RunRows(run), &found.rows);
  return found;
}

absl::StatusOr<IndexedRows> IndexSearch::CollectAll(int64_t run, const Part& part) const {
  const Part* few = &parts_[part.left];
  const Part* many = &parts_[part.right];
  if (few->most > many->most) std::swap(few, many);
  VICINITY_ASSIGN_OR_RETURN(IndexedRows found, Collect(run, *few));
  const bool is_enough = !found.any && many->most / kManyTimes > few->most;
  if (found.rows.empty() && !found.any) return found;
  IndexedRows others = AnyRow();
  if (!is_enough) {
    VICINITY_ASSIGN_OR_RETURN(others, Collect(run, *many));
  }
  if (found.any) std::swap(found, others);
  if (others.any) {
    found.exact = false;
    return found;
  }
  IndexedRows both = {false, found.exact && others.exact};
  std::set_intersection(found.rows.begin(), found.rows.end(), others.rows.begin(),
                        others.rows.end(), std::back_inserter(both.rows));
  return both;
}

absl::StatusOr<IndexedRows> IndexSearch::CollectAny(int64_t run, const Part& part) const {
  VICINITY_ASSIGN_OR_RETURN(IndexedRows left, Collect(run, parts_[part.left]));
  if (left.any) return left;
  VICINITY_ASSIGN_OR_RETURN(IndexedRows right, Collect(run, parts_[part.right]));
  if (right.any) return right;
  IndexedRows either = {false, left.exact && right.exact};
  std::set_union(left.rows.begin(), left.rows.end(), right.rows.begin(), right.rows.end(),
                 std::back_inserter(either.rows));
  return either;
}

}  // namespace vicinity
