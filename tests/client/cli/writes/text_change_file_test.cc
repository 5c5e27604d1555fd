#include "client/cli/writes/text_change_file.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using Format = TextChangeFile::Format;
using Row = std::vector<std::string>;

class TextChangeFileTest {
 protected:
  absl::StatusOr<std::unique_ptr<TextChangeFile>> Open(Format format, const std::string& text) {
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("rows"), text));
    return TextChangeFile::Open(folder_.File("rows"), format);
  }
  // A row that is bad is its problem.
  std::vector<Row> Read(Format format, const std::string& text) {
    auto file = Open(format, text);
    VICINITY_REQUIRE_OK(file);
    names_ = (*file)->names();
    std::vector<Row> rows;
    while (true) {
      const auto found = (*file)->Next();
      VICINITY_REQUIRE_OK(found);
      if (*found == ChangeFile::Found::kEnd) return rows;
      lines_.push_back((*file)->number());
      if (*found == ChangeFile::Found::kBad) {
        rows.push_back({(*file)->problem()});
      } else {
        const auto& fields = (*file)->row().fields();
        rows.emplace_back(fields.begin(), fields.end());
      }
    }
  }

  const testing::TempDir folder_;
  Row names_;
  std::vector<int64_t> lines_;
};

TEST_CASE_METHOD(TextChangeFileTest, "fields have the names of the first line", "[cli]") {
  CHECK(Read(Format::kCsv, "id,title\n7,\"a, b\"\n\n# a comment\n8,c\n") ==
        std::vector<Row>{{"7", "a, b"}, {"8", "c"}});
  CHECK(names_ == Row{"id", "title"});
  CHECK(lines_ == std::vector<int64_t>{2, 5});
  CHECK(Read(Format::kTsv, "id\ttitle\n7\ta, b\n") == std::vector<Row>{{"7", "a, b"}});
}

TEST_CASE_METHOD(TextChangeFileTest, "a row with other fields is bad, and the next one is read",
                 "[cli]") {
  const std::vector<Row> rows = Read(Format::kCsv, "id,title\n7\n8,c\n");
  REQUIRE(rows.size() == 2);
  CHECK_THAT(rows[0][0], Catch::Contains("fields"));
  CHECK(rows[1] == Row{"8", "c"});
}

TEST_CASE_METHOD(TextChangeFileTest, "objects have the names of the first one", "[cli]") {
  const std::vector<Row> rows = Read(Format::kJsonLines,
                                     "{\"id\": 9007199254740993, \"x\": [1, 0.5], \"_line\": 3}\n"
                                     "{\"x\": null, \"id\": \"a\\tb\", \"_reason\": \"late\"}\n"
                                     "{\"id\": true, \"x\": {\"3\": 0.25, \"7\": 1}}\n"
                                     "[1]\n"
                                     "{\"id\": 1}\n"
                                     "{\"id\": 1, \"x\": 2, \"y\": 3}\n");
  CHECK(names_ == Row{"id", "x"});
  REQUIRE(rows.size() == 6);
  CHECK(rows[0] == Row{"9007199254740993", "1 0.5"});
  CHECK(rows[1] == Row{"a\tb", ""});
  CHECK(rows[2] == Row{"true", "3:0.25 7:1"});
  for (size_t bad = 3; bad < 6; ++bad) CHECK(rows[bad].size() == 1);
  CHECK_THAT(rows[4][0], Catch::Contains("\"x\""));
  CHECK_THAT(rows[5][0], Catch::Contains("\"y\""));
  CHECK(lines_.front() == 1);
}

TEST_CASE_METHOD(TextChangeFileTest, "a file without names, or with one twice, is none", "[cli]") {
  const auto code = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_CODE(Open(Format::kCsv, "").status(), code);
  VICINITY_CHECK_CODE(Open(Format::kCsv, "id,id\n").status(), code);
  VICINITY_CHECK_CODE(Open(Format::kJsonLines, "17\n").status(), code);
  VICINITY_CHECK_CODE(TextChangeFile::Open(folder_.File("none"), Format::kCsv).status(),
                      absl::StatusCode::kNotFound);
}

TEST_CASE_METHOD(TextChangeFileTest, "rows that are kept can be had again when others are read",
                 "[cli]") {
  auto file = Open(Format::kCsv, "id,title\n7,a\n8\n9,c\n");
  VICINITY_REQUIRE_OK(file);
  while (true) {
    const auto found = (*file)->Next();
    VICINITY_REQUIRE_OK(found);
    if (*found == ChangeFile::Found::kEnd) break;
    if (*found == ChangeFile::Found::kRow) (*file)->Keep();
  }
  CHECK((*file)->Kept(1).ToJson().dump() == R"({"id":"9","title":"c"})");
  CHECK((*file)->Kept(0).ToJson().dump() == R"({"id":"7","title":"a"})");
  CHECK((*file)->Place(3) == folder_.File("rows") + ":3");
  CHECK_FALSE((*file)->RowShape(0).has_value());
}

}  // namespace
}  // namespace vicinity::cli
