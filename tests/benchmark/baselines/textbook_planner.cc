#include "tests/benchmark/baselines/textbook_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity::benchmark {
namespace {

constexpr int64_t kNoUse = int64_t{1} << 60;

}  // namespace

TextbookPlanner::TextbookPlanner(int64_t capacity, const std::vector<int64_t>& ranked)
    : capacity_(capacity) {
  for (size_t i = 0; i < ranked.size(); ++i) ranks_[ranked[i]] = static_cast<int64_t>(i);
  for (size_t i = 0; i < std::min<size_t>(capacity, ranked.size()); ++i) {
    Row& row = rows_[ranked[i]];
    row.slot = TakeSlot();
    Rest(ranked[i], &row);
  }
}

void TextbookPlanner::Rest(int64_t id, Row* row) {
  const auto rank = ranks_.find(id);
  const int64_t unlikely =
      rank == ranks_.end() ? static_cast<int64_t>(ranks_.size()) : rank->second;
  row->place = {row->uses.empty() ? kNoUse + unlikely : row->uses.front(), id};
  row->rests = true;
  resting_.insert(row->place);
}

void TextbookPlanner::Rise(Row* row) {
  if (row->rests) resting_.erase(row->place);
  row->rests = false;
}

int32_t TextbookPlanner::TakeSlot() {
  if (held_ >= capacity_ && !resting_.empty()) {
    const auto worst = std::prev(resting_.end());
    const auto row = rows_.find(worst->second);
    resting_.erase(worst);
    free_.push_back(row->second.slot);
    row->second.slot = -1;
    row->second.rests = false;
    if (row->second.uses.empty()) rows_.erase(row);
    --held_;
  }
  ++held_;
  if (free_.empty()) return num_slots_++;
  const int32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void TextbookPlanner::Announce(const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    Row& row = rows_[id];
    row.uses.push_back(num_announced_);
    if (row.rests && row.uses.size() == 1) {
      Rise(&row);
      Rest(id, &row);
    }
  }
  ++num_announced_;
}

void TextbookPlanner::Admit(const std::vector<int64_t>& ids, std::vector<int32_t>* slots,
                            std::vector<int32_t>* missing) {
  slots->resize(ids.size());
  missing->clear();
  for (const int64_t id : ids) {
    Row& row = rows_[id];
    row.uses.pop_front();
    Rise(&row);
    ++row.pins;
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    Row& row = rows_[ids[i]];
    if (row.slot < 0) {
      missing->push_back(static_cast<int32_t>(i));
      row.slot = TakeSlot();
    }
    (*slots)[i] = row.slot;
  }
}

void TextbookPlanner::Release(const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    Row& row = rows_[id];
    if (--row.pins == 0) Rest(id, &row);
  }
}

}  // namespace vicinity::benchmark
