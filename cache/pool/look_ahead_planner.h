// Decides which rows a pool holds and where: ids in, slots out. It knows no row bytes and no
// threads, so pools in host memory and on a device share it, and a simulation runs it alone.
//
// Batches are Announced as soon as they are sampled, and Admitted in the same order when their rows
// are to be fetched. Between the two, their ids tell which rows are needed when. A row is held at
// most once. While a batch is in flight its rows are pinned; of the other rows the planner keeps as
// many as fit. What has to go is:
//
//   first   rows that no announced batch needs: the least likely by the ranking, and of equally
//           likely ones the longest unused;
//   then    the row whose next use is farthest ahead: Belady's rule, as far as one can see.
//
// Rows over the capacity are held only while batches in flight pin more than that. Once they are
// released they stay only if they have a better claim than another row that is held.
//
// Chains in the use ring. Every mention of a row in a batch is a use, and has a position in the
// ring. The uses of one row form a chain, from each to the next:
//
//   row           A     B  |  C     B  ||  A     D  |  E     B
//   position     100   101 | 102   103 || 104   105 | 106   107
//   next         104   103 |  .    107 ||  .     .  |  .     .       . is the position itself
//   slot          4     7  |  2     7  ||  4     5* | -1     7       * is marked
//                |  two batches in     ||  two announced batches   |
//                |  flight: pinned     ||                          |
//             begin()             admitted_end_                  end()
//
// A, B and C are pinned. D is held, and may go: its next use is marked. E is not held. When the
// first batch ends, the use of A at 104 is marked. When the second ends, so is that of B at 107; C,
// of which no use is known then, goes cold (cache/pool/cold_rows.h). To find the row that is needed
// last is to find the last mark.
//
//   I1  The index has exactly the rows that are held or have a use in the ring. An entry's last_use
//       is the end of its chain, or, of a row that has none, a position that is gone.
//   I2  A use that is admitted has its row's slot, or, once Disown() took the row from it, a slot
//       that is free when the use ends. A row's first use that is not admitted has the row's slot,
//       or -1 if the row is not held. Later uses learn the slot when the one before is admitted.
//   I3  Marked are exactly the first uses of rows that are held and not pinned, all of them
//       announced.
//   I4  Cold are exactly the rows that are held and have no use in the ring.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/pool/cold_rows.h"
#include "cache/pool/likelihood_classes.h"
#include "cache/pool/row_index.h"
#include "cache/pool/use_ring.h"

namespace vicinity {

// Where the rows of one batch are.
struct RowPlan {
  int64_t ticket = 0;            // names the batch to the planner
  std::vector<int32_t> slots;    // of each id
  std::vector<int32_t> missing;  // rising indexes into the ids: rows to be fetched into their slots
};

// Threads: one at a time.
// Order:   deterministic: the same calls give the same slots.
// Memory:  about 80 bytes a row of the capacity, 20 a ranked node, and for announced batches and
//          those in flight 17 to 34 an id and 27 to 53 a node that is not held.
// Cost:    some 25 nanoseconds an id for all three calls about a batch; no allocation a row.
class LookAheadPlanner {
 public:
  struct Options {
    int64_t capacity_rows = 0;
    // Whether rows that no announced batch needs go least likely first, or all by their last use.
    bool use_likelihood = true;
    // Where it begins to count mentions, which it does modulo 2^32: for tests.
    uint32_t first_position = 1;
  };

  // `ranked`: nodes that batches may need, likeliest first; not kept. The first `capacity_rows` of
  // them are held from the start, in slots 0, 1, ... InvalidArgument, with the value: a capacity
  // below 0 or above kMaxRows; a ranked id that is repeated or none.
  static absl::StatusOr<std::unique_ptr<LookAheadPlanner>> Create(const Options& options,
                                                                  absl::Span<const int64_t> ranked);

  // The ids that a later Admit will bring: it takes announcements in their order. Admit does
  // without, so whoever cannot look ahead need not announce. InvalidArgument naming an id below 0
  // or above RowKey::kMaxId; ResourceExhausted: kMaxRows held, announced or in flight.
  absl::Status Announce(absl::Span<const int64_t> ids);

  // Drops the announcements that were not admitted.
  void Forget();
  int64_t num_announced() const { return static_cast<int64_t>(announced_.size()); }

  // Pins the row of every id until Release. A repeated id is missing at its first mention only.
  // InvalidArgument if `ids` are not those of the oldest announcement; otherwise fails as Announce;
  // nothing is changed then.
  absl::Status Admit(absl::Span<const int64_t> ids, RowPlan* plan);

  // Ends a batch, once. Its rows are unpinned when all batches admitted before it have ended too.
  void Release(int64_t ticket);

  // Some of a batch's missing rows, as indexes into its ids, did not come: whoever asks for their
  // nodes from now on is told that they are missing. Their slots are free once the batches that
  // share them have ended.
  void Disown(int64_t ticket, absl::Span<const int32_t> missing);

  int64_t capacity_rows() const { return capacity_; }
  int64_t held_rows() const { return held_; }
  int64_t most_held_rows() const { return most_held_; }
  // An upper bound of the rows that are pinned: what batches in flight mention, repeats and all.
  int64_t uses_in_flight() const {
    return in_flight_.empty() ? 0 : int64_t{admitted_end_ - in_flight_.front().begin};
  }
  // All slots handed out so far are below it. Slots from the capacity on are those of rows over it.
  int64_t num_slots() const { return num_slots_; }

  static constexpr int64_t kMaxRows = int64_t{1} << 29;

 private:
  // A batch whose uses are [begin, end) of the ring.
  struct Batch {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool has_repeats = false;
    bool ended = false;
    bool forgotten = false;  // it was never admitted, and its uses mean nothing
  };

  LookAheadPlanner(const Options& options, absl::Span<const int64_t> ranked);

  absl::Status CheckIds(absl::Span<const int64_t> ids) const;
  RowKey KeyOf(int64_t id) const;
  bool IsAdmitted(uint32_t position) const {
    return static_cast<int32_t>(position - admitted_end_) < 0;
  }
  void PrefetchUse(int64_t id) const;
  void AppendNextUse(RowEntry* entry, Batch* batch);
  void AppendOnlyUse(int64_t id, RowEntry* entry);

  bool IsOldestAnnounced(absl::Span<const int64_t> ids) const;
  void FindHeld(const Batch& batch, RowPlan* plan);
  void PlaceMissing(absl::Span<const int64_t> ids, const Batch& batch, RowPlan* plan);
  void PlaceRepeats(const Batch& batch, RowPlan* plan);
  int32_t PassSlotOn(uint32_t position);

  void Unpin(const Batch& batch);
  void DisownUse(uint32_t position);
  void CutChains();
  void ForgetUses(uint32_t first, uint32_t last);
  uint32_t NewStamp();
  void RestampInTime(uint32_t begin);

  int32_t TakeSlot();
  void FreeSlot(int32_t slot);
  void Evict(int64_t num_rows);

  const int64_t capacity_;
  const bool use_likelihood_;
  const LikelihoodClasses classes_;
  RowIndex index_;
  UseRing ring_;
  ColdRows cold_;

  // By ticket. A batch that has ended stays while one before it has not.
  std::deque<Batch> in_flight_;
  std::deque<Batch> announced_;
  // The ticket of in_flight_.front().
  int64_t first_ticket_ = 0;
  uint32_t num_stamps_ = 0;
  // Uses before it are of batches in flight, the others are announced.
  uint32_t admitted_end_;

  std::vector<int32_t> free_;           // slots below the capacity
  std::vector<int32_t> free_overflow_;  // slots from the capacity on
  int64_t num_slots_ = 0;
  int64_t held_ = 0;
  int64_t most_held_ = 0;
  std::vector<int64_t> victims_;  // scratch: ids
};

}  // namespace vicinity
