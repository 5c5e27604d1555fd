// The look-ahead planner as one would write it down first: a hash map of rows, a sorted set of
// those that may go. What cache/pool/look_ahead_planner.h is compared with.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace vicinity::benchmark {

// Batches are announced, admitted and released in one order; ids of a batch do not repeat.
class TextbookPlanner {
 public:
  // `ranked`: likeliest first; the first `capacity` are held from the start.
  TextbookPlanner(int64_t capacity, const std::vector<int64_t>& ranked);

  void Announce(const std::vector<int64_t>& ids);
  // The slot of each id, and the indexes of those to be fetched.
  void Admit(const std::vector<int64_t>& ids, std::vector<int32_t>* slots,
             std::vector<int32_t>* missing);
  void Release(const std::vector<int64_t>& ids);

 private:
  struct Row {
    int32_t slot = -1;  // not held
    int pins = 0;
    std::deque<int64_t> uses;           // announced batches, soonest first
    std::pair<int64_t, int64_t> place;  // in resting_
    bool rests = false;
  };

  // What goes last in resting_ goes first: rows without a use by rank, behind all with one.
  void Rest(int64_t id, Row* row);
  void Rise(Row* row);
  int32_t TakeSlot();

  const int64_t capacity_;
  std::unordered_map<int64_t, int64_t> ranks_;
  std::unordered_map<int64_t, Row> rows_;
  std::set<std::pair<int64_t, int64_t>> resting_;  // next use or rank, id
  std::vector<int32_t> free_;
  int32_t num_slots_ = 0;
  int64_t held_ = 0;
  int64_t num_announced_ = 0;
};

}  // namespace vicinity::benchmark
