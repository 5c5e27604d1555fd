// A device: memory, streams, events. Which kernels it runs is nothing to it (kernel.h).
//
// Two kinds exist: CUDA devices (cuda_device.h), and the host itself (host_device.h), which is both
// the build without CUDA and the oracle of its tests. Which one is used is decided at run time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/kernel.h"

namespace vicinity {

class Device;

enum class MemoryKind : uint8_t {
  kDevice,  // fast for the device; the host must not touch it
  kPinned,  // host memory that the device can read and write at the same address
};

// A block of memory, 256-byte aligned; given back when it is destroyed.
//
// Lifetime: the device outlives it. Whatever a stream does with it must be done before it goes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Device* device, MemoryKind kind, void* data, int64_t bytes)
      : device_(device), kind_(kind), data_(data), bytes_(bytes) {}
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  char* data() const { return static_cast<char*>(data_); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  int64_t bytes() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  MemoryKind kind_ = MemoryKind::kDevice;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

// A point in a stream that others can wait for. Before it is recorded it counts as reached.
//
// Threads: Record by one at a time; the others by any number.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // Whether the point recorded last is reached; an error that the device met on the way.
  virtual absl::StatusOr<bool> Reached() = 0;
  // Between two points that are reached, recorded by events of the same device.
  virtual absl::StatusOr<double> SecondsSince(const DeviceEvent& start) const = 0;

  // Makes the host wait: for ends of work, never on a batch's way. DeadlineExceeded after
  // `timeout`.
  absl::Status WaitOnHost(std::chrono::nanoseconds timeout);
};

// Work in order. Every method puts work in and returns; what it names (memory, lists) must live
// until the stream is past it.
//
// Threads: any number; what one thread puts in stays in its order.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  // Any two memories of the device. Host memory must be pinned.
  virtual absl::Status Copy(void* to, const void* from, int64_t bytes) = 0;
  // Sets every byte.
  virtual absl::Status Fill(void* to, uint8_t value, int64_t bytes) = 0;
  virtual absl::Status Record(DeviceEvent* event) = 0;
  // What comes after waits for the point that was recorded last when this was called.
  virtual absl::Status WaitFor(const DeviceEvent& event) = 0;
  // The kernel itself may go. An error that names it if it cannot be launched.
  virtual absl::Status Launch(const Kernel& kernel) = 0;

  // The cudaStream_t, for libraries that take one; null on the host.
  virtual void* native() const = 0;
};

// Threads: any number. Lifetime: outlives its memory, streams and events.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  virtual bool is_cuda() const = 0;
  virtual int32_t ordinal() const = 0;  // among the devices of its kind

  // Slow: pools take their memory once. `bytes` > 0, or the memory is empty. ResourceExhausted if
  // there is not so much.
  virtual absl::StatusOr<DeviceMemory> Allocate(MemoryKind kind, int64_t bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() = 0;
  virtual absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() = 0;
  // Somebody else's cudaStream_t (null: the default stream), which must outlive what is returned.
  // On the host, where `native` means nothing: a new stream.
  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> WrapStream(void* native) = 0;

 private:
  friend class DeviceMemory;
  virtual void Free(MemoryKind kind, void* data) = 0;
};

// Waits on the host until all that is in the stream now is done.
absl::Status FinishOnHost(Device* device, DeviceStream* stream, std::chrono::nanoseconds timeout);

}  // namespace vicinity
