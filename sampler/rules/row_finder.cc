#include "sampler/rules/row_finder.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "partition/dataset/column_index.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/status.h"

namespace vicinity {

RowFinder::RowFinder(const ShardReader& reader, NodeTypeId type, RowCondition where)
    : reader_(reader),
      where_(std::move(where)),
      filter_(where_),
      values_(filter_.columns().size()) {
  for (const int32_t column : filter_.columns()) {
    columns_.push_back(reader_.NodeColumn(type, column));
  }
  UseIndexes(reader_.shard().nodes(type).columns);
}

RowFinder::RowFinder(const ShardReader& reader, EdgeTypeId type, RowCondition where)
    : reader_(reader),
      where_(std::move(where)),
      filter_(where_),
      values_(filter_.columns().size()) {
  for (const int32_t column : filter_.columns()) {
    columns_.push_back(reader_.EdgeColumn(type, column));
  }
  UseIndexes(reader_.shard().edges(type).columns);
}

void RowFinder::UseIndexes(const std::vector<ColumnView>& stored) {
  std::vector<std::optional<ColumnIndex>> indexes(where_.terms.size());
  bool any = false;
  for (size_t t = 0; t < where_.terms.size(); ++t) {
    const RowCondition::Term& term = where_.terms[t];
    if (!IsComparison(term.op)) continue;
    const ColumnView& view = stored[term.column];
    const size_t at = std::find(filter_.columns().begin(), filter_.columns().end(), term.column) -
                      filter_.columns().begin();
    if (view.index_file == nullptr || !reader_.IsUnchanged(columns_[at])) continue;
    indexes[t].emplace(term.dtype, view.num_rows, view.index_file->rows(), view.index_file);
    any = true;
  }
  if (any) search_.emplace(where_, std::move(indexes));
}

absl::Status RowFinder::Find(int64_t first, int64_t count, FoundRows* found) {
  if (!search_.has_value()) return ReadAll(first, count, found);
  const int64_t end = first + count;
  while (first < end) {
    const int64_t run_end = (first / kIndexRunRows + 1) * kIndexRunRows;
    const int64_t some = std::min(end, run_end) - first;
    VICINITY_RETURN_IF_ERROR(FindInRun(first, some, found));
    first += some;
  }
  return absl::OkStatus();
}

absl::Status RowFinder::FindInRun(int64_t first, int64_t count, FoundRows* found) {
  const int64_t run = first / kIndexRunRows;
  VICINITY_RETURN_IF_ERROR(Search(run));
  if (searched_.any) return ReadAll(first, count, found);
  const int64_t run_begin = run * kIndexRunRows;
  const auto begin = std::lower_bound(searched_.rows.begin(), searched_.rows.end(),
                                      static_cast<uint32_t>(first - run_begin));
  const auto end = std::lower_bound(begin, searched_.rows.end(),
                                    static_cast<uint32_t>(first - run_begin + count));
  std::vector<uint64_t> rows;
  rows.reserve(end - begin);
  for (auto row = begin; row < end; ++row) {
    rows.push_back(static_cast<uint64_t>(run_begin) + *row);
  }
  if (!searched_.exact) return ReadThese(rows, found);
  found->rows.insert(found->rows.end(), rows.begin(), rows.end());
  return absl::OkStatus();
}

// Who asks for some rows at a time asks for the same run again and again.
absl::Status RowFinder::Search(int64_t run) {
  if (run == searched_run_) return absl::OkStatus();
  searched_run_ = -1;
  VICINITY_ASSIGN_OR_RETURN(searched_, search_->Find(run));
  searched_run_ = run;
  return absl::OkStatus();
}

std::vector<const char*> RowFinder::Values() const {
  std::vector<const char*> values;
  values.reserve(values_.size());
  for (const std::string& rows : values_) values.push_back(rows.data());
  return values;
}

absl::Status RowFinder::ReadAll(int64_t first, int64_t count, FoundRows* found) {
  for (int64_t done = 0; done < count;) {
    const int64_t begin = first + done;
    const int64_t some = std::min(kRowsAtOnce, count - done);
    for (size_t i = 0; i < columns_.size(); ++i) {
      // A copy: a file that changes while it is read is read again, and nothing counts before.
      VICINITY_RETURN_IF_ERROR(reader_.ReadRange(columns_[i], begin, some, [&](const char* rows) {
        values_[i].assign(rows, static_cast<size_t>(some * columns_[i].row_bytes()));
      }));
    }
    const absl::Span<const uint8_t> meet = filter_.Evaluate(Values(), some);
    for (int64_t i = 0; i < some; ++i) {
      if (meet[i] != 0) found->rows.push_back(static_cast<uint64_t>(begin + i));
    }
    found->num_read += some;
    done += some;
  }
  return absl::OkStatus();
}

absl::Status RowFinder::ReadThese(absl::Span<const uint64_t> rows, FoundRows* found) {
  for (size_t done = 0; done < rows.size(); done += kRowsAtOnce) {
    const absl::Span<const uint64_t> some = rows.subspan(done, kRowsAtOnce);
    for (size_t i = 0; i < columns_.size(); ++i) {
      VICINITY_RETURN_IF_ERROR(reader_.ReadRows(
          columns_[i], some, [&] { values_[i].clear(); },
          [&](size_t, const char* row) {
            values_[i].append(row, static_cast<size_t>(columns_[i].row_bytes()));
          }));
    }
    const auto count = static_cast<int64_t>(some.size());
    const absl::Span<const uint8_t> meet = filter_.Evaluate(Values(), count);
    for (int64_t i = 0; i < count; ++i) {
      if (meet[i] != 0) found->rows.push_back(some[i]);
    }
    found->num_read += count;
  }
  return absl::OkStatus();
}

}  // namespace vicinity
