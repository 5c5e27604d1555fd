#include "cache/device/device_pool.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/device/base/device.h"
#include "cache/device/batch_tensor_ring.h"
#include "cache/device/home_rows.h"
#include "cache/device/row_mover.h"
#include "cache/pool/row_pool.h"
#include "proto/common/random.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/contract/row_pool_contract.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::FromDevice;
using testing::OpenTestedDevice;
using testing::PoolKind;
using testing::PoolShape;
using testing::TestedDevice;
using testing::TestedDevices;
using testing::ToDevice;
using testing::TrueRow;
using testing::TrueRows;

constexpr std::chrono::seconds kLong(60);

FillRows TrueFill(int64_t row_bytes) {
  return [row_bytes](absl::Span<const int64_t> ids, char* out) {
    const std::string rows = TrueRows(ids, row_bytes);
    std::memcpy(out, rows.data(), rows.size());
    return absl::OkStatus();
  };
}

std::vector<int64_t> FirstNumbers(int64_t n) {
  std::vector<int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

// A pool with all that it stands on. Chunks are small, so that most calls need several.
struct TestedPool {
  explicit TestedPool(TestedDevice kind) : device(OpenTestedDevice(kind)) {
    StagingRing::Options ring;
    ring.chunk_bytes = 4096;
    ring.num_chunks = 3;
    auto made = RowMover::Create(device.get(), ring);
    VICINITY_REQUIRE_OK(made);
    mover = *std::move(made);
  }
  void MakePool(const DevicePool::Options& options, int64_t num_nodes) {
    auto made = DevicePool::Create(mover.get(), options, FirstNumbers(num_nodes),
                                   TrueFill(options.row_bytes));
    VICINITY_REQUIRE_OK(made);
    pool = *std::move(made);
  }

  const std::unique_ptr<Device> device;
  std::unique_ptr<RowMover> mover;
  std::unique_ptr<DevicePool> pool;
};

// It, as the contract suite wants to have it.
class OwnedPool : public RowPool {
 public:
  OwnedPool(TestedDevice kind, const PoolShape& shape) : tested_(kind) {
    DevicePool::Options options;
    options.row_bytes = shape.row_bytes;
    options.capacity_rows = shape.capacity;
    options.staged_rows = 1000;
    tested_.MakePool(options, shape.num_nodes);
  }
  absl::Status Announce(absl::Span<const int64_t> ids) override {
    return tested_.pool->Announce(ids);
  }
  void Forget() override { tested_.pool->Forget(); }
  absl::StatusOr<PoolBatch> Admit(absl::Span<const int64_t> ids) override {
    return tested_.pool->Admit(ids);
  }
  absl::Status Deliver(const PoolBatch& batch, int64_t first,
                       absl::Span<const char> rows) override {
    return tested_.pool->Deliver(batch, first, rows);
  }
  void Abandon(const PoolBatch& batch) override { tested_.pool->Abandon(batch); }
  absl::Status Assemble(const PoolBatch& batch, absl::Span<const int64_t> positions,
                        std::chrono::nanoseconds timeout, char* out) override {
    return tested_.pool->Assemble(batch, positions, timeout, out);
  }
  void Release(const PoolBatch& batch) override { tested_.pool->Release(batch); }
  int64_t row_bytes() const override { return tested_.pool->row_bytes(); }
  PoolStats stats() const override { return tested_.pool->stats(); }

 private:
  TestedPool tested_;
};

PoolKind DevicePoolOn(TestedDevice device) {
  PoolKind kind;
  kind.make = [device](const PoolShape& shape) {
    return std::make_unique<OwnedPool>(device, shape);
  };
  return kind;
}

TEST_CASE("device pool: the life of a batch", "[device_pool]") {
  testing::CheckLifeOfABatch(DevicePoolOn(GENERATE_COPY(from_range(TestedDevices()))));
}
TEST_CASE("device pool: batches share rows on their way", "[device_pool]") {
  testing::CheckSharing(DevicePoolOn(GENERATE_COPY(from_range(TestedDevices()))));
}
TEST_CASE("device pool: rows that could not be fetched", "[device_pool]") {
  testing::CheckAbandoning(DevicePoolOn(GENERATE_COPY(from_range(TestedDevices()))));
}
TEST_CASE("device pool: wrong calls are refused", "[device_pool]") {
  testing::CheckRefusals(DevicePoolOn(GENERATE_COPY(from_range(TestedDevices()))));
}
TEST_CASE("device pool: random operations agree with the naive model", "[device_pool]") {
  const auto device = GENERATE_COPY(from_range(TestedDevices()));
  const int64_t capacity = GENERATE(0, 7, 29, 60);
  testing::CheckAgainstModel(DevicePoolOn(device), {GENERATE(1, 24), capacity, 30}, 1500, 17);
}
TEST_CASE("device pool: so do many short sequences on pools of any shape", "[device_pool]") {
  testing::CheckManyShapes(DevicePoolOn(GENERATE_COPY(from_range(TestedDevices()))), 300);
}
TEST_CASE("device pool: many threads at once", "[device_pool]") {
  const auto device = GENERATE_COPY(from_range(TestedDevices()));
  testing::CheckThreads(DevicePoolOn(device), {40, GENERATE(0, 10, 40), 50}, 4, 60);
}

TEST_CASE("a device pool that cannot be is refused", "[device_pool]") {
  TestedPool tested(TestedDevice::kHost);
  const auto create = [&](int64_t row_bytes, int64_t capacity, int64_t staged) {
    DevicePool::Options options;
    options.row_bytes = row_bytes;
    options.capacity_rows = capacity;
    options.staged_rows = staged;
    return DevicePool::Create(tested.mover.get(), options, {1, 2}, TrueFill(8)).status();
  };
  VICINITY_CHECK_OK(create(8, 1, 1));
  VICINITY_CHECK_OK(create(8, 0, 0));
  VICINITY_CHECK_CODE(create(0, 1, 1), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(8, -1, 1), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(8, 1, -1), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(4000, int64_t{1} << 28, int64_t{1} << 29),
                      absl::StatusCode::kResourceExhausted);
}

TEST_CASE("a batch for which there is no device memory is refused and changes nothing",
          "[device_pool]") {
  TestedPool tested(GENERATE_COPY(from_range(TestedDevices())));
  DevicePool::Options options;
  options.row_bytes = 8;
  options.capacity_rows = 2;
  options.staged_rows = 3;
  tested.MakePool(options, 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch first, tested.pool->Admit({1, 2, 3, 4}));
  VICINITY_CHECK_CODE(tested.pool->Admit({1, 2}), absl::StatusCode::kResourceExhausted);
  CHECK(tested.pool->stats().lookups == 4);
  tested.pool->Release(first);
  VICINITY_CHECK_OK(tested.pool->Admit({5, 6, 7}));
}

TEST_CASE("a place that the tensor does not have is refused", "[device_pool]") {
  TestedPool tested(TestedDevice::kHost);
  DevicePool::Options options;
  options.row_bytes = 8;
  options.staged_rows = 2;
  tested.MakePool(options, 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, tested.pool->Admit({1}));
  VICINITY_REQUIRE_OK(tested.pool->Deliver(batch, 0, TrueRow(1, 8)));
  char out[16];
  const RowPlaces to = RowsAt(out, 2, 8);
  for (const int64_t wrong : {int64_t{-1}, int64_t{2}, int64_t{1} << 32}) {
    VICINITY_CHECK_CODE(tested.pool->AssembleOnDevice(batch, {wrong}, kLong, to),
                        absl::StatusCode::kInvalidArgument);
  }
  VICINITY_CHECK_OK(tested.pool->AssembleOnDevice(batch, {1}, kLong, to));
  tested.pool->Release(batch);
}

// The trainer's side: batches are released as soon as their gather is in the stream, their slots go
// to later batches at once, and nothing waits for the device but the end.
TEST_CASE("no row is overwritten before the gather that needs it", "[device_pool]") {
  TestedPool tested(GENERATE_COPY(from_range(TestedDevices())));
  const uint64_t seed = GENERATE(1, 2, 3);
  constexpr int64_t kRowBytes = 48;
  constexpr int64_t kBatchRows = 30;
  constexpr int kNumBatches = 40;
  DevicePool::Options options;
  options.row_bytes = kRowBytes;
  options.capacity_rows = 20;
  options.staged_rows = kBatchRows;
  tested.MakePool(options, 100);
  NodeDraws draws(seed, 9);
  std::vector<std::vector<int64_t>> batches;
  std::vector<DeviceMemory> tensors;
  for (int b = 0; b < kNumBatches; ++b) {
    std::vector<int64_t> ids(kBatchRows);
    for (int64_t& id : ids) id = static_cast<int64_t>(draws.Below(100));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        DeviceMemory tensor, tested.device->Allocate(MemoryKind::kDevice, kBatchRows * kRowBytes));
    VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, tested.pool->Admit(ids));
    std::vector<int64_t> missing;
    for (const int32_t i : batch.missing) missing.push_back(ids[i]);
    VICINITY_REQUIRE_OK(tested.pool->Deliver(batch, 0, TrueRows(missing, kRowBytes)));
    VICINITY_REQUIRE_OK(tested.pool->AssembleOnDevice(
        batch, FirstNumbers(kBatchRows), kLong, RowsAt(tensor.data(), kBatchRows, kRowBytes)));
    tested.pool->Release(batch);
    batches.push_back(std::move(ids));
    tensors.push_back(std::move(tensor));
  }
  int wrong = 0;
  for (int b = 0; b < kNumBatches; ++b) {
    const std::string rows = testing::BytesFromDevice(tested.device.get(), tested.mover->stream(),
                                                      tensors[b].data(), tensors[b].bytes());
    if (rows != TrueRows(batches[b], kRowBytes)) ++wrong;
  }
  CHECK(wrong == 0);
}

// All of it: tensors of rows from the pool and from the home shard, read on the trainer's stream,
// with two tensors for all batches and not one wait on the host.
TEST_CASE("a trainer's stream reads what both tiers gave", "[device_pool]") {
  TestedPool tested(GENERATE_COPY(from_range(TestedDevices())));
  const FarRead far = GENERATE(FarRead::kDirect, FarRead::kStaged);
  constexpr int64_t kRowBytes = 20;
  constexpr int64_t kHalf = 16;  // of a batch's rows: nodes below 50 are at home, others remote
  constexpr int kNumBatches = 30;
  DevicePool::Options options;
  options.row_bytes = kRowBytes;
  options.capacity_rows = 10;
  options.staged_rows = kHalf;
  tested.MakePool(options, 0);
  const std::string home_rows = TrueRows(FirstNumbers(50), kRowBytes);
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto home, HomeRows::Create(tested.mover.get(), {home_rows.data(), 50, kRowBytes},
                                        /*device_rows=*/20, far));
  constexpr int64_t kTensorBytes = 2 * kHalf * kRowBytes;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors,
                                BatchTensorRing::Create(tested.device.get(), 2, kTensorBytes));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto trainer, tested.device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const DeviceMemory seen,
      tested.device->Allocate(MemoryKind::kDevice, kNumBatches * kTensorBytes));
  NodeDraws draws(4, 4);
  std::string expected;
  for (int b = 0; b < kNumBatches; ++b) {
    // Home rows at even positions, remote ones at odd positions.
    std::vector<int32_t> local(kHalf);
    std::vector<int64_t> remote(kHalf), even(kHalf), odd(kHalf);
    for (int64_t i = 0; i < kHalf; ++i) {
      local[i] = static_cast<int32_t>(draws.Below(50));
      remote[i] = static_cast<int64_t>(50 + draws.Below(50));
      even[i] = 2 * i;
      odd[i] = 2 * i + 1;
      expected += TrueRow(local[i], kRowBytes) + TrueRow(remote[i], kRowBytes);
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, tested.pool->Admit(remote));
    std::vector<int64_t> missing;
    for (const int32_t i : batch.missing) missing.push_back(remote[i]);
    VICINITY_REQUIRE_OK(tested.pool->Deliver(batch, 0, TrueRows(missing, kRowBytes)));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto tensor, tensors->Take(2 * kHalf, kRowBytes, tested.mover->stream(), kLong));
    VICINITY_REQUIRE_OK(home->Gather(local, tensor->rows(), even));
    VICINITY_REQUIRE_OK(tested.pool->AssembleOnDevice(batch, odd, kLong, tensor->rows()));
    tested.pool->Release(batch);
    VICINITY_REQUIRE_OK(tensor->Finish(tested.mover->stream()));
    VICINITY_REQUIRE_OK(tensor->WaitOn(trainer.get()));
    VICINITY_REQUIRE_OK(
        trainer->Copy(seen.data() + b * kTensorBytes, tensor->data(), kTensorBytes));
    VICINITY_REQUIRE_OK(tensor->Done(trainer.get()));
  }
  CHECK(testing::BytesFromDevice(tested.device.get(), trainer.get(), seen.data(), seen.bytes()) ==
        expected);
}

}  // namespace
}  // namespace vicinity
