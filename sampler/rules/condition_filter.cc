#include "sampler/rules/condition_filter.h"

#include <algorithm>
#include <cstddef>

#include "proto/narrow_floats.h"

namespace vicinity {
namespace {

// So many numbers are looked through one by one.
constexpr size_t kFewNumbers = 8;
// Answers of many terms at once lie in the caches, however long a list is.
constexpr int64_t kRowsAtOnce = 4096;

template <typename T>
bool IsAmong(const std::vector<T>& numbers, T value) {
  if (numbers.size() > kFewNumbers) {
    // NaN is before nothing and behind nothing, so it would be found anywhere.
    return value == value && std::binary_search(numbers.begin(), numbers.end(), value);
  }
  bool found = false;
  for (const T number : numbers) found |= value == number;
  return found;
}

template <typename T, typename Value>
void CompareAll(ConditionOp op, const std::vector<T>& numbers, const Value& value,
                absl::Span<uint8_t> out) {
  const auto fill = [&](const auto& holds) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = holds(static_cast<T>(value(i))) ? 1 : 0;
  };
  if (op == ConditionOp::kIn) return fill([&](T x) { return IsAmong(numbers, x); });
  const T number = numbers[0];
  switch (op) {
    case ConditionOp::kLess:
      return fill([=](T x) { return x < number; });
    case ConditionOp::kLessEqual:
      return fill([=](T x) { return x <= number; });
    case ConditionOp::kGreater:
      return fill([=](T x) { return x > number; });
    default:
      return fill([=](T x) { return x >= number; });
  }
}

}  // namespace

ConditionFilter::ConditionFilter(const RowCondition& condition) : condition_(condition) {
  for (const RowCondition::Term& term : condition.terms) {
    auto at = std::find(columns_.begin(), columns_.end(), term.column);
    column_of_term_.push_back(static_cast<size_t>(at - columns_.begin()));
    if (IsComparison(term.op) && at == columns_.end()) columns_.push_back(term.column);
  }
}

void ConditionFilter::Compare(const RowCondition::Term& term, const char* values,
                              absl::Span<uint8_t> out) const {
  const auto whole = [&](const auto* of_rows) {
    CompareAll(
        term.op, term.whole, [of_rows](size_t i) { return of_rows[i]; }, out);
  };
  const auto real = [&](const auto& value) { CompareAll(term.op, term.real, value, out); };
  switch (term.dtype) {
    case DType::kBool:
    case DType::kUint8:
      return whole(reinterpret_cast<const uint8_t*>(values));
    case DType::kInt8:
      return whole(reinterpret_cast<const int8_t*>(values));
    case DType::kInt16:
      return whole(reinterpret_cast<const int16_t*>(values));
    case DType::kInt32:
      return whole(reinterpret_cast<const int32_t*>(values));
    case DType::kInt64:
      return whole(reinterpret_cast<const int64_t*>(values));
    case DType::kFloat16: {
      const auto* const halves = reinterpret_cast<const uint16_t*>(values);
      return real([halves](size_t i) { return FromFloat16(halves[i]); });
    }
    case DType::kBfloat16: {
      const auto* const halves = reinterpret_cast<const uint16_t*>(values);
      return real([halves](size_t i) { return FromBfloat16(halves[i]); });
    }
    case DType::kFloat32: {
      const auto* const floats = reinterpret_cast<const float*>(values);
      return real([floats](size_t i) { return floats[i]; });
    }
    case DType::kFloat64: {
      const auto* const doubles = reinterpret_cast<const double*>(values);
      return real([doubles](size_t i) { return doubles[i]; });
    }
  }
}

absl::Span<const uint8_t> ConditionFilter::Evaluate(absl::Span<const char* const> values,
                                                    int64_t count) {
  holds_.resize(count);
  for (int64_t first = 0; first < count; first += kRowsAtOnce) {
    const int64_t rows = std::min(count - first, kRowsAtOnce);
    EvaluateSome(values, first, rows);
    std::copy_n(answers_[0].begin(), rows, holds_.begin() + first);
  }
  return holds_;
}

void ConditionFilter::EvaluateSome(absl::Span<const char* const> values, int64_t first,
                                   int64_t count) {
  size_t depth = 0;
  for (size_t t = 0; t < condition_.terms.size(); ++t) {
    const RowCondition::Term& term = condition_.terms[t];
    if (IsComparison(term.op)) {
      if (answers_.size() == depth) answers_.emplace_back(kRowsAtOnce);
      const char* const rows = values[column_of_term_[t]] + first * DTypeBytes(term.dtype);
      Compare(term, rows, absl::MakeSpan(answers_[depth++]).first(count));
      continue;
    }
    if (term.op == ConditionOp::kNot) {
      for (int64_t i = 0; i < count; ++i) answers_[depth - 1][i] ^= 1;
      continue;
    }
    --depth;
    std::vector<uint8_t>& left = answers_[depth - 1];
    const std::vector<uint8_t>& right = answers_[depth];
    for (int64_t i = 0; i < count; ++i) {
      left[i] = term.op == ConditionOp::kAnd ? left[i] & right[i] : left[i] | right[i];
    }
  }
}

}  // namespace vicinity
