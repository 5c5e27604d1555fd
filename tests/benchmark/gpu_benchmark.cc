// Rows on a GPU. Exits 3 where there is none, saying why; with --host as its first
// option it runs on the host twin, which shows that all of it works, and whose figures mean
// nothing.
//
// Limit of gather and scatter: a device-to-device copy of as many bytes, read and written, in the
// same run; baseline: a plain kernel. Limit of rows from pinned memory: a copy over the link.
// Everything is the median of many times, over memory far larger than any cache, at random.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/device/base/cuda_device.h"
#include "cache/device/base/device.h"
#include "cache/device/base/host_device.h"
#include "cache/device/copy_rows.h"
#include "cache/device/device_pool.h"
#include "cache/device/home_rows.h"
#include "cache/pool/row_pool.h"
#include "tests/benchmark/baselines/plain_gather.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/device_bench.h"

namespace vicinity::benchmark {
namespace {

constexpr int kNoGpu = 3;
constexpr int kNumLists = 4;  // of random rows, in turn
constexpr std::chrono::minutes kLong(5);

void MustBeRight(int64_t num_wrong, const std::string& what) {
  if (num_wrong == 0) return;
  std::cerr << "gpu: " << what << ": " << num_wrong << " wrong rows\n";
  std::exit(1);
}

// Bytes a second, read and written.
double CopyRate(const DeviceBench& bench) {
  const int64_t bytes = bench.batch_bytes;
  const CheckedRows from(bench, MemoryKind::kDevice, bytes);
  const DeviceMemory to = Must(bench.device->Allocate(MemoryKind::kDevice, bytes));
  const double seconds = MedianSeconds(
      bench, [&](int) { return bench.stream()->Copy(to.data(), from.data(), bytes); });
  return 2.0 * static_cast<double>(bytes) / seconds;
}

double LinkRate(const DeviceBench& bench) {
  const int64_t bytes = bench.batch_bytes;
  const CheckedRows from(bench, MemoryKind::kPinned, bytes);
  const DeviceMemory to = Must(bench.device->Allocate(MemoryKind::kDevice, bytes));
  const double seconds = MedianSeconds(
      bench, [&](int) { return bench.stream()->Copy(to.data(), from.data(), bytes); });
  return static_cast<double>(bytes) / seconds;
}

struct RowLists {
  std::vector<std::vector<int32_t>> rows;
  std::vector<DeviceMemory> there;
};

RowLists MakeLists(const DeviceBench& bench, int64_t n, int64_t bound, bool different) {
  RowLists lists;
  for (int i = 0; i < kNumLists; ++i) {
    lists.rows.push_back(different ? DifferentRows(n, bound, i) : RandomRows(n, bound, i));
    lists.there.push_back(OnDevice(bench, lists.rows.back()));
  }
  return lists;
}

void BenchGather(const DeviceBench& bench, const CheckedRows& pool, int64_t row_bytes, double limit,
                 BenchReport* report) {
  const int64_t n = bench.batch_bytes / row_bytes;
  const RowLists lists = MakeLists(bench, n, pool.bytes() / row_bytes, false);
  const DeviceMemory to = Must(bench.device->Allocate(MemoryKind::kDevice, n * row_bytes));
  CopyRows work;
  work.from = RowsAt(pool.data(), pool.bytes() / row_bytes, row_bytes);
  work.to = RowsAt(to.data(), n, row_bytes);
  work.num_rows = n;
  work.row_bytes = row_bytes;
  const auto rate = [&](double seconds) {
    return 2.0 * static_cast<double>(n * row_bytes) / seconds;
  };
  const std::string name = absl::StrCat("gather, ", row_bytes, " bytes a row");
  int last = 0;
  const auto check = [&] {
    MustBeRight(pool.CountWrong(bench, to.data(), lists.rows[last], row_bytes), name);
    MustBeOk(bench.stream()->Fill(to.data(), 0xee, to.bytes()));
  };
  std::optional<double> plain;
  if (bench.device->is_cuda()) {
    plain = rate(MedianSeconds(bench, [&](int i) {
      last = i % kNumLists;
      const bool put = PlainGather(bench.stream()->native(), pool.data(),
                                   lists.there[last].as<int32_t>(), to.data(), n, row_bytes);
      return put ? absl::OkStatus() : absl::InternalError("the plain kernel");
    }));
    check();
  }
  const double ours = rate(MedianSeconds(bench, [&](int i) {
    last = i % kNumLists;
    work.from_rows = lists.there[last].as<int32_t>();
    return bench.stream()->Launch(KernelOf(work));
  }));
  check();
  report->Add({"gpu", name, "bytes/s", ours, plain, limit});
}

// Arrived rows into different slots, at random; checked by gathering them again.
void BenchScatter(const DeviceBench& bench, const CheckedRows& arrived, int64_t row_bytes,
                  double limit, BenchReport* report) {
  const int64_t num_slots = bench.pool_bytes / row_bytes;
  const int64_t n = std::min(arrived.bytes() / row_bytes, num_slots);
  const RowLists lists = MakeLists(bench, n, num_slots, true);
  const DeviceMemory pool =
      Must(bench.device->Allocate(MemoryKind::kDevice, num_slots * row_bytes));
  CopyRows work;
  work.from = RowsAt(arrived.data(), n, row_bytes);
  work.to = RowsAt(pool.data(), num_slots, row_bytes);
  work.num_rows = n;
  work.row_bytes = row_bytes;
  int last = 0;
  const double seconds = MedianSeconds(bench, [&](int i) {
    last = i % kNumLists;
    work.to_rows = lists.there[last].as<int32_t>();
    return bench.stream()->Launch(KernelOf(work));
  });
  const DeviceMemory back = Must(bench.device->Allocate(MemoryKind::kDevice, n * row_bytes));
  std::vector<int32_t> in_order(n);
  for (int64_t i = 0; i < n; ++i) in_order[i] = static_cast<int32_t>(i);
  CopyRows gather = work;
  gather.from = work.to;
  gather.from_rows = work.to_rows;
  gather.to = RowsAt(back.data(), n, row_bytes);
  gather.to_rows = nullptr;
  MustBeOk(bench.stream()->Launch(KernelOf(gather)));
  const std::string name = absl::StrCat("scatter, ", row_bytes, " bytes a row");
  MustBeRight(arrived.CountWrong(bench, back.data(), in_order, row_bytes), name);
  report->Add({"gpu", name, "bytes/s", 2.0 * static_cast<double>(n * row_bytes) / seconds,
               std::nullopt, limit});
}

// A share of the rows lies in pinned memory; what counts is their bytes, though the list of the
// batch's rows, 8 bytes each, crosses the link as well. Baseline: the host puts them together and
// sends them.
void BenchHomeRows(const DeviceBench& bench, int64_t row_bytes, double far_share, double link_rate,
                   BenchReport* report) {
  const int64_t num_rows = bench.batch_bytes / row_bytes;
  const int64_t n = num_rows / 4;
  const CheckedRows column(bench, MemoryKind::kPinned, num_rows * row_bytes);
  const auto device_rows = static_cast<int64_t>((1 - far_share) * static_cast<double>(num_rows));
  // Different ones, or some would come from the device's own cache.
  const std::vector<int32_t> rows = DifferentRows(n, num_rows, 1);
  std::vector<int64_t> in_order(n);
  int64_t num_far = 0;
  for (int64_t i = 0; i < n; ++i) {
    in_order[i] = i;
    num_far += rows[i] >= device_rows ? 1 : 0;
  }
  const DeviceMemory to = Must(bench.device->Allocate(MemoryKind::kDevice, n * row_bytes));
  const std::string name =
      absl::StrCat("rows from pinned memory, ", 100 * far_share, " % of ", row_bytes, "-byte rows");
  const auto measure = [&](FarRead far) {
    const auto home = Must(HomeRows::Create(bench.mover.get(), {column.data(), num_rows, row_bytes},
                                            device_rows, far));
    // The host alone may take ten times as long as the device.
    const int num_times =
        far == FarRead::kStaged ? std::max(1, bench.num_times / 5) : bench.num_times;
    const double seconds = MedianSeconds(bench, num_times, [&](int) {
      return home->Gather(rows, RowsAt(to.data(), n, row_bytes), in_order);
    });
    MustBeRight(column.CountWrong(bench, to.data(), rows, row_bytes), name);
    MustBeOk(bench.stream()->Fill(to.data(), 0xee, to.bytes()));
    return static_cast<double>(num_far * row_bytes) / seconds;
  };
  const double staged = measure(FarRead::kStaged);
  report->Add({"gpu", name, "bytes/s", measure(FarRead::kDirect), staged, link_rate});
}

// Batches through the pool, from rows in host memory to tensors, nothing else in the way: bytes
// that were delivered. What it holds back is the link, or this thread's copy into the ring.
void BenchPool(const DeviceBench& bench, int64_t row_bytes, double link_rate, BenchReport* report) {
  constexpr int kNumBatches = 24;
  const int64_t n = bench.batch_bytes / row_bytes / 4;
  DevicePool::Options options;
  options.row_bytes = row_bytes;
  options.capacity_rows = 2 * n;
  options.staged_rows = n;
  const FillRows no_rows = [](absl::Span<const int64_t>, char*) { return absl::OkStatus(); };
  std::vector<std::vector<int64_t>> batches;
  for (int b = 0; b < kNumBatches; ++b) {
    const std::vector<int32_t> drawn = RandomRows(n, 4 * n, b);
    batches.emplace_back(drawn.begin(), drawn.end());
  }
  const auto pool = Must(DevicePool::Create(bench.mover.get(), options, {}, no_rows));
  const DeviceMemory to = Must(bench.device->Allocate(MemoryKind::kDevice, n * row_bytes));
  MustBeOk(bench.stream()->Fill(to.data(), 0xee, to.bytes()));
  const std::vector<char> rows(n * row_bytes, 'r');
  std::vector<int64_t> in_order(n);
  std::iota(in_order.begin(), in_order.end(), int64_t{0});
  int64_t delivered = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const std::vector<int64_t>& ids : batches) {
    const PoolBatch batch = Must(pool->Admit(ids));
    const auto bytes = static_cast<int64_t>(batch.missing.size()) * row_bytes;
    MustBeOk(pool->Deliver(batch, 0, absl::MakeConstSpan(rows).first(bytes)));
    MustBeOk(pool->AssembleOnDevice(batch, in_order, kLong, RowsAt(to.data(), n, row_bytes)));
    pool->Release(batch);
    delivered += bytes;
  }
  MustBeOk(FinishOnHost(bench.device.get(), bench.stream(), kLong));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const DeviceMemory here = Must(bench.device->Allocate(MemoryKind::kPinned, to.bytes()));
  MustBeOk(bench.stream()->Copy(here.data(), to.data(), to.bytes()));
  MustBeOk(FinishOnHost(bench.device.get(), bench.stream(), kLong));
  MustBeRight(to.bytes() - std::count(here.data(), here.data() + here.bytes(), 'r'), "the pool");
  report->Add({"gpu", absl::StrCat("pool, ", row_bytes, "-byte rows delivered"), "bytes/s",
               static_cast<double>(delivered) / taken.count(), std::nullopt, link_rate});
}

int Run(int argc, char** argv) {
  const bool on_host = argc > 1 && std::string_view(argv[1]) == "--host";
  const BenchOptions options = ParseBenchOptions(argc - on_host, argv + on_host);
  std::unique_ptr<Device> device = std::make_unique<HostDevice>();
  if (!on_host) {
    absl::StatusOr<std::unique_ptr<Device>> gpu = OpenCudaDevice(0);
    if (!gpu.ok()) {
      std::cerr << "gpu: nothing to measure: " << gpu.status() << '\n';
      return kNoGpu;
    }
    device = *std::move(gpu);
  }
  std::cerr << "gpu: " << device->name() << '\n';
  const DeviceBench bench = MakeDeviceBench(std::move(device), options.size == "small");
  BenchReport report(options, std::cout);
  const double copy_rate = CopyRate(bench);
  const double link_rate = LinkRate(bench);
  report.Add({"gpu", "device-to-device copy", "bytes/s", copy_rate, std::nullopt, std::nullopt});
  report.Add({"gpu", "copy over the link", "bytes/s", link_rate, std::nullopt, std::nullopt});
  {
    const CheckedRows pool(bench, MemoryKind::kDevice, bench.pool_bytes);
    for (const int64_t row_bytes : {128, 256, 400, 512, 1024, 2048}) {
      BenchGather(bench, pool, row_bytes, copy_rate, &report);
    }
  }
  {
    const CheckedRows arrived(bench, MemoryKind::kDevice, bench.batch_bytes);
    for (const int64_t row_bytes : {128, 256, 400, 512, 1024, 2048}) {
      BenchScatter(bench, arrived, row_bytes, copy_rate, &report);
    }
  }
  for (const int64_t row_bytes : {128, 400, 512, 2048}) {
    for (const double far_share : {0.5, 1.0}) {
      BenchHomeRows(bench, row_bytes, far_share, link_rate, &report);
    }
  }
  for (const int64_t row_bytes : {128, 512, 2048}) BenchPool(bench, row_bytes, link_rate, &report);
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Run(argc, argv); }
