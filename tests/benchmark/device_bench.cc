#include "tests/benchmark/device_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/device/copy_rows.h"

namespace vicinity::benchmark {
namespace {

constexpr std::chrono::minutes kLong(5);
constexpr int kUncounted = 3;
constexpr int64_t kMebi = int64_t{1} << 20;
// Of no size that rows have, so that rows far apart differ too.
constexpr int64_t kPeriod = 64 * kMebi + 16 * 1009;

}  // namespace

void MustBeOk(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "gpu: " << status << '\n';
  std::exit(1);
}

DeviceBench MakeDeviceBench(std::unique_ptr<Device> device, bool small) {
  DeviceBench bench;
  const bool is_cuda = device->is_cuda();
  bench.device = std::move(device);
  bench.pool_bytes = (!is_cuda ? 8 : small ? 512 : 4096) * kMebi;
  bench.batch_bytes = (!is_cuda ? 1 : small ? 128 : 512) * kMebi;
  bench.num_times = is_cuda ? 30 : 2;
  bench.at_once = is_cuda ? 8 : 1;
  StagingRing::Options ring;
  ring.chunk_bytes = 4 * kMebi;
  bench.mover = Must(RowMover::Create(bench.device.get(), ring));
  return bench;
}

double MedianSeconds(const DeviceBench& bench, int num_times,
                     const std::function<absl::Status(int)>& work) {
  std::vector<double> seconds;
  const auto start = Must(bench.device->NewEvent());
  const auto end = Must(bench.device->NewEvent());
  for (int i = 0; i < kUncounted + num_times; ++i) {
    MustBeOk(bench.stream()->Record(start.get()));
    for (int k = 0; k < bench.at_once; ++k) MustBeOk(work(i * bench.at_once + k));
    MustBeOk(bench.stream()->Record(end.get()));
    MustBeOk(end->WaitOnHost(kLong));
    if (i >= kUncounted) seconds.push_back(Must(end->SecondsSince(*start)));
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2] / bench.at_once;
}

CheckedRows::CheckedRows(const DeviceBench& bench, MemoryKind kind, int64_t num_bytes)
    : period_(std::min(kPeriod, num_bytes), '\0') {
  std::mt19937_64 random(7);
  for (size_t i = 0; i + 8 <= period_.size(); i += 8) {
    const uint64_t word = random();
    std::memcpy(&period_[i], &word, 8);
  }
  memory_ = Must(bench.device->Allocate(kind, num_bytes));
  const auto period_bytes = static_cast<int64_t>(period_.size());
  const DeviceMemory period =
      Must(bench.mover->Place(MemoryKind::kPinned, absl::MakeConstSpan(period_)));
  for (int64_t first = 0; first < num_bytes; first += period_bytes) {
    MustBeOk(bench.stream()->Copy(memory_.data() + first, period.data(),
                                  std::min(period_bytes, num_bytes - first)));
  }
  MustBeOk(FinishOnHost(bench.device.get(), bench.stream(), kLong));
}

int64_t CheckedRows::CountWrong(const DeviceBench& bench, const char* to,
                                const std::vector<int32_t>& rows, int64_t row_bytes) const {
  const auto num_rows = static_cast<int64_t>(rows.size());
  const DeviceMemory here = Must(bench.device->Allocate(MemoryKind::kPinned, num_rows * row_bytes));
  MustBeOk(bench.stream()->Copy(here.data(), to, here.bytes()));
  MustBeOk(FinishOnHost(bench.device.get(), bench.stream(), kLong));
  const auto period_bytes = static_cast<int64_t>(period_.size());
  int64_t wrong = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t begin = rows[i] * row_bytes % period_bytes;
    const int64_t head = std::min(row_bytes, period_bytes - begin);  // the rest begins anew
    const char* const row = here.data() + i * row_bytes;
    if (std::memcmp(row, &period_[begin], head) != 0 ||
        std::memcmp(row + head, period_.data(), row_bytes - head) != 0) {
      ++wrong;
    }
  }
  return wrong;
}

std::vector<int32_t> RandomRows(int64_t n, int64_t bound, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> rows(n);
  for (int32_t& row : rows) row = static_cast<int32_t>(random() % static_cast<uint64_t>(bound));
  return rows;
}

std::vector<int32_t> DifferentRows(int64_t n, int64_t bound, uint64_t seed) {
  std::vector<int32_t> rows(bound);
  std::iota(rows.begin(), rows.end(), 0);
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(seed));
  rows.resize(std::min(n, bound));
  return rows;
}

DeviceMemory OnDevice(const DeviceBench& bench, const std::vector<int32_t>& values) {
  return Must(bench.mover->Place(
      MemoryKind::kDevice, {reinterpret_cast<const char*>(values.data()), 4 * values.size()}));
}

}  // namespace vicinity::benchmark
