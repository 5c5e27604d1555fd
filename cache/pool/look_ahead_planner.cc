#include "cache/pool/look_ahead_planner.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/pool/likelihood_classes.h"
#include "cache/pool/row_index.h"
#include "cache/pool/use_ring.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// How many ids ahead memory is asked for: a first access, and the one that depends on it.
constexpr size_t kFar = 24;
constexpr size_t kNear = 12;

// What a use's slot says beside a slot.
constexpr int32_t kNotHeld = -1;
constexpr int32_t kRepeat = -2;         // of an id that the batch mentions before
constexpr int32_t kDisowned = 1 << 30;  // a flag: the slot is no row's, and free when this use ends
static_assert(2 * LookAheadPlanner::kMaxRows <= kDisowned, "slots are below the flag");

absl::Status CheckId(int64_t id) {
  if (id >= 0 && id <= RowKey::kMaxId) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("node ", id));
}

absl::Status CheckRanked(absl::Span<const int64_t> ranked) {
  absl::flat_hash_set<int64_t> seen;
  seen.reserve(ranked.size());
  for (const int64_t id : ranked) {
    VICINITY_RETURN_IF_ERROR(CheckId(id));
    if (!seen.insert(id).second) {
      return absl::InvalidArgumentError(absl::StrCat("node ", id, " is given twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LookAheadPlanner>> LookAheadPlanner::Create(
    const Options& options, absl::Span<const int64_t> ranked) {
  if (options.capacity_rows < 0 || options.capacity_rows > kMaxRows) {
    return absl::InvalidArgumentError(
        absl::StrCat("a capacity of ", options.capacity_rows, " rows; 0 to ", kMaxRows));
  }
  VICINITY_RETURN_IF_ERROR(CheckRanked(ranked));
  return std::unique_ptr<LookAheadPlanner>(new LookAheadPlanner(options, ranked));
}

LookAheadPlanner::LookAheadPlanner(const Options& options, absl::Span<const int64_t> ranked)
    : capacity_(options.capacity_rows),
      use_likelihood_(options.use_likelihood),
      classes_(options.use_likelihood ? ranked : absl::Span<const int64_t>()),
      ring_(options.first_position),
      cold_(&index_, &ring_),
      admitted_end_(ring_.end()) {
  const size_t num_first_rows = std::min<size_t>(capacity_, ranked.size());
  const uint32_t never = NewStamp();
  index_.Reserve(num_first_rows);
  for (size_t i = 0; i < num_first_rows; ++i) {
    RowEntry* const entry = index_.Add(KeyOf(ranked[i]));
    entry->slot = TakeSlot();
    entry->last_use = never;
  }
  // The likeliest last, as if it had been used last.
  for (size_t i = num_first_rows; i-- > 0;) cold_.Add(KeyOf(ranked[i]), never);
}

RowKey LookAheadPlanner::KeyOf(int64_t id) const {
  return RowKey(id, use_likelihood_ ? classes_.ClassOf(id) : LikelihoodClasses::kUnranked);
}

absl::Status LookAheadPlanner::CheckIds(absl::Span<const int64_t> ids) const {
  int64_t bits = 0;  // of all together, which is much quicker than to ask each
  for (const int64_t id : ids) bits |= id;
  if (!CheckId(bits).ok()) {
    for (const int64_t id : ids) VICINITY_RETURN_IF_ERROR(CheckId(id));
  }
  const int64_t num_ids = static_cast<int64_t>(ids.size());
  const int64_t num_known = std::max<int64_t>(index_.size(), ring_.end() - ring_.begin());
  if (num_ids > kMaxRows - num_known) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no room for ", num_ids, " rows beside ", num_known));
  }
  return absl::OkStatus();
}

// A last use for rows that have none: no position is like it for a long time. Natural ones in the
// index are less than 2^30 + kMaxRows positions back.
uint32_t LookAheadPlanner::NewStamp() {
  return ring_.begin() - (uint32_t{1} << 31) + num_stamps_++ % (uint32_t{1} << 20);
}

// Every 2^30 uses, so that no row's last use is taken for one that is 2^32 uses later.
void LookAheadPlanner::RestampInTime(uint32_t begin) {
  if (begin >> 30 != ring_.end() >> 30) cold_.Restamp(NewStamp());
}

// What appending a use will look at behind the row's entry, as far as can be told without a search.
inline void LookAheadPlanner::PrefetchUse(int64_t id) const {
  const RowEntry& entry = index_.Peek(id);
  if (entry.key.id() == id) {
    ring_.PrefetchNext(entry.last_use);
  } else if (use_likelihood_) {
    classes_.Prefetch(id);
  }
}

inline void LookAheadPlanner::AppendNextUse(RowEntry* entry, Batch* batch) {
  const uint32_t position = ring_.end();
  const uint32_t last_use = std::exchange(entry->last_use, position);
  ring_.set_next(last_use, position);
  const bool is_repeat = last_use - batch->begin < position - batch->begin;
  ring_.Append(entry->key, is_repeat ? kRepeat : entry->slot);
  batch->has_repeats |= is_repeat;
}

absl::Status LookAheadPlanner::Announce(absl::Span<const int64_t> ids) {
  VICINITY_RETURN_IF_ERROR(CheckIds(ids));
  ring_.Reserve(ids.size());
  index_.Reserve(ids.size());
  Batch batch;
  batch.begin = ring_.end();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kFar < ids.size()) index_.Prefetch(ids[i + kFar]);
    if (i + kNear < ids.size()) PrefetchUse(ids[i + kNear]);
    RowEntry* const entry = index_.Find(ids[i]);
    if (entry != nullptr && ring_.Contains(entry->last_use)) {
      AppendNextUse(entry, &batch);
    } else {
      AppendOnlyUse(ids[i], entry);
    }
  }
  batch.end = ring_.end();
  announced_.push_back(batch);
  RestampInTime(batch.begin);
  return absl::OkStatus();
}

// Of a row that is cold, or not known (`entry` is null).
void LookAheadPlanner::AppendOnlyUse(int64_t id, RowEntry* entry) {
  const uint32_t position = ring_.end();
  if (entry == nullptr) {
    entry = index_.Add(KeyOf(id));
    entry->last_use = position;
    ring_.Append(entry->key, kNotHeld);
    return;
  }
  entry->last_use = position;
  ring_.Append(entry->key, entry->slot);
  ring_.MarkIf(true, position);
  cold_.Remove(entry->key);
}

absl::Status LookAheadPlanner::Admit(absl::Span<const int64_t> ids, RowPlan* plan) {
  if (announced_.empty()) {
    VICINITY_RETURN_IF_ERROR(Announce(ids));
  } else if (!IsOldestAnnounced(ids)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a batch of ", ids.size(), " ids is not the oldest announced, of ",
                     announced_.front().end - announced_.front().begin));
  }
  const Batch batch = announced_.front();
  announced_.pop_front();
  admitted_end_ = batch.end;
  ring_.Unmark(batch.begin, batch.end);
  plan->ticket = first_ticket_ + static_cast<int64_t>(in_flight_.size());
  // All that is held comes first: a row of this batch must not make room for another.
  FindHeld(batch, plan);
  PlaceMissing(ids, batch, plan);
  if (batch.has_repeats) PlaceRepeats(batch, plan);
  in_flight_.push_back(batch);
  return absl::OkStatus();
}

bool LookAheadPlanner::IsOldestAnnounced(absl::Span<const int64_t> ids) const {
  const Batch& batch = announced_.front();
  if (batch.end - batch.begin != ids.size()) return false;
  uint32_t position = batch.begin;
  for (const int64_t id : ids) {
    if (ring_.key(position++).id() != id) return false;
  }
  return true;
}

// The row's next use, if there is one, learns its slot: keeps I2.
inline int32_t LookAheadPlanner::PassSlotOn(uint32_t position) {
  const int32_t slot = ring_.slot(position);
  ring_.set_slot(ring_.next(position), slot);
  return slot;
}

// No branches: whether a row is held, and whether it has a next use, is as good as random.
void LookAheadPlanner::FindHeld(const Batch& batch, RowPlan* plan) {
  const auto num_ids = static_cast<int32_t>(batch.end - batch.begin);
  plan->slots.resize(num_ids);
  plan->missing.resize(num_ids);
  size_t num_missing = 0;
  for (int32_t i = 0; i < num_ids; ++i) {
    ring_.PrefetchSlot(ring_.next(batch.begin + i + kNear));  // or whatever is behind the batch
    const int32_t slot = ring_.slot(batch.begin + i);
    // As PassSlotOn, but a repeat of a row that is not held stays one: it is not missing again.
    ring_.set_slot(ring_.next(batch.begin + i), slot < 0 ? kRepeat : slot);
    plan->slots[i] = slot;
    plan->missing[num_missing] = i;
    num_missing += slot == kNotHeld ? 1 : 0;
  }
  plan->missing.resize(num_missing);
}

void LookAheadPlanner::PlaceMissing(absl::Span<const int64_t> ids, const Batch& batch,
                                    RowPlan* plan) {
  const std::vector<int32_t>& missing = plan->missing;
  Evict(held_ + static_cast<int64_t>(missing.size()) - capacity_);
  for (size_t j = 0; j < missing.size(); ++j) {
    if (j + kNear < missing.size()) index_.Prefetch(ids[missing[j + kNear]]);
    const int32_t slot = TakeSlot();
    const uint32_t position = batch.begin + missing[j];
    index_.Find(ids[missing[j]])->slot = slot;
    ring_.set_slot(position, slot);
    plan->slots[missing[j]] = PassSlotOn(position);
  }
}

// Repeated ids get the slot of the mention before, whichever way that came by it.
void LookAheadPlanner::PlaceRepeats(const Batch& batch, RowPlan* plan) {
  for (uint32_t position = batch.begin; position != batch.end; ++position) {
    plan->slots[position - batch.begin] = PassSlotOn(position);
  }
}

int32_t LookAheadPlanner::TakeSlot() {
  most_held_ = std::max(most_held_, ++held_);
  std::vector<int32_t>& free = free_.empty() ? free_overflow_ : free_;
  if (free.empty()) return static_cast<int32_t>(num_slots_++);
  const int32_t slot = free.back();
  free.pop_back();
  return slot;
}

void LookAheadPlanner::FreeSlot(int32_t slot) {
  --held_;
  (slot < capacity_ ? free_ : free_overflow_).push_back(slot);
}

void LookAheadPlanner::Release(int64_t ticket) {
  in_flight_[ticket - first_ticket_].ended = true;
  while (!in_flight_.empty() && in_flight_.front().ended) {
    const Batch batch = in_flight_.front();
    in_flight_.pop_front();
    ++first_ticket_;
    if (!batch.forgotten) Unpin(batch);
    ring_.DropUntil(batch.end);
  }
  Evict(held_ - capacity_);
}

// Of a batch that ended, as all before it have. A row whose next use is admitted stays pinned.
void LookAheadPlanner::Unpin(const Batch& batch) {
  for (uint32_t position = batch.begin; position != batch.end; ++position) {
    const uint32_t next = ring_.next(position);
    ring_.MarkIf(!IsAdmitted(next), next);  // keeps I3
    if (next != position) continue;
    if ((ring_.slot(position) & kDisowned) != 0) {
      FreeSlot(ring_.slot(position) & ~kDisowned);
    } else {
      cold_.Add(ring_.key(position), position);
    }
  }
}

void LookAheadPlanner::Disown(int64_t ticket, absl::Span<const int32_t> missing) {
  const uint32_t begin = in_flight_[ticket - first_ticket_].begin;
  for (const int32_t i : missing) DisownUse(begin + i);
}

// The slot stays with the row's last use in flight, cut off from the row and its later uses.
void LookAheadPlanner::DisownUse(uint32_t position) {
  while (ring_.next(position) != position && IsAdmitted(ring_.next(position))) {
    position = ring_.next(position);
  }
  if ((ring_.slot(position) & kDisowned) != 0) return;  // it was before
  ring_.set_slot(position, ring_.slot(position) | kDisowned);
  RowEntry* const entry = index_.Find(ring_.key(position).id());
  entry->slot = -1;
  const uint32_t next = ring_.next(position);
  if (next == position) {
    index_.Remove(entry);
  } else {
    ring_.set_slot(next, kNotHeld);
    ring_.set_next(position, position);
  }
}

void LookAheadPlanner::Forget() {
  if (announced_.empty()) return;
  const uint32_t first = admitted_end_;
  const uint32_t last = ring_.end();
  CutChains();
  ring_.Unmark(first, last);
  ForgetUses(first, last);
  announced_.clear();
  // What was announced stays in the ring as a batch that ended, so that no position is used twice.
  Batch forgotten;
  forgotten.begin = first;
  forgotten.end = admitted_end_ = last;
  forgotten.forgotten = true;
  in_flight_.push_back(forgotten);
  Release(first_ticket_ + static_cast<int64_t>(in_flight_.size()) - 1);
}

// Ends the chains of rows in flight at their last use that is admitted: nobody is known to need
// them after that.
void LookAheadPlanner::CutChains() {
  for (uint32_t position = ring_.begin(); position != admitted_end_; ++position) {
    if (IsAdmitted(ring_.next(position))) continue;
    ring_.set_next(position, position);
    index_.Find(ring_.key(position).id())->last_use = position;
  }
}

// Lets the other rows that were announced go cold if they are held: keeps I4.
void LookAheadPlanner::ForgetUses(uint32_t first, uint32_t last) {
  const uint32_t stamp = NewStamp();
  for (uint32_t position = first; position != last; ++position) {
    RowEntry* const entry = index_.Find(ring_.key(position).id());
    if (entry == nullptr || entry->last_use - first >= last - first) continue;
    if (entry->slot < 0) {
      index_.Remove(entry);
    } else {
      entry->last_use = stamp;
      cold_.Add(entry->key, stamp);
    }
  }
}

// Lets go of the rows with the least claim, or of fewer if the rest are pinned.
void LookAheadPlanner::Evict(int64_t num_rows) {
  if (num_rows <= 0) return;
  victims_.clear();
  cold_.TakeWorst(num_rows, &victims_);
  const size_t num_cold = victims_.size();
  for (uint32_t position; static_cast<int64_t>(victims_.size()) < num_rows;) {
    if (!ring_.TakeLastMarked(admitted_end_, &position)) break;
    ring_.set_slot(position, kNotHeld);
    victims_.push_back(ring_.key(position).id());
  }
  for (size_t i = 0; i < victims_.size(); ++i) {
    if (i + kNear < victims_.size()) index_.Prefetch(victims_[i + kNear]);
    RowEntry* const entry = index_.Find(victims_[i]);
    FreeSlot(std::exchange(entry->slot, -1));
    if (i < num_cold) index_.Remove(entry);  // the others are announced
  }
}

}  // namespace vicinity
