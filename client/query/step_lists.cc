#include "client/query/step_lists.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "proto/narrow_floats.h"

namespace vicinity {
namespace {

void TakeOf(const std::vector<int64_t>& positions, std::vector<int64_t>* values) {
  if (values->empty()) return;
  std::vector<int64_t> taken;
  taken.reserve(positions.size());
  for (const int64_t position : positions) taken.push_back((*values)[position]);
  *values = std::move(taken);
}

template <typename Stored, typename Value>
void Widen(absl::Span<const char> rows, std::vector<Value>* values) {
  const auto* const stored = reinterpret_cast<const Stored*>(rows.data());
  values->assign(stored, stored + rows.size() / sizeof(Stored));
}

void WidenWith(float (*widen)(uint16_t), absl::Span<const char> rows, std::vector<double>* values) {
  const auto* const halves = reinterpret_cast<const uint16_t*>(rows.data());
  for (size_t i = 0; i < rows.size() / sizeof(uint16_t); ++i) values->push_back(widen(halves[i]));
}

}  // namespace

Selection SelectAll(absl::Span<const int64_t> offsets) {
  Selection all;
  all.offsets.assign(offsets.begin(), offsets.end());
  all.positions.resize(offsets.back());
  for (size_t i = 0; i < all.positions.size(); ++i) all.positions[i] = static_cast<int64_t>(i);
  return all;
}

Selection SelectWhere(absl::Span<const int64_t> offsets, absl::Span<const uint8_t> keeps) {
  Selection selection;
  selection.offsets.push_back(0);
  for (size_t list = 0; list + 1 < offsets.size(); ++list) {
    for (int64_t at = offsets[list]; at < offsets[list + 1]; ++at) {
      if (keeps[at] != 0) selection.positions.push_back(at);
    }
    selection.offsets.push_back(static_cast<int64_t>(selection.positions.size()));
  }
  return selection;
}

OrderValues::OrderValues(const ColumnSpec& spec, absl::Span<const char> rows) {
  switch (spec.dtype) {
    case DType::kBool:
    case DType::kUint8:
      Widen<uint8_t>(rows, &whole_);
      break;
    case DType::kInt8:
      Widen<int8_t>(rows, &whole_);
      break;
    case DType::kInt16:
      Widen<int16_t>(rows, &whole_);
      break;
    case DType::kInt32:
      Widen<int32_t>(rows, &whole_);
      break;
    case DType::kInt64:
      Widen<int64_t>(rows, &whole_);
      break;
    case DType::kFloat16:
      WidenWith(FromFloat16, rows, &real_);
      break;
    case DType::kBfloat16:
      WidenWith(FromBfloat16, rows, &real_);
      break;
    case DType::kFloat32:
      Widen<float>(rows, &real_);
      break;
    case DType::kFloat64:
      Widen<double>(rows, &real_);
      break;
  }
}

bool OrderValues::Before(int64_t a, int64_t b, bool descending) const {
  if (!whole_.empty()) return descending ? whole_[a] > whole_[b] : whole_[a] < whole_[b];
  const double x = real_[a];
  const double y = real_[b];
  if (std::isnan(x) || std::isnan(y)) return std::isnan(y) && !std::isnan(x);
  return descending ? x > y : x < y;
}

Selection SelectFirst(absl::Span<const int64_t> offsets, const OrderValues* values, bool descending,
                      int64_t limit) {
  const Selection all = SelectAll(offsets);
  Selection first;
  first.offsets.push_back(0);
  std::vector<int64_t> list;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    list.assign(all.positions.begin() + offsets[i], all.positions.begin() + offsets[i + 1]);
    if (values != nullptr) {
      std::stable_sort(list.begin(), list.end(),
                       [&](int64_t a, int64_t b) { return values->Before(a, b, descending); });
    }
    if (limit >= 0 && static_cast<int64_t>(list.size()) > limit) list.resize(limit);
    first.positions.insert(first.positions.end(), list.begin(), list.end());
    first.offsets.push_back(static_cast<int64_t>(first.positions.size()));
  }
  return first;
}

void Take(const Selection& selection, StepLists* lists) {
  TakeOf(selection.positions, &lists->nodes);
  TakeOf(selection.positions, &lists->edge_ids);
  TakeOf(selection.positions, &lists->edge_positions);
  lists->offsets = selection.offsets;
}

}  // namespace vicinity
