#include "client/train/tensors.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tests/client/train/random_batch.h"

namespace vicinity {
namespace {

using testing::RandomMiniBatch;
using testing::TwoTypeSchema;

template <typename T>
std::vector<char> BytesOf(const std::vector<T>& values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// {1, -2, 0.5, 3} in each type, as far as it can hold them.
std::vector<char> SampleBytes(DType dtype) {
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
  const std::vector<char> bytes = SampleBytes(dtype);
  const Result<torch::Tensor> rows = RowsAsFloat(spec, 2, bytes, nullptr);
  REQUIRE(rows.ok());
  torch::Tensor expected = torch::tensor({{1.0f, -2.0f}, {0.5f, 3.0f}});
  if (dtype == DType::kInt16) expected[1][0] = 0;
  if (dtype == DType::kUint8) expected[0][1] = 254, expected[1][0] = 0;
  CHECK(rows.value().scalar_type() == torch::kFloat32);
  CHECK(torch::equal(rows.value(), expected));
}

TEST_CASE("a scalar column is one value a row", "[tensors]") {
  const std::vector<char> bytes = SampleBytes(DType::kFloat32);
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
  const std::vector<char> bytes = batch->columns[0].bytes;

  Result<BatchTensors> tensors = ToTensors(schema, Expansion::kAllNodes, std::move(batch));

  REQUIRE(tensors.ok());
  CHECK(tensors->features[0].data_ptr() == features);
  CHECK(tensors->labels.data_ptr() == labels);
  CHECK(tensors->layers.size() == 2);
  const torch::Tensor kept = tensors->features[0];
  *tensors = BatchTensors();  // the batch now lives through `kept` alone
  CHECK(std::memcmp(kept.data_ptr(), bytes.data(), bytes.size()) == 0);
}

TEST_CASE("a batch whose rows or labels do not fit its nodes is refused", "[tensors]") {
  std::mt19937 random(6);
  const Schema schema = TwoTypeSchema();
  std::unique_ptr<MiniBatch> batch = RandomMiniBatch(schema, Expansion::kAllNodes, 1, 4, &random);
  SECTION("a row less") { --batch->columns[0].num_rows; }
  SECTION("two columns of a type") { batch->columns.push_back(batch->columns[0]); }
  SECTION("a label less") { batch->labels.pop_back(); }
  CHECK(ToTensors(schema, Expansion::kAllNodes, std::move(batch)).error().code() ==
        ErrorCode::kInvalidArgument);
}

}  // namespace vicinity
