#include "partition/overlay/change_cursors.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"

namespace vicinity {

absl::StatusOr<std::unique_ptr<ChangeCursors>> ChangeCursors::Open(DeltaStore* store) {
  std::unique_ptr<ChangeCursors> cursors(new ChangeCursors(store));
  std::map<std::string, ChangeCursor> read;
  const auto take = [&](std::string_view name, std::string_view bytes) -> absl::Status {
    proto::ChangeCursor stored;
    if (!stored.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return absl::DataLossError(
          absl::StrCat(store->folder(), ": the cursor \"", std::string(name), "\" does not read"));
    }
    read[std::string(name)] = {
        std::string(name), {stored.at().version(), stored.at().term()}, stored.unix_micros()};
    return absl::OkStatus();
  };
  VICINITY_RETURN_IF_ERROR(store->ReadCursors(take));
  MutexLock lock(&cursors->mu_);
  cursors->cursors_ = std::move(read);
  return cursors;
}

absl::Status ChangeCursors::CheckName(std::string_view name) {
  if (!name.empty() && name.size() <= kMostNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a cursor's name has 1 to ", kMostNameBytes,
                                                 " bytes, this one has ", name.size()));
}

LogPosition ChangeCursors::Find(const std::string& name) const {
  MutexLock lock(&mu_);
  const auto found = cursors_.find(name);
  return found == cursors_.end() ? LogPosition() : found->second.at;
}

absl::Status ChangeCursors::Move(const std::string& name, const LogPosition& to) {
  VICINITY_RETURN_IF_ERROR(CheckName(name));
  const ChangeCursor moved = {name, to, absl::ToUnixMicros(absl::Now())};
  {
    MutexLock lock(&mu_);
    const auto found = cursors_.find(name);
    if (found != cursors_.end() && found->second.at.version >= to.version) return absl::OkStatus();
    if (found == cursors_.end() && cursors_.size() >= kMost) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there are ", kMost, " cursors, and \"", name,
                       "\" would be one more: drop those that nobody reads by any more"));
    }
    if (found == cursors_.end()) cursors_[name].name = name;  // its place; it is at version 0 yet
  }
  proto::ChangeCursor stored;
  stored.mutable_at()->set_version(to.version);
  stored.mutable_at()->set_term(to.term);
  stored.set_unix_micros(moved.unix_micros);
  const absl::Status saved = store_->SaveCursor(name, stored.SerializeAsString());
  MutexLock lock(&mu_);
  ChangeCursor& cursor = cursors_[name];
  if (saved.ok() && cursor.at.version <= to.version) cursor = moved;
  if (!saved.ok() && cursor.unix_micros == 0) cursors_.erase(name);
  return saved;
}

absl::Status ChangeCursors::Drop(const std::string& name) {
  VICINITY_RETURN_IF_ERROR(store_->DropCursor(name));
  MutexLock lock(&mu_);
  cursors_.erase(name);
  return absl::OkStatus();
}

std::vector<ChangeCursor> ChangeCursors::List() const {
  MutexLock lock(&mu_);
  std::vector<ChangeCursor> list;
  for (const auto& [name, cursor] : cursors_) list.push_back(cursor);
  return list;
}

uint64_t ChangeCursors::Oldest(uint64_t none) const {
  MutexLock lock(&mu_);
  uint64_t oldest = none;
  for (const auto& [name, cursor] : cursors_) oldest = std::min(oldest, cursor.at.version);
  return oldest;
}

}  // namespace vicinity
