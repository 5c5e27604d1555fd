#include "tests/contract/device_contract.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/kernel.h"
#include "cache/device/copy_rows.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::nanoseconds kNoWait(0);
constexpr int64_t kBytes = 1000;

DeviceMemory Memory(Device* device, int64_t bytes, MemoryKind kind = MemoryKind::kDevice) {
  VICINITY_ASSERT_OK_AND_ASSIGN(DeviceMemory memory, device->Allocate(kind, bytes));
  return memory;
}

std::unique_ptr<DeviceStream> Stream(Device* device) {
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<DeviceStream> stream, device->NewStream());
  return stream;
}

std::unique_ptr<DeviceEvent> Event(Device* device) {
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<DeviceEvent> event, device->NewEvent());
  return event;
}

std::string Read(Device* device, const DeviceMemory& memory) {
  return BytesFromDevice(device, Stream(device).get(), memory.data(), memory.bytes());
}

// Of all bytes, as a kernel: rows of one byte.
Kernel CopyBytes(const DeviceMemory& from, const DeviceMemory& to) {
  CopyRows work;
  work.from = RowsAt(from.data(), from.bytes(), 1);
  work.to = RowsAt(to.data(), to.bytes(), 1);
  work.num_rows = from.bytes();
  work.row_bytes = 1;
  return KernelOf(work);
}

void CheckMemory(Device* device) {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinned}) {
    CHECK(Memory(device, 0, kind).data() == nullptr);
    std::vector<DeviceMemory> memories;
    for (const int64_t bytes : {1, 255, 256, 1000}) {
      memories.push_back(Memory(device, bytes, kind));
      CHECK(memories.back().bytes() == bytes);
      CHECK(reinterpret_cast<uintptr_t>(memories.back().data()) % 256 == 0);
    }
    const auto stream = Stream(device);
    for (size_t i = 0; i < memories.size(); ++i) {
      const auto value = static_cast<uint8_t>('a' + i);
      if (kind == MemoryKind::kPinned) {
        std::memset(memories[i].data(), value, memories[i].bytes());
      } else {
        VICINITY_REQUIRE_OK(stream->Fill(memories[i].data(), value, memories[i].bytes()));
      }
    }
    VICINITY_REQUIRE_OK(FinishOnHost(device, stream.get(), kLong));
    for (size_t i = 0; i < memories.size(); ++i) {
      CHECK(Read(device, memories[i]) ==
            std::string(memories[i].bytes(), static_cast<char>('a' + i)));
    }
  }
  VICINITY_CHECK_CODE(device->Allocate(MemoryKind::kDevice, int64_t{1} << 50),
                      absl::StatusCode::kResourceExhausted);
}

void CheckOrderInAStream(Device* device) {
  const DeviceMemory a = Memory(device, kBytes);
  const DeviceMemory b = Memory(device, kBytes);
  const DeviceMemory c = Memory(device, kBytes);
  const auto done = Event(device);
  {
    const auto stream = Stream(device);
    VICINITY_CHECK_OK(stream->Copy(a.data(), b.data(), 0));
    VICINITY_CHECK_OK(stream->Fill(a.data(), 0, 0));
    VICINITY_REQUIRE_OK(stream->Fill(a.data(), 1, kBytes));
    VICINITY_REQUIRE_OK(stream->Launch(CopyBytes(a, b)));
    VICINITY_REQUIRE_OK(stream->Fill(a.data(), 2, kBytes));
    VICINITY_REQUIRE_OK(stream->Copy(c.data(), b.data(), kBytes));
    VICINITY_REQUIRE_OK(stream->Launch(CopyBytes(a, b)));
    VICINITY_REQUIRE_OK(stream->Fill(a.data(), 3, kBytes));
    VICINITY_REQUIRE_OK(stream->Record(done.get()));
  }
  VICINITY_REQUIRE_OK(done->WaitOnHost(kLong));
  CHECK(Read(device, a) == std::string(kBytes, 3));
  CHECK(Read(device, b) == std::string(kBytes, 2));
  CHECK(Read(device, c) == std::string(kBytes, 1));
}

void CheckEvents(Device* device) {
  const auto first = Event(device);
  const auto last = Event(device);
  const auto stream = Stream(device);
  const auto other = Stream(device);
  const DeviceMemory memory = Memory(device, kBytes);
  VICINITY_CHECK_OK(first->WaitOnHost(kNoWait));  // was never recorded
  VICINITY_REQUIRE_OK(stream->WaitFor(*first));
  VICINITY_REQUIRE_OK(stream->Record(first.get()));
  VICINITY_REQUIRE_OK(stream->Fill(memory.data(), 7, kBytes));
  VICINITY_REQUIRE_OK(stream->Record(last.get()));
  VICINITY_REQUIRE_OK(last->WaitOnHost(kLong));
  CHECK(Read(device, memory) == std::string(kBytes, 7));
  VICINITY_CHECK_OK(first->WaitOnHost(kNoWait));
  VICINITY_CHECK_OK(last->WaitOnHost(kNoWait));  // stays reached
  VICINITY_ASSERT_OK_AND_ASSIGN(const double seconds, last->SecondsSince(*first));
  CHECK(seconds >= 0);
  // Recorded again behind a wait for it, which is for the earlier point: else nothing went on.
  VICINITY_REQUIRE_OK(stream->Record(last.get()));
  VICINITY_REQUIRE_OK(other->WaitFor(*last));
  VICINITY_REQUIRE_OK(other->Fill(memory.data(), 8, kBytes));
  VICINITY_REQUIRE_OK(other->Record(last.get()));
  VICINITY_REQUIRE_OK(last->WaitOnHost(kLong));
  CHECK(Read(device, memory) == std::string(kBytes, 8));
}

// From memory to memory, each time in another stream.
void CheckOrderOfStreams(Device* device) {
  constexpr int kNumStreams = 3;
  constexpr int kNumHops = 12;
  std::vector<std::unique_ptr<DeviceStream>> streams;
  for (int i = 0; i < kNumStreams; ++i) streams.push_back(Stream(device));
  std::vector<DeviceMemory> memories;
  std::vector<std::unique_ptr<DeviceEvent>> events;
  for (int i = 0; i <= kNumHops; ++i) {
    memories.push_back(Memory(device, kBytes));
    events.push_back(Event(device));
    VICINITY_REQUIRE_OK(streams[0]->Fill(memories[i].data(), 0, kBytes));
  }
  VICINITY_REQUIRE_OK(streams[0]->Fill(memories[0].data(), 0x5a, kBytes));
  VICINITY_REQUIRE_OK(streams[0]->Record(events[0].get()));
  for (int hop = 1; hop <= kNumHops; ++hop) {
    DeviceStream* const stream = streams[hop % kNumStreams].get();
    const DeviceMemory& from = memories[hop - 1];
    const DeviceMemory& to = memories[hop];
    VICINITY_REQUIRE_OK(stream->WaitFor(*events[hop - 1]));
    VICINITY_REQUIRE_OK(hop % 2 == 0 ? stream->Copy(to.data(), from.data(), kBytes)
                                     : stream->Launch(CopyBytes(from, to)));
    VICINITY_REQUIRE_OK(stream->Record(events[hop].get()));
  }
  VICINITY_REQUIRE_OK(events.back()->WaitOnHost(kLong));
  CHECK(Read(device, memories.back()) == std::string(kBytes, 0x5a));
}

// Rows of a byte, in reverse order: a thread that did not run shows, and so does one too many.
void CheckKernels(Device* device) {
  constexpr int32_t kMostRows = 5000;
  const auto stream = Stream(device);
  std::vector<char> bytes(kMostRows);
  for (int32_t i = 0; i < kMostRows; ++i) bytes[i] = static_cast<char>(1 + i % 100);
  const DeviceMemory from = ToDevice(device, bytes);
  const DeviceMemory to = Memory(device, kMostRows);
  std::vector<int32_t> backwards(kMostRows);
  for (int32_t i = 0; i < kMostRows; ++i) backwards[i] = kMostRows - 1 - i;
  const DeviceMemory rows = ToDevice(device, backwards);
  for (const int32_t n : {0, 1, 3, 4, 5, 1023, 1024, 1025, 5000}) {
    CAPTURE(n);
    VICINITY_REQUIRE_OK(stream->Fill(to.data(), 0, kMostRows));
    {
      CopyRows work;
      work.from = RowsAt(from.data(), kMostRows, 1);
      work.to = RowsAt(to.data(), kMostRows, 1);
      work.from_rows = rows.as<int32_t>();
      work.num_rows = n;
      work.row_bytes = 1;
      VICINITY_REQUIRE_OK(stream->Launch(KernelOf(work)));
    }
    std::vector<char> expected(kMostRows, 0);
    for (int32_t i = 0; i < n; ++i) expected[i] = bytes[backwards[i]];
    CHECK(FromDevice<char>(device, stream.get(), to.data(), kMostRows) == expected);
  }
}

void CheckWrappedStreams(Device* device) {
  const auto stream = Stream(device);
  const DeviceMemory memory = Memory(device, kBytes);
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto wrapped, device->WrapStream(stream->native()));
    VICINITY_REQUIRE_OK(wrapped->Fill(memory.data(), 1, kBytes));
    VICINITY_REQUIRE_OK(FinishOnHost(device, wrapped.get(), kLong));
  }
  CHECK(Read(device, memory) == std::string(kBytes, 1));
  VICINITY_REQUIRE_OK(stream->Fill(memory.data(), 2, kBytes));
  CHECK(BytesFromDevice(device, stream.get(), memory.data(), kBytes) == std::string(kBytes, 2));
}

// Each thread copies through memory of its own, in a stream of its own and in one of all.
void CheckThreads(Device* device) {
  constexpr int kNumThreads = 4;
  constexpr int kNumRounds = 50;
  const auto shared = Stream(device);
  std::vector<absl::Status> said(2 * kNumThreads);
  std::vector<DeviceMemory> from, to;
  for (int i = 0; i < 2 * kNumThreads; ++i) {
    from.push_back(Memory(device, kBytes));
    to.push_back(Memory(device, kBytes));
  }
  const auto work = [&](DeviceStream* stream, int i) {
    absl::Status status;
    for (int round = 1; round <= kNumRounds; ++round) {
      status.Update(stream->Fill(from[i].data(), static_cast<uint8_t>(i + round), kBytes));
      status.Update(stream->Launch(CopyBytes(from[i], to[i])));
    }
    status.Update(FinishOnHost(device, stream, kLong));
    return status;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kNumThreads; ++i) {
    threads.emplace_back([&, i] {
      const absl::StatusOr<std::unique_ptr<DeviceStream>> own = device->NewStream();
      said[2 * i] = own.ok() ? work(own->get(), 2 * i) : own.status();
      said[2 * i + 1] = work(shared.get(), 2 * i + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 2 * kNumThreads; ++i) {
    VICINITY_CHECK_OK(said[i]);
    CHECK(Read(device, to[i]) == std::string(kBytes, static_cast<char>(i + kNumRounds)));
  }
}

}  // namespace

void CheckDevice(Device* device) {
  CHECK_FALSE(device->name().empty());
  CHECK(device->ordinal() >= 0);
  SECTION("memory") { CheckMemory(device); }
  SECTION("order") { CheckOrderInAStream(device); }
  SECTION("events") { CheckEvents(device); }
  SECTION("streams") { CheckOrderOfStreams(device); }
  SECTION("kernels") { CheckKernels(device); }
  SECTION("others'") { CheckWrappedStreams(device); }
  SECTION("threads") { CheckThreads(device); }
}

}  // namespace vicinity::testing
