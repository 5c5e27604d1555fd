#include "client/cli/commands/operate/log_follower.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity::cli {
namespace {

absl::StatusOr<proto::LogsReply> Numbered(absl::StatusOr<proto::LogsReply> reply) {
  if (!reply.ok() || reply->run() != 0) return reply;
  return absl::FailedPreconditionError(
      "it is of a version that does not number its lines, so that nobody can follow them: "
      "upgrade it, or ask without --follow");
}

}  // namespace

LogFollower::LogFollower(Ask ask, uint32_t last, std::string level)
    : ask_(std::move(ask)), last_(last), level_(std::move(level)) {}

LogFollower::News LogFollower::Next() {
  proto::LogsRequest request;
  request.set_level(level_);
  if (run_ == 0) {
    request.set_last(last_);
  } else {
    request.set_run(run_);
    request.set_from(next_);
  }
  News news;
  absl::StatusOr<proto::LogsReply> reply = Numbered(ask_(request));
  if (!reply.ok()) {
    if (status_.ok()) {
      news.notes.push_back(absl::StrCat("waited for: ", reply.status().message()));
    }
    status_ = reply.status();
    return news;
  }
  news.notes = NotesOf(*reply);
  status_ = absl::OkStatus();
  run_ = reply->run();
  next_ = reply->next();
  news.run = run_;
  for (proto::LogLine& line : *reply->mutable_lines()) news.lines.push_back(std::move(line));
  return news;
}

std::vector<std::string> LogFollower::NotesOf(const proto::LogsReply& reply) const {
  std::vector<std::string> notes;
  const bool anew = run_ != 0 && reply.run() != run_;
  if (anew) {
    notes.emplace_back(
        "has been started again; what it said last before that may be in its own log alone");
  } else if (!status_.ok()) {
    notes.emplace_back("answers again");
  }
  if (run_ == 0) return notes;  // it began before anybody looked
  const uint64_t known = anew ? 0 : next_ - 1;
  if (reply.forgotten() > known) {
    notes.push_back(absl::StrCat(reply.forgotten() - known,
                                 " lines, of any level, are lost: they were no longer in its "
                                 "memory when it was asked"));
  }
  return notes;
}

}  // namespace vicinity::cli
