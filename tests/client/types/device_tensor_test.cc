#include "client/types/device_tensor.h"

#include <dlpack/dlpack.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "cache/device/base/device.h"
#include "cache/device/batch_tensor_ring.h"
#include "client/types/device_tensor_impl.h"
#include "partition/schema/schema.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::OpenTestedDevice;
using testing::TestedDevice;
using testing::TestedDevices;

constexpr std::chrono::seconds kLong(60);

// What a loader's tensors stand on; the tensors keep it.
struct Source {
  explicit Source(TestedDevice kind) : device(OpenTestedDevice(kind)) {
    VICINITY_ASSERT_OK_AND_ASSIGN(ring, BatchTensorRing::Create(device.get(), 1, 0));
    VICINITY_ASSERT_OK_AND_ASSIGN(stream, device->NewStream());
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<BatchTensorRing> ring;
  std::unique_ptr<DeviceStream> stream;
};

// `num_rows` rows of the column, every byte `value`.
std::unique_ptr<DeviceTensor> Tensor(const std::shared_ptr<Source>& source, const ColumnSpec& spec,
                                     int64_t num_rows, char value) {
  DeviceStream* const stream = source->stream.get();
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BatchTensor> tensor,
                                source->ring->Take(num_rows, spec.row_bytes(), stream, kLong));
  VICINITY_REQUIRE_OK(
      stream->Fill(tensor->data(), static_cast<uint8_t>(value), num_rows * spec.row_bytes()));
  VICINITY_REQUIRE_OK(tensor->Finish(stream));
  tensor->Keep(source);
  return DeviceTensor::Impl::Wrap(std::move(tensor), spec);
}

TEST_CASE("a device tensor says where its rows are, and they can be copied out",
          "[device_tensor]") {
  auto source = std::make_shared<Source>(GENERATE_COPY(from_range(TestedDevices())));
  const bool is_cuda = source->device->is_cuda();
  const std::weak_ptr<Source> watched = source;
  std::unique_ptr<DeviceTensor> tensor = Tensor(source, {"x", DType::kFloat32, {5}}, 7, 'a');
  source.reset();  // the loader is gone
  CHECK(tensor->num_rows() == 7);
  CHECK(tensor->row_bytes() == 20);
  CHECK(tensor->bytes() == 140);
  CHECK(tensor->device_ordinal() == 0);
  CHECK(tensor->device_kind() == (is_cuda ? DeviceKind::kCuda : DeviceKind::kHost));
  std::string out(140, 'x');
  REQUIRE(tensor->CopyToHost(&out[0]).ok());
  CHECK(out == std::string(140, 'a'));
  REQUIRE(tensor->WaitOn(nullptr).ok());
  if (!is_cuda) CHECK(std::string(static_cast<const char*>(tensor->data()), 140) == out);
  REQUIRE(tensor->Done(nullptr).ok());
  CHECK(!watched.expired());
  tensor.reset();
  CHECK(watched.expired());
}

TEST_CASE("a device tensor is handed over with its column's shape and type", "[device_tensor]") {
  auto source = std::make_shared<Source>(GENERATE_COPY(from_range(TestedDevices())));
  struct Case {
    ColumnSpec spec;
    uint8_t code;
    int ndim;
  };
  for (const Case& expected :
       {Case{{"f", DType::kFloat32, {3}}, kDLFloat, 2}, Case{{"h", DType::kFloat16, {2, 2}}, 2, 3},
        Case{{"b", DType::kBfloat16, {4}}, kDLBfloat, 2}, Case{{"i", DType::kInt64, {}}, kDLInt, 1},
        Case{{"u", DType::kUint8, {9}}, kDLUInt, 2}, Case{{"t", DType::kBool, {1}}, kDLUInt, 2}}) {
    CAPTURE(expected.spec.name);
    Result<DLManagedTensor*> handed_over =
        DeviceTensor::HandOver(Tensor(source, expected.spec, 4, 'z'), -1);
    REQUIRE(handed_over.ok());
    DLManagedTensor* const managed = *handed_over;
    const DLTensor& view = managed->dl_tensor;
    CHECK(view.dtype.code == expected.code);
    CHECK(view.dtype.bits == 8 * DTypeBytes(expected.spec.dtype));
    REQUIRE(view.ndim == expected.ndim);
    CHECK(view.shape[0] == 4);
    for (size_t i = 0; i < expected.spec.shape.size(); ++i) {
      CHECK(view.shape[i + 1] == expected.spec.shape[i]);
    }
    if (!source->device->is_cuda()) {
      CHECK(view.device.device_type == kDLCPU);
      const std::string rows(4 * expected.spec.row_bytes(), 'z');
      CHECK(std::string(static_cast<const char*>(view.data), rows.size()) == rows);
    }
    std::thread([managed] { managed->deleter(managed); }).join();
  }
}

TEST_CASE("what was handed over outlives its loader; a failure gives the tensor back",
          "[device_tensor]") {
  auto source = std::make_shared<Source>(GENERATE_COPY(from_range(TestedDevices())));
  const ColumnSpec spec{"x", DType::kFloat32, {5}};
  if (source->device->is_cuda()) {
    const Result<DLManagedTensor*> refused =
        DeviceTensor::HandOver(Tensor(source, spec, 2, 'r'), 0);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  }
  Result<DLManagedTensor*> handed_over = DeviceTensor::HandOver(Tensor(source, spec, 2, 'k'), 1);
  REQUIRE(handed_over.ok());
  const std::weak_ptr<Source> watched = source;
  source.reset();
  CHECK(!watched.expired());
  (*handed_over)->deleter(*handed_over);
  CHECK(watched.expired());
}

TEST_CASE("a tensor without bytes is one all the same", "[device_tensor]") {
  auto source = std::make_shared<Source>(TestedDevice::kLateHost);
  const auto [spec, num_rows] = GENERATE(std::pair(ColumnSpec{"none", DType::kInt8, {0}}, 3),
                                         std::pair(ColumnSpec{"some", DType::kInt8, {2}}, 0));
  std::unique_ptr<DeviceTensor> tensor = Tensor(source, spec, num_rows, 'n');
  CHECK(tensor->num_rows() == num_rows);
  CHECK(tensor->bytes() == 0);
  CHECK(tensor->CopyToHost(nullptr).ok());
  Result<DLManagedTensor*> handed_over = DeviceTensor::HandOver(std::move(tensor), -1);
  REQUIRE(handed_over.ok());
  CHECK((*handed_over)->dl_tensor.shape[0] == num_rows);
  (*handed_over)->deleter(*handed_over);
}

}  // namespace
}  // namespace vicinity
