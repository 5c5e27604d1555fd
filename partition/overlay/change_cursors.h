// How far readers of a shard's changes, who name themselves, have come: what each has acknowledged
// last. Whoever goes on behind that gets every change at least once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/overlay/delta_store.h"
#include "partition/overlay/live_values.h"
#include "proto/common/mutex.h"

namespace vicinity {

// They are in the store of one server, and go with it: a reader that is not known begins earlier,
// with the first change.
//
// Threads:  any. Of two that move one cursor at once, the lower version may be what is on disk.
// Lifetime: the store outlives it.
class ChangeCursors {
 public:
  static constexpr size_t kMost = 1024;
  static constexpr size_t kMostNameBytes = 64;

  // Those that the store has. DataLoss naming one that does not read.
  static absl::StatusOr<std::unique_ptr<ChangeCursors>> Open(DeltaStore* store);

  // InvalidArgument: it has no bytes, or too many.
  static absl::Status CheckName(std::string_view name);

  // What it has acknowledged; version 0 of one that is not known.
  LogPosition Find(const std::string& name) const;
  // It has acknowledged all up to this version; a lower one than before changes nothing. On disk
  // when it returns. ResourceExhausted: it would be one more than kMost; DeltaStore's errors.
  absl::Status Move(const std::string& name, const LogPosition& to);
  // Nothing if it is not known.
  absl::Status Drop(const std::string& name);
  std::vector<ChangeCursor> List() const;  // by name
  // The version of the one that is farthest behind; `none` without any.
  uint64_t Oldest(uint64_t none) const;

 private:
  explicit ChangeCursors(DeltaStore* store) : store_(store) {}

  DeltaStore* const store_;
  mutable Mutex mu_;
  std::map<std::string, ChangeCursor> cursors_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
