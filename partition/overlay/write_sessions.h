// Which batches of which writers have been applied, so that one that comes again is answered and
// not applied again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity {

// It is what the change log says: reading that again gives the same.
//
// Threads: one at a time.
class WriteSessions {
 public:
  // So many batches of a writer may be on their way at once: later repeats are not known any more.
  static constexpr size_t kMostOnTheWay = 64;
  // Of more writers those are forgotten that have been silent for longest.
  static constexpr size_t kMostSessions = 4096;

  // The version that a batch was applied at; nothing: it comes next. InvalidArgument: a number of
  // 0; OutOfRange naming the number that comes next: one is left out, or it is a repeat of
  // so long ago that its version is not known any more, or of a session that is.
  absl::StatusOr<std::optional<uint64_t>> Find(const std::string& session, uint64_t sequence) const;
  // Whether any of its batches is known.
  bool Knows(const std::string& session) const { return sessions_.contains(session); }
  void Add(const std::string& session, uint64_t sequence, uint64_t version);
  size_t size() const { return sessions_.size(); }

 private:
  struct Session {
    uint64_t last = 0;
    std::deque<uint64_t> versions;  // of the last batches, `last` at the back
  };
  absl::flat_hash_map<std::string, Session> sessions_;
  std::map<uint64_t, std::string> by_version_;  // the last of each
};

}  // namespace vicinity
