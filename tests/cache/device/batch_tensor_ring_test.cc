#include "cache/device/batch_tensor_ring.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "cache/device/base/host_device.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::BytesFromDevice;
using testing::OpenTestedDevice;
using testing::TestedDevice;
using testing::TestedDevices;

constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::nanoseconds kNoWait(0);

// A producer fills tensors, two consumers copy them away; on a late host any event that is missing
// shows as wrong bytes.
TEST_CASE("a tensor is read when it is full and filled when it is read", "[batch_tensor_ring]") {
  const std::unique_ptr<Device> device =
      OpenTestedDevice(GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto producer, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto other, device->NewStream());
  constexpr int kNumBatches = 50;
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory out,
                                device->Allocate(MemoryKind::kDevice, 2 * kNumBatches * 8));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 2, 16));
  std::string expected;
  for (int i = 0; i < kNumBatches; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BatchTensor> tensor,
                                  tensors->Take(2, 4, producer.get(), kLong));
    CHECK(tensor->num_rows() == 2);
    VICINITY_REQUIRE_OK(producer->Fill(tensor->data(), static_cast<uint8_t>('A' + i), 8));
    VICINITY_REQUIRE_OK(tensor->Finish(producer.get()));
    int consumer_number = 0;
    for (DeviceStream* const consumer : {one.get(), other.get()}) {
      VICINITY_REQUIRE_OK(tensor->WaitOn(consumer));
      VICINITY_REQUIRE_OK(
          consumer->Copy(out.data() + 8 * (2 * i + consumer_number++), tensor->data(), 8));
      VICINITY_REQUIRE_OK(tensor->Done(consumer));
    }
    expected += std::string(16, static_cast<char>('A' + i));
  }
  VICINITY_REQUIRE_OK(FinishOnHost(device.get(), one.get(), kLong));
  CHECK(BytesFromDevice(device.get(), other.get(), out.data(), out.bytes()) == expected);
}

TEST_CASE("a tensor that nobody reads is filled anew when it is full", "[batch_tensor_ring]") {
  const std::unique_ptr<Device> device =
      OpenTestedDevice(GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto other, device->NewStream());
  constexpr int kNumBatches = 40;
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory out,
                                device->Allocate(MemoryKind::kDevice, kNumBatches * 8));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 8));
  std::string expected;
  for (int i = 0; i < kNumBatches; ++i) {
    DeviceStream* const producer = i % 2 == 0 ? one.get() : other.get();
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BatchTensor> tensor,
                                  tensors->Take(2, 4, producer, kLong));
    VICINITY_REQUIRE_OK(producer->Fill(tensor->data(), static_cast<uint8_t>('A' + i), 8));
    VICINITY_REQUIRE_OK(producer->Copy(out.data() + 8 * i, tensor->data(), 8));
    VICINITY_REQUIRE_OK(tensor->Finish(producer));
    expected += std::string(8, static_cast<char>('A' + i));
  }
  VICINITY_REQUIRE_OK(FinishOnHost(device.get(), one.get(), kLong));
  CHECK(BytesFromDevice(device.get(), other.get(), out.data(), out.bytes()) == expected);
}

TEST_CASE("a trainer that keeps its tensors gets no more", "[batch_tensor_ring]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kHost);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto stream, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 100));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BatchTensor> tensor,
                                tensors->Take(25, 4, stream.get(), kNoWait));
  VICINITY_CHECK_CODE(tensors->Take(1, 4, stream.get(), std::chrono::milliseconds(1)).status(),
                      absl::StatusCode::kDeadlineExceeded);
  CHECK_FALSE(tensors->WaitForIdle(kNoWait));
  tensor.reset();
  CHECK(tensors->WaitForIdle(kNoWait));
  VICINITY_CHECK_OK(tensors->Take(0, 4, stream.get(), kNoWait).status());
  for (const auto& [rows, row_bytes] : {std::pair(-1, 4), std::pair(1, -4)}) {
    VICINITY_CHECK_CODE(tensors->Take(rows, row_bytes, stream.get(), kNoWait).status(),
                        absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_CODE(BatchTensorRing::Create(device.get(), 0, 100).status(),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(BatchTensorRing::Create(device.get(), 1, -1).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a tensor grows for a larger batch, behind the last reader of the smaller",
          "[batch_tensor_ring]") {
  const std::unique_ptr<Device> device =
      OpenTestedDevice(GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto producer, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto trainer, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 0));
  VICINITY_ASSERT_OK_AND_ASSIGN(const DeviceMemory out,
                                device->Allocate(MemoryKind::kDevice, 6 * 1000));
  int64_t bytes = 0;
  std::string expected(6 * 1000, 'x');
  VICINITY_REQUIRE_OK(trainer->Fill(out.data(), 'x', 6 * 1000));
  for (const int64_t size : {0, 10, 12, 13, 1000, 999}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BatchTensor> tensor,
                                  tensors->Take(size, 1, producer.get(), kLong));
    const auto letter = static_cast<char>('A' + size % 7);
    VICINITY_REQUIRE_OK(producer->Fill(tensor->data(), static_cast<uint8_t>(letter), size));
    VICINITY_REQUIRE_OK(tensor->Finish(producer.get()));
    VICINITY_REQUIRE_OK(tensor->WaitOn(trainer.get()));
    VICINITY_REQUIRE_OK(trainer->Copy(out.data() + bytes, tensor->data(), size));
    VICINITY_REQUIRE_OK(tensor->Done(trainer.get()));
    expected.replace(bytes, size, std::string(size, letter));
    bytes += size;
  }
  CHECK(tensors->bytes() == 1250);
  CHECK(BytesFromDevice(device.get(), trainer.get(), out.data(), out.bytes()) == expected);
}

// A trainer that has let go of its tensor, with work in its stream that takes long.
struct BusyTrainer {
  static constexpr int kWork = 400;  // a late host does four at most when somebody asks

  BusyTrainer(Device* device, BatchTensorRing* tensors) {
    VICINITY_ASSERT_OK_AND_ASSIGN(producer, device->NewStream());
    VICINITY_ASSERT_OK_AND_ASSIGN(stream, device->NewStream());
    VICINITY_ASSERT_OK_AND_ASSIGN(seen, device->Allocate(MemoryKind::kPinned, 8));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BatchTensor> tensor,
                                  tensors->Take(2, 4, producer.get(), kLong));
    VICINITY_REQUIRE_OK(producer->Fill(tensor->data(), 't', 8));
    VICINITY_REQUIRE_OK(tensor->Finish(producer.get()));
    VICINITY_REQUIRE_OK(tensor->WaitOn(stream.get()));
    for (int i = 0; i < kWork; ++i) VICINITY_REQUIRE_OK(stream->Fill(seen.data(), 'x', 8));
    VICINITY_REQUIRE_OK(stream->Copy(seen.data(), tensor->data(), 8));
    VICINITY_REQUIRE_OK(tensor->Done(stream.get()));
  }

  bool through() const { return std::string(seen.data(), 8) == "tttttttt"; }

  DeviceMemory seen;
  std::unique_ptr<DeviceStream> producer;
  std::unique_ptr<DeviceStream> stream;
};

TEST_CASE("a tensor is idle when its readers are through, not when it is let go of",
          "[batch_tensor_ring]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kLateHost);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 8));
  const BusyTrainer trainer(device.get(), tensors.get());
  CHECK_FALSE(tensors->WaitForIdle(kNoWait));
  REQUIRE_FALSE(trainer.through());
  CHECK(tensors->WaitForIdle(kLong));
  CHECK(trainer.through());
}

TEST_CASE("a tensor that has to grow waits for its readers no longer than it is told",
          "[batch_tensor_ring]") {
  const std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kLateHost);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 8));
  const BusyTrainer trainer(device.get(), tensors.get());
  VICINITY_CHECK_CODE(tensors->Take(3, 4, trainer.producer.get(), kNoWait).status(),
                      absl::StatusCode::kDeadlineExceeded);
  REQUIRE_FALSE(trainer.through());
  VICINITY_CHECK_OK(tensors->Take(3, 4, trainer.producer.get(), kLong).status());
  CHECK(trainer.through());
}

TEST_CASE("a ring goes when the readers of its tensors are through", "[batch_tensor_ring]") {
  // As a GPU may: memory goes without a look at the streams.
  class HastyDevice : public HostDevice {
   public:
    HastyDevice() : HostDevice(HostOrder::kLate, 20) {}

   private:
    void Free(MemoryKind, void* data) override { std::free(data); }
  };
  HastyDevice device;
  VICINITY_ASSERT_OK_AND_ASSIGN(auto tensors, BatchTensorRing::Create(&device, 1, 8));
  const BusyTrainer trainer(&device, tensors.get());
  REQUIRE_FALSE(trainer.through());
  tensors.reset();
  CHECK(trainer.through());
}

TEST_CASE("a tensor keeps alive what it is told to", "[batch_tensor_ring]") {
  struct Owner {
    std::unique_ptr<Device> device = OpenTestedDevice(TestedDevice::kLateHost);
    std::unique_ptr<BatchTensorRing> ring;
    std::unique_ptr<DeviceStream> stream;
  };
  auto owner = std::make_shared<Owner>();
  VICINITY_ASSERT_OK_AND_ASSIGN(owner->ring, BatchTensorRing::Create(owner->device.get(), 1, 8));
  VICINITY_ASSERT_OK_AND_ASSIGN(owner->stream, owner->device->NewStream());
  DeviceStream* const stream = owner->stream.get();
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BatchTensor> tensor,
                                owner->ring->Take(2, 4, stream, kNoWait));
  const std::weak_ptr<Owner> watched = owner;
  tensor->Keep(std::move(owner));
  VICINITY_REQUIRE_OK(stream->Fill(tensor->data(), 'k', 8));
  VICINITY_REQUIRE_OK(tensor->Finish(stream));
  VICINITY_REQUIRE_OK(tensor->WaitOnHost(kLong));
  CHECK(std::string(tensor->data(), 8) == "kkkkkkkk");
  CHECK(!watched.expired());
  tensor.reset();
  CHECK(watched.expired());
}

}  // namespace
}  // namespace vicinity
