// The host as a device: what runs where there is no GPU, and the oracle of what runs where there
// is one. Kernels are loops over the very threads that a GPU runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "proto/common/mutex.h"
#include "proto/common/random.h"

namespace vicinity {

// When work is done. A GPU promises no more than kLate does, so what is right there in any order
// does not lack an event.
enum class HostOrder : uint8_t {
  kAtOnce,  // inside the call that puts it in
  kLate,    // when somebody asks whether it is done: streams then take turns at random, and so do
            // the threads of a kernel. New memory is full of rubbish. For tests.
};

// Threads: as Device. Work of all streams is done one piece at a time.
class HostDevice : public Device {
 public:
  explicit HostDevice(HostOrder order = HostOrder::kAtOnce, uint64_t seed = 1);
  ~HostDevice() override;

  std::string name() const override { return "host"; }
  bool is_cuda() const override { return false; }
  int32_t ordinal() const override { return 0; }
  absl::StatusOr<DeviceMemory> Allocate(MemoryKind kind, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> WrapStream(void* native) override;

 private:
  class Stream;
  class Event;

  // How far an event is: it counts its recordings.
  struct Points {
    int64_t recorded = 0;
    int64_t reached = 0;
    std::chrono::steady_clock::time_point time;
  };
  // The next piece of a stream: waits for a recording, or is work.
  struct Piece {
    std::shared_ptr<const Points> wait_for;
    int64_t point = 0;
    std::function<void()> work;
  };
  using Queue = std::deque<Piece>;

  void Put(Queue* queue, Piece piece);
  void PutLocked(Queue* queue, Piece piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A piece of some stream, chosen at random; false: none can be done.
  bool DoOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DoAll();
  // Of a kernel's threads; at random where work is late.
  ThreadOrder DrawOrder(int64_t num_threads) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Free(MemoryKind kind, void* data) override;

  const HostOrder order_;
  Mutex mu_;
  NodeDraws draws_ ABSL_GUARDED_BY(mu_);
  std::vector<Queue*> queues_ ABSL_GUARDED_BY(mu_);  // of the streams there are
};

}  // namespace vicinity
