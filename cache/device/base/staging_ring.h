// Pinned memory through which rows and lists go to a device, chunk by chunk, on a stream of its
// own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Each chunk is there twice, in pinned and in device memory. Its way: a Lease is taken, filled on
// the host, sent, read by work of some stream, and done; it is free again once that stream is past
// the work. So what is under way is bounded by the ring's bytes, and nobody waits on the host but
// who wants a chunk while all are under way.
//
// Threads:  any number. Lifetime: the device outlives it, it outlives its leases.
// Memory:   num_chunks * chunk_bytes, pinned and on the device each.
class StagingRing {
 public:
  struct Options {
    int64_t chunk_bytes = int64_t{1} << 20;
    int32_t num_chunks = 8;
    std::chrono::nanoseconds timeout = std::chrono::seconds(10);  // for a free chunk
  };

  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    char* host() const;
    char* device() const;

    // Sends the first `bytes`; what `worker` gets from now on finds them at device().
    absl::Status Send(int64_t bytes, DeviceStream* worker);
    // What `worker` got so far is the last to look at the chunk. Without it, a chunk that was sent
    // is free as soon as it is there.
    absl::Status Done(DeviceStream* worker);

   private:
    friend class StagingRing;
    Lease(StagingRing* ring, int32_t chunk) : ring_(ring), chunk_(chunk) {}
    StagingRing* ring_;
    int32_t chunk_;
  };

  // InvalidArgument: no bytes or no chunks; else as Device::Allocate.
  static absl::StatusOr<std::unique_ptr<StagingRing>> Create(Device* device,
                                                             const Options& options);
  ~StagingRing();

  // DeadlineExceeded if none is free in time.
  absl::StatusOr<Lease> Take();

  int64_t chunk_bytes() const { return options_.chunk_bytes; }

 private:
  struct Chunk {
    DeviceMemory host;
    DeviceMemory device;
    std::unique_ptr<DeviceEvent> sent;
    std::unique_ptr<DeviceEvent> done;
  };

  explicit StagingRing(const Options& options) : options_(options) {}

  absl::StatusOr<int32_t> TakeFree(std::chrono::steady_clock::time_point deadline);
  void GiveBack(int32_t chunk);

  const Options options_;
  std::vector<Chunk> chunks_;  // the one who has a chunk's lease works with it
  std::unique_ptr<DeviceStream> copies_;
  Mutex mu_;
  CondVar given_back_;
  std::deque<int32_t> free_ ABSL_GUARDED_BY(mu_);  // the longest given back first
};

}  // namespace vicinity
