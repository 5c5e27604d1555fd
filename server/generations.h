// The datasets of a server: the one in force, the one that is to take its place, and those before.
//
// A fold makes new files of a dataset and of what was written to it. They take its place while both
// are served, in steps that are ordered from outside (`vicinity swap`), on all servers alike:
//
//   prepare   the new files are open. What is written meanwhile is carried over to them (Carry).
//   close     the old shards take no changes: what is carried over now is the rest.
//   commit    the new dataset is in force, and takes changes; that is on disk, in the folder of
//             changes. Whoever has the old one open reads on.
//
// Until the commit `abort` leads back. A server that ends on the way begins where it was: closed
// shards are closed, what was carried over is there, and the dataset in force is what was
// committed.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/registry.h"
#include "server/generation.h"
#include "server/generation_record.h"
#include "server/handlers/state_source.h"
#include "server/server_options.h"

namespace vicinity {

// Threads:  any; one of its own, which lets go of what nobody reads any more.
// Lifetime: options and metrics outlive it, and its states.
// Memory:   until an old dataset is let go its changes take memory beside the new one's.
class Generations final : public StateSource {
 public:
  // Opens the dataset in force. Errors: Generation::Open's; FailedPrecondition naming both if
  // `options.data` is neither that nor one before it; DataLoss: which it is does not read.
  static absl::StatusOr<std::unique_ptr<Generations>> Open(const ServerOptions& options,
                                                           MetricRegistry* metrics);
  ~Generations() override;
  Generations(const Generations&) = delete;
  Generations& operator=(const Generations&) = delete;

  // Once, before Of: `common` is what its datasets' states have in common.
  absl::Status Start(const ServerState& common);
  void Stop();

  std::shared_ptr<const ServerState> Of(uint64_t fingerprint) const override;
  std::shared_ptr<Generation> in_force() const;

  // A step (proto/admin.proto). Errors as there; else those of opening and of writing.
  absl::StatusOr<proto::SwapReply> Swap(const proto::SwapRequest& request);

 private:
  using Clock = std::chrono::steady_clock;
  using GenerationPtr = std::shared_ptr<Generation>;
  struct Retired {
    GenerationPtr generation;
    mutable Clock::time_point last_read;
  };

  Generations(const ServerOptions& options, MetricRegistry* metrics, GenerationPtr in_force,
              std::vector<uint64_t> before);

  absl::Status Prepare(const proto::SwapRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(swap_mu_);
  absl::Status CloseShards(const proto::SwapRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(swap_mu_);
  absl::Status Commit(const proto::SwapRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(swap_mu_);
  absl::Status Abort(const proto::SwapRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(swap_mu_);
  // That `request` follows what is in force.
  absl::Status CheckOrder(const proto::SwapRequest& request) const;
  absl::StatusOr<GenerationPtr> PreparedFor(const proto::SwapRequest& request) const;
  absl::StatusOr<proto::SwapReply> Report() const;
  std::vector<uint64_t> Others() const;
  void LetGo();  // of its thread

  const ServerOptions& options_;
  MetricRegistry* const metrics_;
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it
  MetricRegistry::Group own_metrics_;
  ServerState common_;
  std::thread thread_;

  Mutex swap_mu_;  // held while a step is taken; before mu_
  std::vector<uint64_t> before_ ABSL_GUARDED_BY(swap_mu_);

  mutable Mutex mu_;
  CondVar changed_;
  GenerationPtr in_force_ ABSL_GUARDED_BY(mu_);
  GenerationPtr prepared_ ABSL_GUARDED_BY(mu_);  // null: none
  std::vector<Retired> retired_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vicinity
