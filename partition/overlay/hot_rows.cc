#include "partition/overlay/hot_rows.h"

#include "proto/common/row_prefetch.h"

namespace vicinity {

HotRows::Part HotRows::PartOf(uint64_t part) const {
  const auto found = parts_.find(part);
  Part view;
  view.slots_ = found == parts_.end() ? nullptr : &found->second;
  return view;
}

void HotRows::Part::Prefetch(int64_t slot) const {
  if (slot == kNone) return;
  __builtin_prefetch(&slots_->owners[slot]);
  vicinity::PrefetchRow(slots_->rows.row(slot), slots_->rows.row_bytes());
}

const char* HotRows::Part::Find(int64_t slot, const Owner& owner) const {
  if (slot == kNone) return nullptr;
  return slots_->owners[slot] == owner ? slots_->rows.row(slot) : nullptr;
}

int64_t HotRows::Keep(uint64_t part, const Owner& owner, std::string_view row) {
  const auto row_bytes = static_cast<int64_t>(row.size());
  Slots& slots = parts_.try_emplace(part, Slots{RowBlocks(row_bytes)}).first->second;
  const int64_t more = slots.rows.BytesToAppend();
  if (bytes_ + more <= limit_bytes_) {
    bytes_ += more;
    slots.rows.Append(row.data(), 1);
    slots.owners.push_back(owner);
    return slots.rows.size() - 1;
  }
  if (slots.owners.empty()) return kNone;
  const int64_t slot = slots.next;
  slots.next = (slot + 1) % slots.rows.size();
  slots.rows.Overwrite(slot, row.data());
  slots.owners[slot] = owner;
  return slot;
}

}  // namespace vicinity
