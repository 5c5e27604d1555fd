// What one call of a server leaves behind of itself: its spans, if its caller has sampled its
// trace, and a line for the log, if it took long.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/telemetry/trace_context.h"
#include "server/calls/server_tracing.h"

namespace vicinity {

// The moments of a call, in this order:
//
//   Begins   its request is there                          span  FetchRows
//   Works    it has its turn, and a message is being made    queue: Begins - the first Works
//   Made     the message is there                            work:  the first Works - the last Made
//   Sends    the first message goes                          send:  Sends - Over
//   Ends     how it ended is known
//   Over     its client has taken all, or is gone
//
// Without Begins, and where nothing is looked for, the others cost a branch.
//
// Threads: one at a time; Works and Made may be another's than Sends, at the same time.
class CallTrace {
 public:
  using Clock = std::chrono::steady_clock;

  // `tracing` outlives it; null: nothing is recorded. `path` as Operation::path. `traceparent`: as
  // it came, whatever it is.
  void Begins(ServerTracing* tracing, absl::string_view path, absl::string_view traceparent,
              int64_t request_bytes);
  void Works() {
    if (tracing_ != nullptr) WorksAt(Clock::now());
  }
  void Made(int64_t payload) {
    if (tracing_ != nullptr) MadeAt(Clock::now(), payload);
  }
  void Sends() {
    if (tracing_ != nullptr && !sends_.has_value()) sends_ = Clock::now();
  }
  void Ends(absl::StatusCode code) { code_ = code; }
  // Records it. What is to be said in the log of a slow call; empty: nothing.
  std::string Over(absl::string_view peer) {
    return tracing_ != nullptr ? OverAt(Clock::now(), peer) : std::string();
  }

 private:
  void WorksAt(Clock::time_point now);
  void MadeAt(Clock::time_point now, int64_t payload);
  std::string OverAt(Clock::time_point now, absl::string_view peer);
  void Record(Clock::time_point now, absl::string_view peer) const;

  ServerTracing* tracing_ = nullptr;
  absl::string_view path_;
  TraceContext caller_;  // invalid: it is not recorded
  int64_t request_bytes_ = 0;
  Clock::time_point begun_;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  std::optional<Clock::time_point> sends_;
  // The worker's.
  std::optional<Clock::time_point> works_;
  Clock::time_point works_since_;
  Clock::time_point made_;
  Clock::duration work_{0};
  int64_t payload_ = 0;
  int64_t messages_ = 0;
};

}  // namespace vicinity
