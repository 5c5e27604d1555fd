#include "client/cli/writes/array_change_file.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using testing::Bytes;
using testing::NpyBytes;
using Names = std::vector<std::string>;
using Members = std::vector<std::pair<std::string, std::string>>;

constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kDamaged = absl::StatusCode::kDataLoss;

std::string Longs(const char* shape, const std::vector<int64_t>& values) {
  return NpyBytes("<i8", shape, Bytes(values));
}

class ArrayChangeFileTest {
 protected:
  absl::StatusOr<std::unique_ptr<ArrayChangeFile>> OpenNpz(const Members& members,
                                                           bool deflated = false) {
    testing::WriteZip(path_, members, deflated);
    return ArrayChangeFile::OpenNpz(path_);
  }
  absl::StatusOr<std::unique_ptr<ArrayChangeFile>> OpenNpy(const std::string& bytes,
                                                           const Names& names) {
    testing::WriteInput(path_, bytes);
    return ArrayChangeFile::OpenNpy(path_, names);
  }
  static Names RowsOf(absl::StatusOr<std::unique_ptr<ArrayChangeFile>> file) {
    VICINITY_REQUIRE_OK(file);
    Names rows;
    while (true) {
      const auto found = (*file)->Next();
      VICINITY_REQUIRE_OK(found);
      if (*found == ChangeFile::Found::kEnd) break;
      CHECK((*file)->number() == static_cast<int64_t>(rows.size()));
      rows.push_back((*file)->row().ToJson().dump());
    }
    CHECK((*file)->num_rows() == static_cast<int64_t>(rows.size()));
    return rows;
  }

  const testing::TempDir folder_;
  const std::string path_ = folder_.File("rows");
};

TEST_CASE_METHOD(ArrayChangeFileTest, "the members of an archive are the fields of its rows",
                 "[cli]") {
  const Members members = {
      {"source.npy", Longs("(2,)", {7, 8})},
      {"features.npy", NpyBytes("<f4", "(2, 3)", Bytes<float>({1, 2, 3, 4, 5, 6}))}};
  for (const bool deflated : {false, true}) {
    CHECK(RowsOf(OpenNpz(members, deflated)) == Names{R"({"source":7,"features":[1.0,2.0,3.0]})",
                                                      R"({"source":8,"features":[4.0,5.0,6.0]})"});
  }
  auto file = OpenNpz(members);
  VICINITY_REQUIRE_OK(file);
  CHECK((*file)->names() == Names{"source", "features"});
  CHECK((*file)->RowShape(0) == std::vector<int64_t>{});
  CHECK((*file)->RowShape(1) == std::vector<int64_t>{3});
  CHECK((*file)->Place(1) == path_ + ": row 1");
  CHECK(RowsOf(OpenNpz({{"id.npy", Longs("(0,)", {})}})).empty());
}

TEST_CASE_METHOD(ArrayChangeFileTest, "rows that are kept can be had again when others are read",
                 "[cli]") {
  auto file = OpenNpz({{"id.npy", Longs("(3,)", {7, 8, 9})}});
  VICINITY_REQUIRE_OK(file);
  for (int i = 0; i < 3; ++i) {
    VICINITY_REQUIRE_OK((*file)->Next());
    if (i != 1) (*file)->Keep();
  }
  CHECK((*file)->Kept(1).ToJson().dump() == R"({"id":9})");
  CHECK((*file)->Kept(0).ToJson().dump() == R"({"id":7})");
  (*file)->Forget();
  (*file)->Keep();
  CHECK((*file)->Kept(0).ToJson().dump() == R"({"id":9})");
}

TEST_CASE_METHOD(ArrayChangeFileTest, "members that make no rows are refused by name", "[cli]") {
  const absl::Status fewer =
      OpenNpz({{"source.npy", Longs("(2,)", {7, 8})}, {"target.npy", Longs("(1,)", {7})}}).status();
  VICINITY_CHECK_CODE(fewer, kWrong);
  CHECK_THAT(std::string(fewer.message()),
             Catch::Contains(":target") && Catch::Contains("1 rows") && Catch::Contains("2"));
  VICINITY_CHECK_CODE(OpenNpz({{"id.npy", Longs("()", {7})}}).status(), kWrong);
  VICINITY_CHECK_CODE(OpenNpz({{"id.npy", NpyBytes("|O", "(1,)", "x")}}).status(), kWrong);
  VICINITY_CHECK_CODE(OpenNpz({{"name.npy", NpyBytes("<U3", "(1,)", "x")}}).status(), kWrong);
  // libzip writes no archive of two members alike, but with and without the suffix they are.
  VICINITY_CHECK_CODE(
      OpenNpz({{"id.npy", Longs("(1,)", {7})}, {"id", Longs("(1,)", {7})}}).status(), kWrong);
}

TEST_CASE_METHOD(ArrayChangeFileTest, "a damaged archive is told before any of its rows", "[cli]") {
  // More than opening reads, and with an end that is nowhere else.
  std::vector<int64_t> ids(200000, 7);
  ids.back() = 9;
  VICINITY_REQUIRE_OK(OpenNpz({{"id.npy", Longs("(200000,)", ids)}}));
  std::string bytes = testing::ReadInput(path_);
  bytes[bytes.find(Bytes<int64_t>({9}))] = 10;
  testing::WriteInput(path_, bytes);
  auto file = ArrayChangeFile::OpenNpz(path_);
  VICINITY_REQUIRE_OK(file);
  VICINITY_CHECK_CODE((*file)->Next().status(), kDamaged);

  testing::WriteInput(path_, bytes.substr(0, bytes.size() / 2));
  VICINITY_CHECK_CODE(ArrayChangeFile::OpenNpz(path_).status(), kDamaged);
  testing::WriteInput(path_, "");
  VICINITY_CHECK_CODE(ArrayChangeFile::OpenNpz(path_).status(), kDamaged);
  VICINITY_CHECK_CODE(ArrayChangeFile::OpenNpz(folder_.File("none")).status(),
                      absl::StatusCode::kNotFound);
}

TEST_CASE_METHOD(ArrayChangeFileTest, "one array is edges by rows or by columns, or ids", "[cli]") {
  const Names ends = {"source", "target"};
  const Names edges = {R"({"source":1,"target":2})", R"({"source":3,"target":4})",
                       R"({"source":5,"target":6})"};
  CHECK(RowsOf(OpenNpy(Longs("(3, 2)", {1, 2, 3, 4, 5, 6}), ends)) == edges);
  CHECK(RowsOf(OpenNpy(Longs("(2, 3)", {1, 3, 5, 2, 4, 6}), ends)) == edges);
  CHECK(RowsOf(OpenNpy(Longs("(0, 2)", {}), ends)).empty());
  CHECK(RowsOf(OpenNpy(Longs("(2, 0)", {}), ends)).empty());
  CHECK(RowsOf(OpenNpy(Longs("(2,)", {7, 8}), {"id"})) == Names{R"({"id":7})", R"({"id":8})"});

  const absl::Status either = OpenNpy(Longs("(2, 2)", {1, 2, 3, 4}), ends).status();
  VICINITY_CHECK_CODE(either, kWrong);
  CHECK_THAT(std::string(either.message()),
             Catch::Contains("numpy.savez(\"rows.npz\", source=..., target=...)"));
  for (const char* shape : {"(6,)", "(1, 6)", "(6, 1)", "(1, 3, 2)"}) {
    CAPTURE(shape);
    VICINITY_CHECK_CODE(OpenNpy(Longs(shape, {1, 2, 3, 4, 5, 6}), ends).status(), kWrong);
  }
  VICINITY_CHECK_CODE(OpenNpy(Longs("()", {1}), {"id"}).status(), kWrong);
  VICINITY_CHECK_CODE(OpenNpy(Longs("(1, 1)", {1}), {"id"}).status(), kWrong);
  VICINITY_CHECK_CODE(OpenNpy(Longs("(3, 2)", {1, 2}), ends).status(), kWrong);
}

}  // namespace
}  // namespace vicinity::cli
