#include "cache/device/base/staging_ring.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {

StagingRing::Lease::Lease(Lease&& other) noexcept
    : ring_(std::exchange(other.ring_, nullptr)), chunk_(other.chunk_) {}

StagingRing::Lease::~Lease() {
  if (ring_ != nullptr) ring_->GiveBack(chunk_);
}

char* StagingRing::Lease::host() const { return ring_->chunks_[chunk_].host.data(); }
char* StagingRing::Lease::device() const { return ring_->chunks_[chunk_].device.data(); }

absl::Status StagingRing::Lease::Send(int64_t bytes, DeviceStream* worker) {
  const Chunk& chunk = ring_->chunks_[chunk_];
  VICINITY_RETURN_IF_ERROR(ring_->copies_->Copy(device(), host(), bytes));
  VICINITY_RETURN_IF_ERROR(ring_->copies_->Record(chunk.sent.get()));
  VICINITY_RETURN_IF_ERROR(ring_->copies_->Record(chunk.done.get()));
  return worker->WaitFor(*chunk.sent);
}

absl::Status StagingRing::Lease::Done(DeviceStream* worker) {
  return worker->Record(ring_->chunks_[chunk_].done.get());
}

absl::StatusOr<std::unique_ptr<StagingRing>> StagingRing::Create(Device* device,
                                                                 const Options& options) {
  if (options.chunk_bytes < 1 || options.num_chunks < 1) {
    return absl::InvalidArgumentError(absl::StrCat("a ring of ", options.num_chunks, " chunks of ",
                                                   options.chunk_bytes, " bytes"));
  }
  std::unique_ptr<StagingRing> ring(new StagingRing(options));
  VICINITY_ASSIGN_OR_RETURN(ring->copies_, device->NewStream());
  for (int32_t i = 0; i < options.num_chunks; ++i) {
    Chunk chunk;
    VICINITY_ASSIGN_OR_RETURN(chunk.host,
                              device->Allocate(MemoryKind::kPinned, options.chunk_bytes));
    VICINITY_ASSIGN_OR_RETURN(chunk.device,
                              device->Allocate(MemoryKind::kDevice, options.chunk_bytes));
    VICINITY_ASSIGN_OR_RETURN(chunk.sent, device->NewEvent());
    VICINITY_ASSIGN_OR_RETURN(chunk.done, device->NewEvent());
    ring->chunks_.push_back(std::move(chunk));
    ring->GiveBack(i);
  }
  return ring;
}

StagingRing::~StagingRing() = default;

absl::StatusOr<StagingRing::Lease> StagingRing::Take() {
  const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
  VICINITY_ASSIGN_OR_RETURN(const int32_t chunk, TakeFree(deadline));
  Lease lease(this, chunk);
  VICINITY_RETURN_IF_ERROR(
      At("a chunk of the staging ring",
         chunks_[chunk].done->WaitOnHost(deadline - std::chrono::steady_clock::now())));
  return lease;
}

absl::StatusOr<int32_t> StagingRing::TakeFree(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(&mu_);
  while (free_.empty()) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("all ", options_.num_chunks, " chunks of the staging ring are taken"));
    }
    given_back_.WaitFor(&mu_, left);
  }
  const int32_t chunk = free_.front();
  free_.pop_front();
  return chunk;
}

void StagingRing::GiveBack(int32_t chunk) {
  {
    MutexLock lock(&mu_);
    free_.push_back(chunk);
  }
  given_back_.NotifyOne();
}

}  // namespace vicinity
