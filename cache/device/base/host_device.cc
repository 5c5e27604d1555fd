#include "cache/device/base/host_device.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cache/device/base/device.h"
#include "cache/device/base/kernel.h"
#include "proto/common/mutex.h"

namespace vicinity {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr int64_t kMostBytes = int64_t{1} << 40;  // more than any host of ours has
constexpr int kRubbish = 0xcd;
constexpr uint64_t kMostAtOnce = 4;  // pieces that are done when somebody asks

}  // namespace

class HostDevice::Event : public DeviceEvent {
 public:
  explicit Event(HostDevice* device) : device_(device), points_(std::make_shared<Points>()) {}

  absl::StatusOr<bool> Reached() override {
    MutexLock lock(&device_->mu_);
    if (device_->order_ == HostOrder::kLate) {
      for (uint64_t i = device_->draws_.Below(kMostAtOnce + 1); i > 0; --i) device_->DoOne();
    }
    return points_->reached == points_->recorded;
  }

  absl::StatusOr<double> SecondsSince(const DeviceEvent& start) const override {
    MutexLock lock(&device_->mu_);
    const Points& first = *static_cast<const Event&>(start).points_;
    if (first.reached != first.recorded || points_->reached != points_->recorded) {
      return absl::FailedPreconditionError("an event that is not reached");
    }
    return std::chrono::duration<double>(points_->time - first.time).count();
  }

 private:
  friend class Stream;
  HostDevice* const device_;
  const std::shared_ptr<Points> points_;  // shared with pieces that record it or wait for it
};

class HostDevice::Stream : public DeviceStream {
 public:
  explicit Stream(HostDevice* device) : device_(device) {
    MutexLock lock(&device_->mu_);
    device_->queues_.push_back(&queue_);
  }
  ~Stream() override {
    device_->DoAll();
    MutexLock lock(&device_->mu_);
    auto& queues = device_->queues_;
    queues.erase(std::find(queues.begin(), queues.end(), &queue_));
  }

  absl::Status Copy(void* to, const void* from, int64_t bytes) override {
    return PutWork([=] {
      if (bytes > 0) std::memcpy(to, from, bytes);
    });
  }
  absl::Status Fill(void* to, uint8_t value, int64_t bytes) override {
    return PutWork([=] {
      if (bytes > 0) std::memset(to, value, bytes);
    });
  }
  absl::Status Record(DeviceEvent* event) override {
    const std::shared_ptr<Points> points = static_cast<Event*>(event)->points_;
    MutexLock lock(&device_->mu_);
    const int64_t point = ++points->recorded;
    device_->PutLocked(&queue_, {nullptr, 0, [points, point] {
                                   if (point < points->reached)
                                     return;  // another stream was told later
                                   points->reached = point;
                                   points->time = std::chrono::steady_clock::now();
                                 }});
    return absl::OkStatus();
  }
  absl::Status WaitFor(const DeviceEvent& event) override {
    const std::shared_ptr<const Points> points = static_cast<const Event&>(event).points_;
    MutexLock lock(&device_->mu_);
    device_->PutLocked(&queue_, {points, points->recorded, [] {}});
    return absl::OkStatus();
  }

  absl::Status Launch(const Kernel& kernel) override {
    if (kernel.num_threads <= 0) return absl::OkStatus();
    MutexLock lock(&device_->mu_);
    const ThreadOrder order = device_->DrawOrder(kernel.num_threads);
    device_->PutLocked(&queue_, {nullptr, 0, [order, run = kernel.run_on_host] { run(order); }});
    return absl::OkStatus();
  }

  void* native() const override { return nullptr; }

 private:
  absl::Status PutWork(std::function<void()> work) {
    device_->Put(&queue_, {nullptr, 0, std::move(work)});
    return absl::OkStatus();
  }

  HostDevice* const device_;
  Queue queue_;  // guarded by the device's mutex
};

HostDevice::HostDevice(HostOrder order, uint64_t seed) : order_(order), draws_(seed, 0) {}
HostDevice::~HostDevice() = default;

void HostDevice::Put(Queue* queue, Piece piece) {
  MutexLock lock(&mu_);
  PutLocked(queue, std::move(piece));
}

void HostDevice::PutLocked(Queue* queue, Piece piece) {
  queue->push_back(std::move(piece));
  while (order_ == HostOrder::kAtOnce && DoOne()) continue;
}

bool HostDevice::DoOne() {
  std::vector<Queue*> ready;
  for (Queue* const queue : queues_) {
    if (queue->empty()) continue;
    const Piece& piece = queue->front();
    if (piece.wait_for == nullptr || piece.wait_for->reached >= piece.point) {
      ready.push_back(queue);
    }
  }
  if (ready.empty()) return false;
  Queue* const queue = ready.size() == 1 ? ready[0] : ready[draws_.Below(ready.size())];
  queue->front().work();
  queue->pop_front();
  return true;
}

void HostDevice::DoAll() {
  MutexLock lock(&mu_);
  while (DoOne()) continue;
}

ThreadOrder HostDevice::DrawOrder(int64_t num_threads) {
  ThreadOrder order;
  order.num_threads = num_threads;
  if (order_ == HostOrder::kAtOnce || num_threads == 1) return order;
  order.first = static_cast<int64_t>(draws_.Below(num_threads));
  do {
    order.step = 1 + static_cast<int64_t>(draws_.Below(num_threads - 1));
  } while (std::gcd(order.step, num_threads) != 1);
  return order;
}

absl::StatusOr<DeviceMemory> HostDevice::Allocate(MemoryKind kind, int64_t bytes) {
  if (bytes <= 0) return DeviceMemory();
  const auto rounded = (static_cast<uint64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  void* const data = bytes > kMostBytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no ", bytes, " bytes of host memory"));
  }
  if (order_ == HostOrder::kLate) std::memset(data, kRubbish, rounded);
  return DeviceMemory(this, kind, data, bytes);
}

absl::StatusOr<std::unique_ptr<DeviceStream>> HostDevice::NewStream() {
  return std::make_unique<Stream>(this);
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> HostDevice::NewEvent() {
  return std::make_unique<Event>(this);
}

absl::StatusOr<std::unique_ptr<DeviceStream>> HostDevice::WrapStream(void* native) {
  static_cast<void>(native);
  return NewStream();
}

// As CUDA's: when memory goes, all that was put in is done.
void HostDevice::Free(MemoryKind kind, void* data) {
  static_cast<void>(kind);
  DoAll();
  std::free(data);
}

}  // namespace vicinity
