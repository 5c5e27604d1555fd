#include "sampler/rules/list_rule.h"

#include <cstddef>
#include <cstring>

#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status ReadValues(const ShardReader& reader, const ShardColumn& column, const ListPart& list,
                        std::vector<char>* values) {
  const int64_t row_bytes = column.row_bytes();
  values->resize(list.size() * row_bytes);
  if (values->empty()) return absl::OkStatus();
  const int64_t first = list.position(0);
  bool in_a_row = true;  // as all that are in the files
  for (int64_t i = 0; i < list.size(); ++i) in_a_row = in_a_row && list.position(i) == first + i;
  if (in_a_row) {
    return reader.ReadRange(column, first, list.size(), [&](const char* rows) {
      std::memcpy(values->data(), rows, values->size());
    });
  }
  std::vector<uint64_t> positions(list.size());
  for (int64_t i = 0; i < list.size(); ++i) positions[i] = static_cast<uint64_t>(list.position(i));
  return reader.ReadRows(
      column, positions, [] {},
      [&](size_t i, const char* row) {
        std::memcpy(values->data() + static_cast<int64_t>(i) * row_bytes, row, row_bytes);
      });
}

// Without a branch that nobody can foretell.
template <typename Has>
int64_t ListWhere(int64_t count, const Has& has, int64_t* out) {
  int64_t num_listed = 0;
  for (int64_t i = 0; i < count; ++i) {
    out[num_listed] = i;
    num_listed += has(i) ? 1 : 0;
  }
  return num_listed;
}

}  // namespace

// What the loops read is in variables of their own: no store to `out` can change those, so they
// stay in registers.
int64_t AllowedEdges::List(int64_t count, int64_t* out) const {
  const uint8_t* const meet = meets.data();
  if (times.empty()) {
    if (meets.empty())
      return ListWhere(
          count, [](int64_t) { return true; }, out);
    return ListWhere(
        count, [meet](int64_t i) { return meet[i] != 0; }, out);
  }
  if (within.from > within.until) return 0;
  const int64_t* const at = times.data();
  // One comparison instead of two: what is before `from` comes out as more than any span.
  const auto from = static_cast<uint64_t>(within.from);
  const uint64_t span = static_cast<uint64_t>(within.until) - from;
  const auto is_within = [=](int64_t i) { return static_cast<uint64_t>(at[i]) - from <= span; };
  if (meets.empty()) return ListWhere(count, is_within, out);
  return ListWhere(
      count, [=](int64_t i) { return is_within(i) && meet[i] != 0; }, out);
}

ListRule::ListRule(const DrawSpec& spec) : by_time_(spec.time_column >= 0), condition_(spec.where) {
  if (by_time_) columns_.push_back(spec.time_column);
  if (condition_ == nullptr) return;
  filter_.emplace(*condition_);
  columns_.insert(columns_.end(), filter_->columns().begin(), filter_->columns().end());
}

AllowedEdges ListRule::Judge(absl::Span<const char* const> values, int64_t count,
                             const TimeBounds& within) {
  AllowedEdges allowed;
  if (count == 0) return allowed;
  if (by_time_) {
    allowed.times = absl::MakeConstSpan(reinterpret_cast<const int64_t*>(values[0]),
                                        static_cast<size_t>(count));
    allowed.within = within;
  }
  if (filter_) allowed.meets = filter_->Evaluate(values.subspan(by_time_ ? 1 : 0), count);
  return allowed;
}

AllowedEdges ListRule::JudgeWithin(absl::Span<const char* const> values, int64_t count) {
  AllowedEdges allowed = Judge(values, count, TimeBounds());
  allowed.all_within = true;
  return allowed;
}

absl::StatusOr<AllowedEdges> ListRule::ReadAndJudge(const ShardReader& reader, EdgeTypeId edge_type,
                                                    const ListPart& list,
                                                    const TimeBounds& within) {
  read_.resize(columns_.size());
  std::vector<const char*> values;
  for (size_t k = 0; k < columns_.size(); ++k) {
    VICINITY_RETURN_IF_ERROR(
        ReadValues(reader, reader.EdgeColumn(edge_type, columns_[k]), list, &read_[k]));
    values.push_back(read_[k].data());
  }
  return Judge(values, list.size(), within);
}

}  // namespace vicinity
