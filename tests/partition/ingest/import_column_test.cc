#include "partition/ingest/import_column.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/ingest/array_source.h"
#include "partition/progress.h"
#include "partition/schema.h"
#include "proto/import.pb.h"
#include "proto/schema.pb.h"
#include "tests/testing/input_files.h"
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

TEST_CASE("a column has the type found, or the one asked for; text is float32", "[import]") {
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
  VICINITY_ASSERT_OK_AND_ASSIGN(const ImportColumn text, folder.Open("a.csv", "1,2,3\n"));
  CHECK(text.spec.dtype == DType::kFloat32);
  CHECK(text.spec.shape == std::vector<int64_t>{3});
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
  const std::string bytes =
      file == "a.npy" ? NpyBytes("<f4", "(3,)", Bytes<float>({1, 2, 3})) : std::string("1\n2\n3\n");
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
