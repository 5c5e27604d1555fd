// Single questions to single servers, and the same question to many at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/flags/servers_flags.h"
#include "proto/common/thread.h"
#include "proto/service.pb.h"

namespace vicinity::cli {

// Each makes a connection of its own, asks, and waits no longer than `timeout`. Unavailable or
// DeadlineExceeded if nobody answers, Unauthenticated if that is for want of TLS or of the right
// certificates, else what the server said.
absl::StatusOr<proto::StatusReply> AskStatus(const ServerTarget& server, absl::Duration timeout);
// With all that the server counts.
absl::StatusOr<proto::StatusReply> AskStatusAndMetrics(const ServerTarget& server,
                                                       absl::Duration timeout);
absl::StatusOr<proto::DescribeReply> AskDescribe(const ServerTarget& server,
                                                 absl::Duration timeout);
struct HealthAnswer {
  std::string health;  // "serving" or "not serving", as the standard health service puts it
  absl::Time certificate_expires = absl::InfiniteFuture();  // of that which the server showed
};
absl::StatusOr<HealthAnswer> AskHealth(const ServerTarget& server, absl::Duration timeout);

// The answers of all targets, in their order: at most 16 are asked at a time. `ask` is one of the
// above or like them: (const ServerTarget&, absl::Duration) to a StatusOr.
template <typename Ask>
auto AskAll(const std::vector<ServerTarget>& targets, absl::Duration timeout, const Ask& ask) {
  using Answer = decltype(ask(targets.front(), timeout));
  std::vector<Answer> answers(targets.size(), absl::UnknownError("not asked"));
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  const auto ask_on = [&] {
    for (size_t i = next++; i < targets.size(); i = next++) answers[i] = ask(targets[i], timeout);
  };
  for (size_t t = 0; t < std::min<size_t>(targets.size(), 16); ++t) {
    absl::StatusOr<std::thread> thread = StartThread(ask_on);
    if (thread.ok()) threads.push_back(*std::move(thread));
  }
  if (threads.empty()) ask_on();  // one after the other, then
  for (std::thread& thread : threads) thread.join();
  return answers;
}

}  // namespace vicinity::cli
