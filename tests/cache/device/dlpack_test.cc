#include "cache/device/dlpack.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "cache/device/base/device.h"
#include "cache/device/batch_tensor_ring.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::OpenTestedDevice;
using testing::TestedDevice;
using testing::TestedDevices;

constexpr std::chrono::nanoseconds kNoWait(0);

TEST_CASE("a tensor goes to its consumer and comes back from any thread", "[dlpack]") {
  const std::unique_ptr<Device> device =
      OpenTestedDevice(GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto stream, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 1200));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BatchTensor> tensor,
                                tensors->Take(3, 400, stream.get(), kNoWait));
  VICINITY_REQUIRE_OK(stream->Fill(tensor->data(), 1, 1200));
  VICINITY_REQUIRE_OK(tensor->Finish(stream.get()));
  const char* const data = tensor->data();
  VICINITY_ASSERT_OK_AND_ASSIGN(
      DLManagedTensor* const managed,
      ToDlpack(std::move(tensor), {{kDLFloat, 16, 1}, {20, 10}}, kDlpackDefaultStream));
  const DLTensor& view = managed->dl_tensor;
  CHECK(view.data == data);
  if (!device->is_cuda()) CHECK(std::string(data, 1200) == std::string(1200, 1));
  CHECK(view.device.device_type == (device->is_cuda() ? kDLCUDA : kDLCPU));
  CHECK(view.device.device_id == 0);
  REQUIRE(view.ndim == 3);
  CHECK(view.shape[0] == 3);
  CHECK(view.shape[1] == 20);
  CHECK(view.shape[2] == 10);
  CHECK(view.strides == nullptr);
  CHECK(view.byte_offset == 0);
  CHECK(view.dtype.code == kDLFloat);
  CHECK(view.dtype.bits == 16);
  VICINITY_CHECK_CODE(tensors->Take(3, 400, stream.get(), kNoWait).status(),
                      absl::StatusCode::kDeadlineExceeded);
  std::thread([managed] { managed->deleter(managed); }).join();
  VICINITY_CHECK_OK(tensors->Take(3, 400, stream.get(), kNoWait).status());
}

TEST_CASE("values that do not fill a row, and stream 0, are refused", "[dlpack]") {
  const TestedDevice kind = GENERATE_COPY(from_range(TestedDevices()));
  const std::unique_ptr<Device> device = OpenTestedDevice(kind);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto stream, device->NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto tensors, BatchTensorRing::Create(device.get(), 1, 1200));
  const auto hand_over = [&](const RowType& row, int64_t consumer) {
    VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BatchTensor> tensor,
                                  tensors->Take(3, 400, stream.get(), kNoWait));
    auto managed = ToDlpack(std::move(tensor), row, consumer);
    if (managed.ok()) (*managed)->deleter(*managed);
    return managed.status();
  };
  VICINITY_CHECK_OK(hand_over({{kDLFloat, 32, 1}, {100}}, kDlpackNoStream));
  VICINITY_CHECK_CODE(hand_over({{kDLFloat, 32, 1}, {99}}, kDlpackNoStream),
                      absl::StatusCode::kInvalidArgument);
  const absl::StatusCode ambiguous =
      device->is_cuda() ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk;
  VICINITY_CHECK_CODE(hand_over({{kDLFloat, 32, 1}, {100}}, 0), ambiguous);
}

}  // namespace
}  // namespace vicinity
