#include "client/cli/writes/open_change_file.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a file's name tells its format", "[cli]") {
  CHECK(ChangeFormatOf("a.csv") == ChangeFormat::kCsv);
  CHECK(ChangeFormatOf("a.tsv.gz") == ChangeFormat::kTsv);
  CHECK(ChangeFormatOf("a.jsonl") == ChangeFormat::kJsonLines);
  CHECK(ChangeFormatOf("a.npz") == ChangeFormat::kNpz);
  CHECK(ChangeFormatOf("a.npy") == ChangeFormat::kNpy);
  CHECK_FALSE(ChangeFormatOf("a.npz.gz").has_value());
  CHECK_FALSE(ChangeFormatOf("a.parquet").has_value());
}

TEST_CASE("every format has its reader, whatever the file's name", "[cli]") {
  const testing::TempDir folder;
  const std::string path = folder.File("rows");
  const std::string npy = testing::NpyBytes("<i8", "(1,)", testing::Bytes<int64_t>({7}));
  const auto first = [&](ChangeFormat format) {
    auto file = OpenChangeFile(path, format, {"id"});
    VICINITY_REQUIRE_OK(file);
    CHECK(*(*file)->Next() == ChangeFile::Found::kRow);
    return *(*file)->row().Integer(0);
  };
  testing::WriteInput(path, "id,x\n7,8\n");
  CHECK(first(ChangeFormat::kCsv) == 7);
  testing::WriteInput(path, "id\tx\n7\t8\n");
  CHECK(first(ChangeFormat::kTsv) == 7);
  testing::WriteInput(path, "{\"id\": 7}\n");
  CHECK(first(ChangeFormat::kJsonLines) == 7);
  testing::WriteInput(path, npy);
  CHECK(first(ChangeFormat::kNpy) == 7);
  testing::WriteZip(path, {{"id.npy", npy}}, false);
  CHECK(first(ChangeFormat::kNpz) == 7);
  for (const ChangeFormat format : {ChangeFormat::kNpy, ChangeFormat::kNpz}) {
    VICINITY_CHECK_CODE(OpenChangeFile("-", format, {"id"}).status(),
                        absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace vicinity::cli
