#include "partition/dataset/column_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/narrow_floats.h"

namespace vicinity {
namespace {

constexpr int64_t kRowBytes = sizeof(uint32_t);

template <typename Stored>
Stored Load(const char* value) {
  Stored stored;
  std::memcpy(&stored, value, sizeof(stored));
  return stored;
}

int64_t WholeAt(DType dtype, const char* value) {
  switch (dtype) {
    case DType::kInt8:
      return Load<int8_t>(value);
    case DType::kInt16:
      return Load<int16_t>(value);
    case DType::kInt32:
      return Load<int32_t>(value);
    case DType::kInt64:
      return Load<int64_t>(value);
    default:
      return Load<uint8_t>(value);
  }
}

double RealAt(DType dtype, const char* value) {
  switch (dtype) {
    case DType::kFloat16:
      return FromFloat16(Load<uint16_t>(value));
    case DType::kBfloat16:
      return FromBfloat16(Load<uint16_t>(value));
    case DType::kFloat32:
      return Load<float>(value);
    default:
      return Load<double>(value);
  }
}

// A value as conditions compare it.
template <typename T>
T ValueAt(DType dtype, const char* value);
template <>
int64_t ValueAt(DType dtype, const char* value) {
  return WholeAt(dtype, value);
}
template <>
double ValueAt(DType dtype, const char* value) {
  return RealAt(dtype, value);
}

// NaN comes behind all others, and all NaN are equal.
template <typename T>
bool IsBefore(T a, T b) {
  return a < b || (a == a && b != b);
}

template <typename T>
std::vector<uint32_t> OrderOf(DType dtype, const char* values, int64_t count) {
  const int64_t value_bytes = DTypeBytes(dtype);
  std::vector<T> keys(count);
  for (int64_t i = 0; i < count; ++i) keys[i] = ValueAt<T>(dtype, values + i * value_bytes);
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&keys](uint32_t a, uint32_t b) {
    if (IsBefore(keys[a], keys[b])) return true;
    return !IsBefore(keys[b], keys[a]) && a < b;
  });
  return order;
}

// The places of a run that are in none of the stretches, which rise.
std::vector<IndexStretch> Others(const std::vector<IndexStretch>& stretches, int64_t run_rows) {
  std::vector<IndexStretch> others;
  int64_t begin = 0;
  for (const IndexStretch& stretch : stretches) {
    if (stretch.begin > begin) others.push_back({begin, stretch.begin});
    begin = stretch.end;
  }
  if (begin < run_rows) others.push_back({begin, run_rows});
  return others;
}

}  // namespace

int64_t IndexRowBytes(DType dtype) { return DTypeBytes(dtype) + kRowBytes; }

void MakeIndexRun(DType dtype, const char* values, int64_t count, char* out) {
  const std::vector<uint32_t> order = IsWhole(dtype) ? OrderOf<int64_t>(dtype, values, count)
                                                     : OrderOf<double>(dtype, values, count);
  const int64_t value_bytes = DTypeBytes(dtype);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * value_bytes, values + order[i] * value_bytes, value_bytes);
  }
  if (count > 0) std::memcpy(out + count * value_bytes, order.data(), count * kRowBytes);
}

ColumnIndex::ColumnIndex(DType dtype, int64_t num_rows, std::string_view bytes, VerifiedFile* file)
    : dtype_(dtype), num_rows_(num_rows), bytes_(bytes), file_(file) {}

int64_t ColumnIndex::RunRows(int64_t run) const {
  return std::min(kIndexRunRows, num_rows_ - run * kIndexRunRows);
}

const char* ColumnIndex::RunBegin(int64_t run) const {
  return bytes_.data() + run * kIndexRunRows * IndexRowBytes(dtype_);
}

template <typename T, typename IsBefore>
absl::StatusOr<int64_t> ColumnIndex::FirstNot(int64_t run, const IsBefore& is_before) const {
  const int64_t value_bytes = DTypeBytes(dtype_);
  int64_t begin = 0;
  int64_t end = RunRows(run);
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const char* const value = RunBegin(run) + middle * value_bytes;
    if (file_ != nullptr) VICINITY_RETURN_IF_ERROR(file_->Touch(value, value_bytes));
    if (is_before(ValueAt<T>(dtype_, value))) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

template <typename T>
absl::StatusOr<IndexStretch> ColumnIndex::FindOne(int64_t run, ConditionOp op, T number) const {
  if (number != number) return IndexStretch();  // nothing compares with NaN
  IndexStretch found;
  if (op == ConditionOp::kGreater) {
    VICINITY_ASSIGN_OR_RETURN(found.begin, FirstNot<T>(run, [=](T x) { return x <= number; }));
  } else if (op == ConditionOp::kGreaterEqual || op == ConditionOp::kIn) {
    VICINITY_ASSIGN_OR_RETURN(found.begin, FirstNot<T>(run, [=](T x) { return x < number; }));
  }
  if (op == ConditionOp::kLess) {
    VICINITY_ASSIGN_OR_RETURN(found.end, FirstNot<T>(run, [=](T x) { return x < number; }));
  } else if (op == ConditionOp::kLessEqual || op == ConditionOp::kIn) {
    VICINITY_ASSIGN_OR_RETURN(found.end, FirstNot<T>(run, [=](T x) { return x <= number; }));
  } else {
    VICINITY_ASSIGN_OR_RETURN(found.end, FirstNot<T>(run, [](T x) { return x == x; }));
  }
  return found;
}

template <typename T>
absl::Status ColumnIndex::FindAll(int64_t run, ConditionOp op, const std::vector<T>& numbers,
                                  std::vector<IndexStretch>* stretches) const {
  for (const T number : numbers) {
    VICINITY_ASSIGN_OR_RETURN(const IndexStretch found, FindOne(run, op, number));
    if (found.size() > 0) stretches->push_back(found);
  }
  return absl::OkStatus();
}

absl::Status ColumnIndex::FindStretches(int64_t run, const RowCondition::Term& term, bool negated,
                                        std::vector<IndexStretch>* stretches) const {
  std::vector<IndexStretch> found;
  VerifiedFile* const files[] = {file_};
  VICINITY_RETURN_IF_ERROR(ReadVerified(files, [&]() -> absl::Status {
    found.clear();
    return IsWhole(dtype_) ? FindAll(run, term.op, term.whole, &found)
                           : FindAll(run, term.op, term.real, &found);
  }));
  if (negated) found = Others(found, RunRows(run));
  stretches->insert(stretches->end(), found.begin(), found.end());
  return absl::OkStatus();
}

absl::Status ColumnIndex::AppendRows(int64_t run, const IndexStretch& stretch,
                                     std::vector<uint32_t>* rows) const {
  if (stretch.size() == 0) return absl::OkStatus();
  const size_t before = rows->size();
  rows->resize(before + stretch.size());
  uint32_t* const added = rows->data() + before;
  VerifiedFile* const files[] = {file_};
  VICINITY_RETURN_IF_ERROR(ReadVerified(files, [&] { return CopyRows(run, stretch, added); }));
  for (size_t i = before; i < rows->size(); ++i) {
    if ((*rows)[i] < RunRows(run)) continue;
    const std::string what = absl::StrCat("run ", run, " has row ", (*rows)[i], " of ",
                                          RunRows(run), "; build the index anew");
    return file_ == nullptr ? absl::DataLossError(what) : file_->Condemn(what);
  }
  return absl::OkStatus();
}

absl::Status ColumnIndex::CopyRows(int64_t run, const IndexStretch& stretch, uint32_t* rows) const {
  const char* const stored =
      RunBegin(run) + RunRows(run) * DTypeBytes(dtype_) + stretch.begin * kRowBytes;
  const size_t bytes = stretch.size() * kRowBytes;
  if (file_ != nullptr) VICINITY_RETURN_IF_ERROR(file_->Touch(stored, bytes));
  std::memcpy(rows, stored, bytes);
  return absl::OkStatus();
}

}  // namespace vicinity
