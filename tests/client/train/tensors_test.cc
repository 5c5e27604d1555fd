#include "client/train/tensors.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "cache/device/base/host_device.h"
#include "cache/device/batch_tensor_ring.h"
#include "client/types/device_tensor_impl.h"
#include "tests/client/train/random_batch.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RandomMiniBatch;
using testing::TwoTypeSchema;

template <typename T>
RowBuffer BytesOf(const std::vector<T>& values) {
  RowBuffer bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// {1, -2, 0.5, 3} in each type, as far as it can hold them.
RowBuffer SampleBytes(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return BytesOf<uint16_t>({0x3c00, 0xc000, 0x3800, 0x4200});
    case DType::kBfloat16:
      return BytesOf<uint16_t>({0x3f80, 0xc000, 0x3f00, 0x4040});
    case DType::kFloat64:
      return BytesOf<double>({1, -2, 0.5, 3});
    case DType::kInt16:
      return BytesOf<int16_t>({1, -2, 0, 3});
    case DType::kUint8:
      return BytesOf<uint8_t>({1, 254, 0, 3});
    default:
      return BytesOf<float>({1, -2, 0.5, 3});
  }
}

}  // namespace

TEST_CASE("rows of any number type become float32", "[tensors]") {
  const DType dtype = GENERATE(DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64,
                               DType::kInt16, DType::kUint8);
  const ColumnSpec spec{"feat", dtype, {2}};
  const RowBuffer bytes = SampleBytes(dtype);
  const Result<torch::Tensor> rows = RowsAsFloat(spec, 2, bytes, nullptr);
  REQUIRE(rows.ok());
  torch::Tensor expected = torch::tensor({{1.0f, -2.0f}, {0.5f, 3.0f}});
  if (dtype == DType::kInt16) expected[1][0] = 0;
  if (dtype == DType::kUint8) expected[0][1] = 254, expected[1][0] = 0;
  CHECK(rows.value().scalar_type() == torch::kFloat32);
  CHECK(torch::equal(rows.value(), expected));
}

TEST_CASE("a scalar column is one value a row", "[tensors]") {
  const RowBuffer bytes = SampleBytes(DType::kFloat32);
  const Result<torch::Tensor> rows = RowsAsFloat({"year", DType::kFloat32, {}}, 4, bytes, nullptr);
  REQUIRE(rows.ok());
  CHECK(rows.value().sizes() == torch::IntArrayRef({4, 1}));
}

TEST_CASE("bytes that do not make up the rows are refused", "[tensors]") {
  const ColumnSpec spec{"feat", DType::kFloat32, {2}};
  const int64_t num_rows = GENERATE(0, 1, 3);
  CHECK(RowsAsFloat(spec, num_rows, SampleBytes(DType::kFloat32), nullptr).error().code() ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("tensors share the batch's memory and keep it alive", "[tensors]") {
  std::mt19937 random(5);
  const Schema schema = TwoTypeSchema();
  std::unique_ptr<MiniBatch> batch = RandomMiniBatch(schema, Expansion::kAllNodes, 2, 4, &random);
  const void* features = batch->columns[0].bytes.data();
  const void* labels = batch->labels.data();
  const RowBuffer bytes = batch->columns[0].bytes;

  Result<BatchTensors> tensors = ToTensors(schema, Expansion::kAllNodes, std::move(batch));

  REQUIRE(tensors.ok());
  CHECK(tensors->features[0].data_ptr() == features);
  CHECK(tensors->labels.data_ptr() == labels);
  CHECK(tensors->layers.size() == 2);
  const torch::Tensor kept = tensors->features[0];
  *tensors = BatchTensors();  // the batch now lives through `kept` alone
  CHECK(std::memcmp(kept.data_ptr(), bytes.data(), bytes.size()) == 0);
}

// The column's rows, moved to a device that does everything late.
void MoveToDevice(BatchColumn* column) {
  struct Source {
    HostDevice device{HostOrder::kLate};
    std::unique_ptr<BatchTensorRing> ring;
    std::unique_ptr<DeviceStream> stream;
    DeviceMemory rows;
  };
  const auto source = std::make_shared<Source>();
  const auto num_bytes = static_cast<int64_t>(column->bytes.size());
  VICINITY_ASSERT_OK_AND_ASSIGN(source->ring, BatchTensorRing::Create(&source->device, 1, 0));
  VICINITY_ASSERT_OK_AND_ASSIGN(source->stream, source->device.NewStream());
  VICINITY_ASSERT_OK_AND_ASSIGN(source->rows,
                                source->device.Allocate(MemoryKind::kPinned, num_bytes));
  std::memcpy(source->rows.data(), column->bytes.data(), num_bytes);
  DeviceStream* const stream = source->stream.get();
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BatchTensor> tensor,
                                source->ring->Take(column->num_rows, column->spec.row_bytes(),
                                                   stream, std::chrono::seconds(10)));
  VICINITY_REQUIRE_OK(stream->Copy(tensor->data(), source->rows.data(), num_bytes));
  VICINITY_REQUIRE_OK(tensor->Finish(stream));
  tensor->Keep(source);
  column->tensor = DeviceTensor::Impl::Wrap(std::move(tensor), column->spec);
  column->bytes.clear();
}

TEST_CASE("features on a device are shared as those on the host are", "[tensors]") {
  const Schema schema = TwoTypeSchema();
  const auto make = [&] {
    std::mt19937 random(7);
    return RandomMiniBatch(schema, Expansion::kAllNodes, 2, 4, &random);
  };
  const Result<BatchTensors> expected = ToTensors(schema, Expansion::kAllNodes, make());
  REQUIRE(expected.ok());
  std::unique_ptr<MiniBatch> batch = make();
  for (BatchColumn& column : batch->columns) MoveToDevice(&column);
  const void* features = batch->columns[0].tensor->data();
  const Result<BatchTensors> tensors = ToTensors(schema, Expansion::kAllNodes, std::move(batch));
  REQUIRE(tensors.ok());
  CHECK(tensors->features[0].data_ptr() == features);
  for (int type = 0; type < 2; ++type) {
    CHECK(torch::equal(tensors->features[type], expected->features[type]));
  }
}

TEST_CASE("a batch whose rows or labels do not fit its nodes is refused", "[tensors]") {
  std::mt19937 random(6);
  const Schema schema = TwoTypeSchema();
  std::unique_ptr<MiniBatch> batch = RandomMiniBatch(schema, Expansion::kAllNodes, 1, 4, &random);
  SECTION("a row less") { --batch->columns[0].num_rows; }
  SECTION("two columns of a type") { batch->columns[1].node_type = 0; }
  SECTION("a label less") { batch->labels.pop_back(); }
  CHECK(ToTensors(schema, Expansion::kAllNodes, std::move(batch)).error().code() ==
        ErrorCode::kInvalidArgument);
}

}  // namespace vicinity
