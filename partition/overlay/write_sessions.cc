#include "partition/overlay/write_sessions.h"

#include "absl/strings/str_cat.h"

namespace vicinity {

absl::StatusOr<std::optional<uint64_t>> WriteSessions::Find(const std::string& session,
                                                            uint64_t sequence) const {
  if (sequence == 0) return absl::InvalidArgumentError("the batches of a session count from 1");
  const auto found = sessions_.find(session);
  const uint64_t last = found == sessions_.end() ? 0 : found->second.last;
  if (sequence == last + 1) return std::optional<uint64_t>();
  if (sequence > last) {
    return absl::OutOfRangeError(absl::StrCat(
        "batch ", sequence, " of a session of which ", last, " comes last here: batch ", last + 1,
        " comes next; after too long a silence a writer begins a new session"));
  }
  const std::deque<uint64_t>& versions = found->second.versions;
  const uint64_t ago = last - sequence;
  if (ago < versions.size()) return std::optional<uint64_t>(versions[versions.size() - 1 - ago]);
  return absl::OutOfRangeError(
      absl::StrCat("batch ", sequence, " was applied too long ago: ", last, " came since"));
}

void WriteSessions::Add(const std::string& name, uint64_t sequence, uint64_t version) {
  Session& session = sessions_[name];
  if (!session.versions.empty()) by_version_.erase(session.versions.back());
  session.last = sequence;
  session.versions.push_back(version);
  if (session.versions.size() > kMostOnTheWay) session.versions.pop_front();
  by_version_.emplace(version, name);
  if (sessions_.size() <= kMostSessions) return;
  sessions_.erase(by_version_.begin()->second);
  by_version_.erase(by_version_.begin());
}

}  // namespace vicinity
