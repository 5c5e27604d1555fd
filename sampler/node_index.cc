#include "sampler/node_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {
namespace {

constexpr size_t kLookupsAhead = 16;

// Room is made for so many ids at a time, so that looking them up need not look at room.
constexpr size_t kIdsAtATime = 1024;

}  // namespace

void NodeIndex::Clear(size_t num_nodes) {
  if (slots_.size() > kMinSlots && slots_.size() > 16 * num_nodes) {
    Resize(slots_.size() / 2);
  } else {
    std::fill(slots_.begin(), slots_.end(), kEmpty);
  }
}

void NodeIndex::FindOrAdd(absl::Span<const int64_t> ids, std::vector<int64_t>* known,
                          int32_t* positions) {
  for (size_t first = 0; first < ids.size(); first += kIdsAtATime) {
    const absl::Span<const int64_t> some = ids.subspan(first, kIdsAtATime);
    size_t num_slots = slots_.size();
    while (num_slots < 2 * (known->size() + some.size())) num_slots *= 2;
    if (num_slots > slots_.size()) Grow(num_slots, *known);
    if (wide_) {
      FindOrAddSome<true>(some, known, positions + first);
    } else {
      FindOrAddSome<false>(some, known, positions + first);
    }
  }
}

// Whether an id is new is anybody's guess, so no branch depends on it: a wrong guess would cost
// more than a store that changes nothing.
template <bool kWide>
void NodeIndex::FindOrAddSome(absl::Span<const int64_t> ids, std::vector<int64_t>* known,
                              int32_t* positions) {
  size_t size = known->size();
  known->resize(size + ids.size());
  int64_t* const list = known->data();
  uint64_t* const slots = slots_.data();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kLookupsAhead < ids.size()) {
      __builtin_prefetch(&slots[Home(ids[i + kLookupsAhead])], 1);
    }
    const int64_t id = ids[i];
    const uint64_t tag = static_cast<uint64_t>(id) << 32;
    size_t slot = Home(id);
    uint64_t entry = slots[slot];
    const auto other = [&] {
      if (entry == kEmpty) return false;
      if ((entry ^ tag) >> 32 != 0) return true;
      return kWide && list[static_cast<uint32_t>(entry) - 1] != id;
    };
    while (other()) {
      slot = (slot + 1) & mask_;
      entry = slots[slot];
    }
    const bool is_new = entry == kEmpty;
    list[size] = id;
    size += is_new ? 1 : 0;
    entry = is_new ? tag | size : entry;
    slots[slot] = entry;
    positions[i] = static_cast<int32_t>(static_cast<uint32_t>(entry) - 1);
  }
  known->resize(size);
}

void NodeIndex::Find(absl::Span<const int64_t> ids, const std::vector<int64_t>& known,
                     int32_t* positions) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kLookupsAhead < ids.size()) __builtin_prefetch(&slots_[Home(ids[i + kLookupsAhead])]);
    const uint64_t tag = static_cast<uint64_t>(ids[i]) << 32;
    size_t slot = Home(ids[i]);
    const auto is_other = [&] {
      if (slots_[slot] == kEmpty) return false;
      if ((slots_[slot] ^ tag) >> 32 != 0) return true;
      return wide_ && known[static_cast<uint32_t>(slots_[slot]) - 1] != ids[i];
    };
    while (is_other()) slot = (slot + 1) & mask_;
    positions[i] = static_cast<int32_t>(static_cast<uint32_t>(slots_[slot])) - 1;
  }
}

void NodeIndex::Resize(size_t num_slots) {
  slots_ = {};  // before there is another
  slots_.assign(num_slots, kEmpty);
  mask_ = num_slots - 1;
  shift_ = 64 - __builtin_ctzll(num_slots);
}

void NodeIndex::Grow(size_t num_slots, const std::vector<int64_t>& known) {
  Resize(num_slots);
  for (size_t position = 0; position < known.size(); ++position) {
    size_t slot = Home(known[position]);
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask_;
    slots_[slot] = static_cast<uint64_t>(known[position]) << 32 | (position + 1);
  }
}

}  // namespace vicinity
