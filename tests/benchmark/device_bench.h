// What the parts of the GPU benchmark share: a device with streams, rows that can be checked, and
// times taken on the device.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/device.h"
#include "cache/device/row_mover.h"

namespace vicinity::benchmark {

// Exits 1, saying what failed.
void MustBeOk(const absl::Status& status);
template <typename T>
T Must(absl::StatusOr<T> value) {
  MustBeOk(value.status());
  return *std::move(value);
}

struct DeviceBench {
  std::unique_ptr<Device> device;
  std::unique_ptr<RowMover> mover;
  int64_t pool_bytes = 0;   // of the rows to read from: far more than any cache
  int64_t batch_bytes = 0;  // of a gather's output
  int num_times = 0;        // how often work of the device's is timed
  int at_once = 1;          // pieces of work between two points in time

  DeviceStream* stream() const { return mover->stream(); }
};

// `small`: a tenth of the full size. The host twin gets very little: it shows that all of it works.
DeviceBench MakeDeviceBench(std::unique_ptr<Device> device, bool small);

// The median of the seconds that the work takes, put into the stream at_once times between two
// points in time, num_times, each with the number of the time, after three that do not count. Where
// the host works before the device can, at_once hides all but the first time's.
double MedianSeconds(const DeviceBench& bench, int num_times,
                     const std::function<absl::Status(int)>& work);
inline double MedianSeconds(const DeviceBench& bench,
                            const std::function<absl::Status(int)>& work) {
  return MedianSeconds(bench, bench.num_times, work);
}

// Rows whose bytes tell which row it is, as far as a period of some 64 MB goes.
class CheckedRows {
 public:
  // Fills `num_bytes` of memory of either kind.
  CheckedRows(const DeviceBench& bench, MemoryKind kind, int64_t num_bytes);

  char* data() const { return memory_.data(); }
  int64_t bytes() const { return memory_.bytes(); }
  // How many rows of `to` (device memory) are not rows[i] of these.
  int64_t CountWrong(const DeviceBench& bench, const char* to, const std::vector<int32_t>& rows,
                     int64_t row_bytes) const;

 private:
  std::string period_;
  DeviceMemory memory_;
};

// n random numbers below `bound`, or as many different ones as there are.
std::vector<int32_t> RandomRows(int64_t n, int64_t bound, uint64_t seed);
std::vector<int32_t> DifferentRows(int64_t n, int64_t bound, uint64_t seed);
DeviceMemory OnDevice(const DeviceBench& bench, const std::vector<int32_t>& values);

}  // namespace vicinity::benchmark
