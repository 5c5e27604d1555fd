#include "client/rpc/rows_reader.h"

#include <grpcpp/support/slice.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/narrow_floats.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kWidth = 3;  // floats in a row

// Rows 4, 3, 2, 1, 0 of a request for six, whose first is answered elsewhere.
struct Reading {
  std::vector<float> out = std::vector<float>(6 * kWidth, -1);
  std::vector<uint64_t> rows = {9, 9, 9, 9, 9, 9};
  std::vector<int64_t> positions = {5, 4, 3, 2, 1, 0};
  TrafficCounters traffic;
  RowsReader reader;

  explicit Reading(proto::Precision precision, bool scattered = true)
      : reader(Request(scattered).Part(1, 6), precision, &traffic) {}

  ShardRows Request(bool scattered) {
    ShardRows request;
    request.row_bytes = kWidth * sizeof(float);
    request.rows = rows;
    if (scattered) request.positions = positions;
    request.out = reinterpret_cast<char*>(out.data());
    return request;
  }

  // A chunk as it comes, cut into pieces.
  absl::Status Add(int64_t first, proto::Precision precision, const std::string& bytes,
                   size_t piece) {
    proto::RowsChunk chunk;
    chunk.set_first(first);
    chunk.set_precision(precision);
    SlicedBytes wire;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      wire.Append(std::string_view(bytes).substr(i, piece));
    }
    return reader.Add(chunk, wire);
  }
};

std::vector<float> Values(int num_rows) {
  std::vector<float> values;
  for (int i = 0; i < num_rows * kWidth; ++i) values.push_back(0.1F * static_cast<float>(i + 1));
  values[1] = -INFINITY;
  values[2] = 1e-40F;
  return values;
}

std::string Wire(const std::vector<float>& values, proto::Precision precision) {
  const auto* const floats = reinterpret_cast<const char*>(values.data());
  if (precision == proto::PRECISION_STORED) return std::string(floats, values.size() * 4);
  std::string halves(values.size() * 2, '-');
  NarrowFloats(precision, floats, values.size(), &halves[0]);
  return halves;
}

float AsSent(float value, proto::Precision precision) {
  if (precision == proto::PRECISION_FLOAT16) return FromFloat16(ToFloat16(value));
  if (precision == proto::PRECISION_BFLOAT16) return FromBfloat16(ToBfloat16(value));
  return value;
}

TEST_CASE("rows go where they belong, however they are cut and narrowed", "[rows_reader]") {
  const proto::Precision precision =
      GENERATE(proto::PRECISION_STORED, proto::PRECISION_FLOAT16, proto::PRECISION_BFLOAT16);
  const bool scattered = GENERATE(true, false);
  const size_t piece = GENERATE(size_t{1}, size_t{5}, size_t{6}, size_t{12}, size_t{1000});
  CAPTURE(precision, scattered, piece);
  Reading reading(precision, scattered);
  const std::vector<float> values = Values(5);
  const std::string wire = Wire(values, precision);
  const size_t row = wire.size() / 5;
  VICINITY_REQUIRE_OK(reading.Add(0, precision, wire.substr(0, 2 * row), piece));
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_REQUIRE_OK(reading.Add(2, precision, wire.substr(2 * row), piece));
  VICINITY_CHECK_OK(reading.reader.Finish());
  for (int i = 0; i < 5; ++i) {
    const int place = scattered ? 4 - i : 1 + i;
    for (int j = 0; j < kWidth; ++j) {
      CHECK(reading.out[place * kWidth + j] == AsSent(values[i * kWidth + j], precision));
    }
  }
  CHECK(reading.out[(scattered ? 5 : 0) * kWidth] == -1);  // not asked for here
  CHECK(reading.traffic.rows_remote.value() == 5);
  CHECK(reading.traffic.bytes_received.value() == static_cast<int64_t>(wire.size()));
  if (piece == 1000)
    CHECK(reading.traffic.bytes_copied.value() == reading.traffic.bytes_received.value());
}

TEST_CASE("rows that were not asked for are refused", "[rows_reader]") {
  const proto::Precision stored = proto::PRECISION_STORED;
  const std::string two = Wire(Values(2), stored);
  Reading reading(stored);
  const auto refused = [&](int64_t first, proto::Precision precision, const std::string& bytes) {
    VICINITY_CHECK_CODE(reading.Add(first, precision, bytes, 100), absl::StatusCode::kInternal);
  };
  refused(1, stored, two);                      // the first is missing
  refused(0, stored, two + "x");                // not whole rows
  refused(0, stored, Wire(Values(6), stored));  // one too many
  refused(0, proto::PRECISION_FLOAT16, two);    // not the precision asked for
  VICINITY_CHECK_OK(reading.Add(0, stored, two, 100));
  refused(0, stored, two);  // again
  Reading narrow(proto::PRECISION_BFLOAT16);
  VICINITY_CHECK_CODE(narrow.Add(0, stored, two, 100), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace vicinity
