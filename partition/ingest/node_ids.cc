#include "partition/ingest/node_ids.h"

#include <algorithm>
#include <cassert>
#include <random>

#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/problem_list.h"
#include "partition/ingest/formats/text_reader.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"
#include "proto/common/utf8.h"

namespace vicinity {
namespace {

constexpr int64_t kChunkRows = 1 << 16;

// A stranger's names can be made to collide under every salt that can be foretold, and each
// collision costs a pass over all names. By chance not one import in a million gets so far: the
// same files make the same dataset.
constexpr uint64_t kForetoldSalts = 4;

uint64_t RandomSalt() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::string_view Bytes(absl::string_view name) { return {name.data(), name.size()}; }

// Ids that are there already. Those listed name the row where the id stood first: rows are not
// nodes any more after the first doubled one.
class DoubledIds {
 public:
  void Add(const ArraySource& ids, int64_t i, absl::string_view id, int64_t row, int64_t node) {
    problems_.Add([&] {
      int64_t first = node;
      for (const int64_t doubled : rows_) first += doubled <= first;
      rows_.push_back(row);
      return absl::StrCat(ids.Place(i), ": id ", id, " is that of row ", first, " (from 0) too");
    });
  }
  absl::Status ToStatus() const { return problems_.ToStatus("doubled ids"); }

 private:
  ProblemList problems_;
  std::vector<int64_t> rows_;  // of those listed
};

}  // namespace

NodeIds::NodeIds(IdKind kind, KeyFunction key)
    : kind_(kind), key_function_(key != nullptr ? key : &Checksum) {}

uint64_t NodeIds::key(int64_t node) const {
  return kind_ == IdKind::kDense ? static_cast<uint64_t>(node) : keys_[static_cast<size_t>(node)];
}

absl::string_view NodeIds::name(int64_t node) const {
  const size_t i = static_cast<size_t>(node);
  const uint64_t begin = i == 0 ? 0 : name_ends_[i - 1];
  return absl::string_view(names_).substr(begin, name_ends_[i] - begin);
}

std::string NodeIds::Text(int64_t node) const {
  if (kind_ == IdKind::kString) return absl::StrCat("'", EscapedText(name(node)), "'");
  return absl::StrCat(static_cast<int64_t>(key(node)));
}

int64_t NodeIds::InsertInt(int64_t id) {
  assert(kind_ != IdKind::kString);
  if (kind_ == IdKind::kDense) {
    assert(id >= 0);
    size_ = std::max(size_, id + 1);
    return id;
  }
  const uint64_t key = static_cast<uint64_t>(id);
  const auto [place, added] = node_of_key_.try_emplace(key, size_);
  if (added) {
    keys_.push_back(key);
    ++size_;
  }
  return place->second;
}

int64_t NodeIds::InsertName(absl::string_view name) {
  assert(kind_ == IdKind::kString);
  for (;;) {
    const uint64_t key = key_function_(Bytes(name), salt_);
    const auto [place, added] = node_of_key_.try_emplace(key, size_);
    if (added) {
      keys_.push_back(key);
      names_.append(name.data(), name.size());
      name_ends_.push_back(names_.size());
      return size_++;
    }
    if (this->name(place->second) == name) return place->second;
    Resalt();  // two names, one key
  }
}

void NodeIds::Resalt() {
  bool distinct = false;
  while (!distinct) {
    salt_ = salt_ < kForetoldSalts ? salt_ + 1 : RandomSalt();
    distinct = true;
    node_of_key_.clear();
    for (int64_t node = 0; node < size_ && distinct; ++node) {
      keys_[static_cast<size_t>(node)] = key_function_(Bytes(name(node)), salt_);
      distinct = node_of_key_.try_emplace(keys_[static_cast<size_t>(node)], node).second;
    }
  }
}

int64_t NodeIds::FindInt(int64_t id) const {
  if (kind_ == IdKind::kDense) return id >= 0 && id < size_ ? id : kUnknown;
  const auto found = node_of_key_.find(static_cast<uint64_t>(id));
  return found == node_of_key_.end() ? kUnknown : found->second;
}

int64_t NodeIds::Find(absl::string_view id) const {
  if (kind_ != IdKind::kString) {
    int64_t value = 0;
    return ParseInteger(id, &value) ? FindInt(value) : kUnknown;
  }
  const auto found = node_of_key_.find(key_function_(Bytes(id), salt_));
  if (found == node_of_key_.end() || name(found->second) != id) return kUnknown;
  return found->second;
}

absl::Status NodeIds::InsertAll(ArraySource* ids) {
  assert(kind_ != IdKind::kDense);
  if (ids->values_per_row() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(ids->name(), ": has ", ids->values_per_row(),
                                                   " values a row, and ids have one"));
  }
  return kind_ == IdKind::kInt64 ? InsertAllInts(ids) : InsertAllNames(ids);
}

absl::Status NodeIds::InsertAllInts(ArraySource* ids) {
  DoubledIds doubled;
  std::vector<int64_t> values;
  for (int64_t row = 0;;) {
    VICINITY_ASSIGN_OR_RETURN(const int64_t rows, ids->ReadInts(kChunkRows, &values));
    if (rows == 0) return doubled.ToStatus();
    for (int64_t i = 0; i < rows; ++i, ++row) {
      const int64_t before = size_;
      const int64_t id = values[static_cast<size_t>(i)];
      const int64_t node = InsertInt(id);
      if (size_ == before) doubled.Add(*ids, i, absl::StrCat(id), row, node);
    }
  }
}

absl::Status NodeIds::InsertAllNames(ArraySource* ids) {
  DoubledIds doubled;
  FieldTable fields;
  for (int64_t row = 0;;) {
    VICINITY_ASSIGN_OR_RETURN(const int64_t rows, ids->ReadFields(kChunkRows, &fields));
    if (rows == 0) return doubled.ToStatus();
    for (int64_t i = 0; i < rows; ++i, ++row) {
      const int64_t before = size_;
      const int64_t node = InsertName(fields.field(i, 0));
      if (size_ == before) doubled.Add(*ids, i, EscapedText(fields.field(i, 0)), row, node);
    }
  }
}

}  // namespace vicinity
