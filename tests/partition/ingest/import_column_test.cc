#include "partition/ingest/import_column.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"
#include "proto/schema.pb.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::NpyBytes;
using testing::Values;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class Folder {
 public:
  absl::StatusOr<ImportColumn> Open(const std::string& file, const std::string& bytes,
                                    proto::DType cast = proto::DTYPE_UNSPECIFIED) const {
    testing::WriteInput(dir_.File(file), bytes);
    proto::ColumnSource column;
    column.set_name("x");
    column.mutable_array()->set_path(dir_.File(file));
    column.set_cast(cast);
    return OpenColumn(column, {});
  }

 private:
  const testing::TempDir dir_;
};

TEST_CASE("a column has the type found, or the one asked for", "[import]") {
  const Folder folder;
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const ImportColumn found,
      folder.Open("a.npy", NpyBytes("<f8", "(1, 2, 3)", std::string(48, 0))));
  CHECK(found.spec.dtype == DType::kFloat64);
  CHECK(found.spec.shape == std::vector<int64_t>{2, 3});
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const ImportColumn cast,
      folder.Open("a.npy", NpyBytes("<f8", "(1,)", std::string(8, 0)), proto::FLOAT16));
  CHECK(cast.spec.dtype == DType::kFloat16);
  CHECK(cast.spec.shape.empty());
  VICINITY_ASSERT_OK_AND_ASSIGN(const ImportColumn text, folder.Open("a.csv", "1,2.5,3\n"));
  CHECK(text.spec.dtype == DType::kFloat32);
  CHECK(text.spec.shape == std::vector<int64_t>{3});
}

// The values of a column of text in the type that it was found to have.
template <typename T>
std::vector<T> ReadText(const Folder& folder, const std::string& text, DType expected,
                        proto::DType cast = proto::DTYPE_UNSPECIFIED) {
  VICINITY_ASSERT_OK_AND_ASSIGN(ImportColumn column, folder.Open("a.csv", text, cast));
  CHECK(column.spec.dtype == expected);
  const int64_t rows = std::count(text.begin(), text.end(), '\n');
  std::string out(static_cast<size_t>(rows * column.spec.row_bytes()), '\0');
  VICINITY_REQUIRE_OK(WriteRows(&column, "it", rows, out.data(), NoProgress()));
  return Values<T>(out);
}

TEST_CASE("integers of text stay exact: 1577836801 and 1577836803 are two numbers", "[import]") {
  const Folder folder;
  CHECK(ReadText<int64_t>(folder, "1577836801\n1577836803\n", DType::kInt64) ==
        std::vector<int64_t>{1577836801, 1577836803});
  CHECK(ReadText<int64_t>(folder, "-9223372036854775808,+7\n9223372036854775807,0\n",
                          DType::kInt64) == std::vector<int64_t>{INT64_MIN, 7, INT64_MAX, 0});
  // The last of many rows decides, too.
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "7\n";
  CHECK(ReadText<float>(folder, text + "0.5\n", DType::kFloat32).back() == 0.5F);
  // So pandas writes integers beside a missing one.
  CHECK(ReadText<double>(folder, "1577836801.0\nnan\n1577836803.0\n", DType::kFloat64)[2] ==
        1577836803.0);
  CHECK(ReadText<int64_t>(folder, "1577836801.0\n1577836803.0\n", DType::kInt64, proto::INT64) ==
        std::vector<int64_t>{1577836801, 1577836803});
}

TEST_CASE("ISO times of text become seconds since 1970, truth values bool", "[import]") {
  const Folder folder;
  CHECK(ReadText<int64_t>(folder, "2020-01-01T00:00:01Z\n2020-01-01 01:00:03+01:00\n2020-01-01\n",
                          DType::kInt64) ==
        std::vector<int64_t>{1577836801, 1577836803, 1577836800});
  CHECK(ReadText<int32_t>(folder, "1970-01-02\n", DType::kInt32, proto::INT32) ==
        std::vector<int32_t>{86400});
  CHECK(ReadText<uint8_t>(folder, "True\nfalse\nTRUE\n", DType::kBool) ==
        std::vector<uint8_t>{1, 0, 1});
  CHECK(ReadText<float>(folder, "True\nFalse\n", DType::kFloat32, proto::FLOAT32) ==
        std::vector<float>{1, 0});
}

TEST_CASE("missing values are NaN among floating-point numbers, and refused elsewhere",
          "[import]") {
  const Folder folder;
  const std::vector<float> read = ReadText<float>(folder, "0.5,1\n,NA\n2,null\n", DType::kFloat32);
  REQUIRE(read.size() == 6);
  CHECK(read[0] == 0.5F);
  CHECK(std::isnan(read[2]));
  CHECK(std::isnan(read[3]));
  CHECK(read[4] == 2);
  CHECK(std::isnan(read[5]));
  const auto refused = folder.Open("a.csv", "1,1\n2,\n3,3\n,4\n");
  VICINITY_CHECK_CODE(refused, kInvalid);
  CHECK_THAT(std::string(refused.status().message()),
             Catch::Contains("a.csv") && Catch::Contains("2 problems") &&
                 Catch::Contains("line 2: field 1: ''") && Catch::Contains("line 4: field 0") &&
                 Catch::Contains("cast FLOAT64"));
  CHECK(std::isnan(ReadText<double>(folder, "1,1\n2,\n", DType::kFloat64, proto::FLOAT64)[3]));
  VICINITY_ASSERT_OK_AND_ASSIGN(ImportColumn told, folder.Open("a.csv", "1,1\n2,\n", proto::INT32));
  std::string out(16, '\0');
  const absl::Status status = WriteRows(&told, "it", 2, out.data(), NoProgress());
  VICINITY_CHECK_CODE(status, kInvalid);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("line 2") && Catch::Contains("missing value"));
}

TEST_CASE("text in a pipe is read only once, and so needs a cast", "[import]") {
  const testing::TempDir dir;
  const std::string pipe = dir.File("p.csv");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&pipe] { testing::WriteInput(pipe, "1\n2\n"); });
  proto::ColumnSource column;
  column.mutable_array()->set_path(pipe);
  VICINITY_CHECK_CODE(OpenColumn(column, {}), kInvalid);
  writer.join();
}

TEST_CASE("a type that columns cannot have must be cast", "[import]") {
  const Folder folder;
  const std::string npy = NpyBytes("<u4", "(2,)", Bytes<uint32_t>({7, 9}));
  VICINITY_CHECK_CODE(folder.Open("a.npy", npy), kInvalid);
  VICINITY_ASSERT_OK_AND_ASSIGN(ImportColumn column, folder.Open("a.npy", npy, proto::INT64));
  std::string out(16, '\0');
  VICINITY_REQUIRE_OK(WriteRows(&column, "it", 2, out.data(), NoProgress()));
  CHECK(Values<int64_t>(out) == std::vector<int64_t>{7, 9});
}

TEST_CASE("a column without array, or cast to nothing known, is refused", "[import]") {
  const Folder folder;
  VICINITY_CHECK_CODE(OpenColumn(proto::ColumnSource(), {}), kInvalid);
  VICINITY_CHECK_CODE(folder.Open("a.csv", "1\n", static_cast<proto::DType>(99)), kInvalid);
}

TEST_CASE("rows of another number are refused with both numbers, whatever the format", "[import]") {
  const Folder folder;
  const std::string file = GENERATE("a.npy", "a.csv");
  const std::string bytes = file == "a.npy" ? NpyBytes("<f4", "(3,)", Bytes<float>({1, 2, 3}))
                                            : std::string("1.0\n2\n3\n");
  for (const int64_t num_rows : {0, 2, 4}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(ImportColumn column, folder.Open(file, bytes));
    std::string out(64, '\0');
    const absl::Status status =
        WriteRows(&column, "node type paper", num_rows, out.data(), NoProgress());
    VICINITY_CHECK_CODE(status, kInvalid);
    CHECK_THAT(std::string(status.message()),
               Catch::Contains("has 3 rows") &&
                   Catch::Contains("node type paper has " + std::to_string(num_rows)));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(ImportColumn column, folder.Open(file, bytes));
  std::string out(12, '\0');
  VICINITY_CHECK_OK(WriteRows(&column, "it", 3, out.data(), NoProgress()));
  CHECK(Values<float>(out) == std::vector<float>{1, 2, 3});
}

}  // namespace
}  // namespace vicinity
