// Reading a server's log on, from where it was read before, over whatever becomes of the server.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/admin.pb.h"

namespace vicinity::cli {

// One server's. No line comes twice; lines that can be had no more are told as a note.
//
// Threads: one at a time.
class LogFollower {
 public:
  // Asks the server, and waits for a limited time.
  using Ask = std::function<absl::StatusOr<proto::LogsReply>(const proto::LogsRequest& request)>;

  struct News {
    std::vector<proto::LogLine> lines;  // the oldest first
    uint64_t run = 0;                   // of all lines
    std::vector<std::string> notes;     // for people: gaps in front of the lines, and who is away
  };

  // Begins with the newest `last` lines, 0: all that there are, of `level` and above, empty: all.
  LogFollower(Ask ask, uint32_t last, std::string level);

  // Asks once. A server that does not answer, or does not number its lines, is a note the first
  // time and when it answers again.
  News Next();

  // Of the last answer.
  const absl::Status& status() const { return status_; }

 private:
  // What is to be said before the lines of `reply`.
  std::vector<std::string> NotesOf(const proto::LogsReply& reply) const;

  const Ask ask_;
  const uint32_t last_;
  const std::string level_;
  absl::Status status_;
  uint64_t run_ = 0;   // 0: never heard of
  uint64_t next_ = 0;  // number in `run_`
};

}  // namespace vicinity::cli
