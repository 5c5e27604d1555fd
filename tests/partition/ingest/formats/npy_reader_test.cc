#include "partition/ingest/formats/npy_reader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::Mutated;
using testing::NpyBytes;
using testing::NpyBytesWithHeader;
using testing::Values;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST_CASE("all header versions give type, shape and values in place", "[npy]") {
  const int version = GENERATE(1, 2, 3);
  const std::string bytes = NpyBytes("<f4", "(2, 3)", Bytes<float>({1, 2, 3, 4, 5, 6}), version);
  VICINITY_ASSERT_OK_AND_ASSIGN(const NpyView view, ParseNpy(bytes, "x.npy"));
  CHECK(view.type == ValueType::kFloat32);
  CHECK(view.shape == std::vector<int64_t>{2, 3});
  CHECK(view.num_values() == 6);
  CHECK(Values<float>(view.data) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(view.data.data() + view.data.size() == bytes.data() + bytes.size());
}

TEST_CASE("every number type is known by NumPy's name for it", "[npy]") {
  const std::vector<std::pair<std::string, ValueType>> types = {
      {"|b1", ValueType::kBool},    {"|i1", ValueType::kInt8},    {"|u1", ValueType::kUint8},
      {"<i2", ValueType::kInt16},   {"<u2", ValueType::kUint16},  {"<i4", ValueType::kInt32},
      {"<u4", ValueType::kUint32},  {"<i8", ValueType::kInt64},   {"<u8", ValueType::kUint64},
      {"<f2", ValueType::kFloat16}, {"<f4", ValueType::kFloat32}, {"<f8", ValueType::kFloat64}};
  for (const auto& [descr, type] : types) {
    INFO(descr);
    const std::string bytes =
        NpyBytes(descr, "(3,)", std::string(static_cast<size_t>(3 * ValueBytes(type)), '\0'));
    VICINITY_ASSERT_OK_AND_ASSIGN(const NpyView view, ParseNpy(bytes, "x"));
    CHECK(view.type == type);
  }
}

TEST_CASE("scalars, empty arrays and other spellings of the header are read", "[npy]") {
  VICINITY_CHECK_OK(ParseNpy(NpyBytes("<i8", "()", Bytes<int64_t>({5})), "x"));
  VICINITY_CHECK_OK(ParseNpy(NpyBytes("<i8", "(0, 7)", ""), "x"));
  VICINITY_CHECK_OK(
      ParseNpy(NpyBytesWithHeader(R"({"shape":(1,2),"fortran_order":False,"descr":"<i4"})",
                                  Bytes<int32_t>({1, 2})),
               "x"));
  VICINITY_CHECK_OK(
      ParseNpy(NpyBytesWithHeader("{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 1L), }",
                                  Bytes<int32_t>({1, 2})),
               "x"));
}

TEST_CASE("an .npy whose header lies is refused", "[npy]") {
  const std::string good = NpyBytes("<i4", "(2, 3)", Bytes<int32_t>({1, 2, 3, 4, 5, 6}));
  std::vector<std::string> lies = {
      "",
      good.substr(0, 5),
      good.substr(0, 9),
      "PK" + good,                      // not the magic bytes
      good.substr(0, good.size() - 1),  // a value is cut short
      good + "x",                       // bytes that nothing accounts for
      NpyBytes("<i4", "(2, 4)", Bytes<int32_t>({1, 2, 3, 4, 5, 6})),
      NpyBytes("<i4", "(-2, -3)", Bytes<int32_t>({1, 2, 3, 4, 5, 6})),
      // 2^62 values of 4 bytes come to 0 bytes modulo 2^64.
      NpyBytes("<i4", "(4611686018427387904,)", ""),
      NpyBytes("<i4", "(4294967296, 4294967296, 4294967296)", ""),
      NpyBytes("<i4", "(99999999999999999999,)", ""),
      NpyBytes("<i4", "(6)x", Bytes<int32_t>({1, 2, 3, 4, 5, 6})),
      NpyBytesWithHeader("{'descr': '<i4', 'shape': (1,), }", Bytes<int32_t>({1})),
      NpyBytesWithHeader("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}",
                         Bytes<int32_t>({1})),
      NpyBytesWithHeader("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
                         Bytes<int32_t>({1})),
      NpyBytesWithHeader("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} and more",
                         Bytes<int32_t>({1})),
      NpyBytesWithHeader("", ""),
  };
  std::string long_header = good;
  long_header[8] = '\xFF';  // a header of 65,000 bytes
  long_header[9] = '\xFF';
  lies.push_back(long_header);
  std::string version = good;
  version[6] = 4;
  lies.push_back(version);
  for (const std::string& lie : lies) {
    INFO(lie.substr(0, 90));
    VICINITY_CHECK_CODE(ParseNpy(lie, "x.npy"), kInvalid);
  }
}

TEST_CASE("Fortran order is refused, and the message says what to do", "[npy]") {
  const auto view =
      ParseNpy(NpyBytesWithHeader("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }",
                                  Bytes<int32_t>({1, 2, 3, 4, 5, 6})),
               "x.npy");
  VICINITY_CHECK_CODE(view, kInvalid);
  CHECK_THAT(std::string(view.status().message()), Catch::Contains("x.npy") &&
                                                       Catch::Contains("Fortran") &&
                                                       Catch::Contains("ascontiguousarray"));
}

TEST_CASE("types that are no little-endian numbers are refused by name", "[npy]") {
  const auto message = [](const std::string& descr) {
    const auto view = ParseNpy(NpyBytes(descr, "(1,)", std::string(8, '\0')), "x.npy");
    VICINITY_CHECK_CODE(view, kInvalid);
    return std::string(view.status().message());
  };
  CHECK_THAT(message(">f8"), Catch::Contains("big-endian") && Catch::Contains("<f8"));
  CHECK_THAT(message("|O"), Catch::Contains("objects"));
  for (const std::string descr : {"<U2", "|S8", "<c8", "<M8[ns]", "|V8", "<f16", "f8", "", "<"}) {
    INFO(descr);
    CHECK_THAT(message(descr), Catch::Contains("not supported"));
  }
  VICINITY_CHECK_CODE(
      ParseNpy(NpyBytesWithHeader(
                   "{'descr': [('a', '<i4'), ('b', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                   std::string(8, '\0')),
               "x"),
      kInvalid);
}

TEST_CASE("a file is mapped; a missing one is not found", "[npy]") {
  const testing::TempDir dir;
  testing::WriteInput(dir.File("x.npy"), NpyBytes("<i2", "(3,)", Bytes<int16_t>({7, 8, 9})));
  VICINITY_ASSERT_OK_AND_ASSIGN(const NpyFile file, NpyFile::Open(dir.File("x.npy")));
  CHECK(Values<int16_t>(file.view().data) == std::vector<int16_t>{7, 8, 9});
  VICINITY_CHECK_CODE(NpyFile::Open(dir.File("y.npy")), absl::StatusCode::kNotFound);
}

TEST_CASE("no damage to an .npy crashes its reader", "[npy]") {
  const std::string good = NpyBytes("<i4", "(5, 3)", std::string(60, 'x'), 2);
  int refused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string bytes = Mutated(good, seed);
    const auto view = ParseNpy(bytes, "x");
    if (!view.ok()) {
      ++refused;
      continue;
    }
    // What is accepted adds up.
    uint64_t size = static_cast<uint64_t>(ValueBytes(view->type));
    for (const int64_t extent : view->shape) size *= static_cast<uint64_t>(extent);
    CHECK(size == view->data.size());
    CHECK(view->data.size() <= bytes.size());
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace vicinity
