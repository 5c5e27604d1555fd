#include "server/handlers/verify_handler.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/health/scrubber.h"

namespace vicinity {

absl::StatusOr<proto::VerifyReply> VerifyFiles(Dataset* dataset, int64_t bytes_per_second,
                                               ShardHealth* health, spdlog::logger* log,
                                               const std::function<bool()>& gone) {
  const std::unique_ptr<Scrubber> scrubber =
      Scrubber::Start(dataset, Scrubber::Which::kOnce, bytes_per_second, health, log);
  while (!scrubber->WaitUntilDone(std::chrono::milliseconds(20))) {
    if (gone()) return absl::CancelledError("the caller left before all files were read");
  }
  proto::VerifyReply reply;
  reply.set_files(static_cast<uint64_t>(scrubber->num_files()));
  reply.set_bytes(static_cast<uint64_t>(scrubber->num_bytes()));
  for (const ShardHealth::State& shard : health->states()) {
    if (!shard.fault.empty()) reply.add_faults(shard.fault);
  }
  for (std::string& note : scrubber->notes()) reply.add_faults(std::move(note));
  return reply;
}

}  // namespace vicinity
