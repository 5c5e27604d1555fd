#include "partition/ingest/formats/value_cast.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/testing/graphs/input_files.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::Values;

template <typename To, typename From>
std::vector<To> Cast(ValueType from, const std::vector<From>& values, DType to) {
  const std::string in = Bytes(values);
  std::string out(values.size() * static_cast<size_t>(DTypeBytes(to)), '\0');
  const auto count = static_cast<int64_t>(values.size());
  REQUIRE(CastValues(from, in.data(), count, to, out.data()) == count);
  return Values<To>(out);
}

template <typename From>
int64_t Fit(ValueType from, const std::vector<From>& values, DType to) {
  std::string out(values.size() * static_cast<size_t>(DTypeBytes(to)), '\0');
  return CastValues(from, Bytes(values).data(), static_cast<int64_t>(values.size()), to,
                    out.data());
}

// The half nearest to `value`, ties to even, by trying the two around it.
uint16_t NearestHalf(double value) {
  uint16_t best = 0;
  double best_error = std::numeric_limits<double>::infinity();
  for (uint32_t magnitude = 0; magnitude <= 0x7C00; ++magnitude) {
    // An infinite half stands for 2^16 when it comes to rounding.
    const double candidate =
        magnitude == 0x7C00 ? 65536 : HalfToFloat(static_cast<uint16_t>(magnitude));
    const double error = std::fabs(candidate - std::fabs(value));
    if (error < best_error || (error == best_error && magnitude % 2 == 0)) {
      best = static_cast<uint16_t>(magnitude);
      best_error = error;
    }
  }
  return static_cast<uint16_t>(best | (std::signbit(value) ? 0x8000 : 0));
}

TEST_CASE("every half turns into a float and back into itself", "[value_cast]") {
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if (std::isnan(value)) {
      CHECK(std::isnan(HalfToFloat(FloatToHalf(value))));
    } else if (FloatToHalf(value) != half) {
      FAIL_CHECK("half " << bits);
    }
  }
  CHECK(HalfToFloat(0x3C00) == 1.0F);
  CHECK(HalfToFloat(0xC000) == -2.0F);
  CHECK(HalfToFloat(0x7BFF) == 65504.0F);
  CHECK(HalfToFloat(0x0001) == 0x1p-24F);
  CHECK(std::signbit(HalfToFloat(0x8000)));
  CHECK(std::isinf(HalfToFloat(0x7C00)));
}

TEST_CASE("a double becomes the nearest half, ties to even", "[value_cast]") {
  std::mt19937_64 random(7);
  std::vector<double> values = {0.0, -0.0, 1.0, 65504, 65519, -65519.99, 0x1p-24, 0x1p-25,
                                // Ties that a detour over float would round twice.
                                1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40};
  for (int i = 0; i < 300; ++i) {
    const double exponent = static_cast<double>(random() % 45) - 28;
    values.push_back(std::ldexp(static_cast<double>(random() % 100000) / 100000, 1) *
                     std::exp2(exponent) * (random() % 2 == 0 ? 1 : -1));
  }
  std::vector<double> in_range;
  for (const double value : values) {
    if (std::fabs(value) < 65520) in_range.push_back(value);
  }
  const auto halves = Cast<uint16_t>(ValueType::kFloat64, in_range, DType::kFloat16);
  for (size_t i = 0; i < in_range.size(); ++i) {
    INFO(in_range[i]);
    CHECK(halves[i] == NearestHalf(in_range[i]));
  }
  CHECK(Fit<double>(ValueType::kFloat64, {1, 65520}, DType::kFloat16) == 1);
}

TEST_CASE("a number becomes the nearest bfloat16, ties to even", "[value_cast]") {
  // 8 bits of significand: 1 + 2^-8 lies between 1 and 1 + 2^-7.
  const std::vector<double> values = {1, 1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-50, -3.5};
  CHECK(Cast<uint16_t>(ValueType::kFloat64, values, DType::kBfloat16) ==
        std::vector<uint16_t>{0x3F80, 0x3F80, 0x3F82, 0x3F81, 0xC060});
  CHECK(Bfloat16ToFloat(0xC060) == -3.5F);
  CHECK(std::isnan(Bfloat16ToFloat(FloatToBfloat16(std::nanf("")))));
  CHECK(Fit<float>(ValueType::kFloat32, {std::numeric_limits<float>::max()}, DType::kBfloat16) ==
        0);
}

TEST_CASE("integers must fit, and the first that does not is told", "[value_cast]") {
  CHECK(Cast<int8_t>(ValueType::kInt64, std::vector<int64_t>{-128, 127}, DType::kInt8) ==
        std::vector<int8_t>{-128, 127});
  CHECK(Fit<int64_t>(ValueType::kInt64, {5, 128}, DType::kInt8) == 1);
  CHECK(Fit<int64_t>(ValueType::kInt64, {5, 6, -129}, DType::kInt8) == 2);
  CHECK(Fit<int32_t>(ValueType::kInt32, {-1}, DType::kUint8) == 0);
  CHECK(Fit<uint64_t>(ValueType::kUint64, {uint64_t{1} << 63}, DType::kInt64) == 0);
  CHECK(Fit<uint32_t>(ValueType::kUint32, {0xFFFFFFFF}, DType::kInt32) == 0);
  CHECK(Cast<int64_t>(ValueType::kUint32, std::vector<uint32_t>{0xFFFFFFFF}, DType::kInt64) ==
        std::vector<int64_t>{0xFFFFFFFF});
  CHECK(Fit<int32_t>(ValueType::kInt32, {65520}, DType::kFloat16) == 0);
}

TEST_CASE("a floating-point number must be whole and in range to become an integer",
          "[value_cast]") {
  CHECK(Cast<int32_t>(ValueType::kFloat64, std::vector<double>{-2, 3}, DType::kInt32) ==
        std::vector<int32_t>{-2, 3});
  for (const double value :
       {0.5, std::nan(""), 0x1p63, -0x1.1p63, std::numeric_limits<double>::infinity()}) {
    INFO(value);
    CHECK(Fit<double>(ValueType::kFloat64, {value}, DType::kInt64) == 0);
  }
  CHECK(Fit<double>(ValueType::kFloat64, {-0x1p63}, DType::kInt64) == 1);
}

TEST_CASE("finite numbers stay finite, and NaN and infinity stay what they are", "[value_cast]") {
  CHECK(Fit<double>(ValueType::kFloat64, {1e39}, DType::kFloat32) == 0);
  const auto cast =
      Cast<float>(ValueType::kFloat64,
                  std::vector<double>{std::nan(""), -std::numeric_limits<double>::infinity(), 0.1},
                  DType::kFloat32);
  CHECK(std::isnan(cast[0]));
  CHECK(std::isinf(cast[1]));
  CHECK(cast[2] == 0.1F);
}

TEST_CASE("values of the same type keep every bit", "[value_cast]") {
  const std::vector<uint32_t> payloads = {0x7FC12345, 0xFF800001, 0x80000000};
  CHECK(Cast<uint32_t>(ValueType::kFloat32, payloads, DType::kFloat32) == payloads);
}

TEST_CASE("truth values become 0 or 1, and only those become truth values", "[value_cast]") {
  CHECK(Cast<uint8_t>(ValueType::kBool, std::vector<uint8_t>{0, 1, 255}, DType::kBool) ==
        std::vector<uint8_t>{0, 1, 1});
  CHECK(Cast<float>(ValueType::kBool, std::vector<uint8_t>{0, 7}, DType::kFloat32) ==
        std::vector<float>{0, 1});
  CHECK(Fit<int32_t>(ValueType::kInt32, {0, 1, 2}, DType::kBool) == 2);
}

TEST_CASE("values and types have names for messages", "[value_cast]") {
  const int16_t value = -5;
  CHECK(ValueText(ValueType::kInt16, reinterpret_cast<const char*>(&value)) == "-5");
  CHECK(ValueTypeName(ValueType::kUint16) == "uint16");
  CHECK(ValueTypeName(ValueType::kBfloat16) == "bfloat16");
  CHECK(ValueBytes(ValueType::kUint64) == 8);
}

}  // namespace
}  // namespace vicinity
