#include "client/train/seed_file.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// Of a file with this text.
Result<SeedList> Read(const std::string& text, IdKind kind) {
  const testing::TempDir folder;
  const std::string path = folder.path() + "/seeds.txt";
  std::ofstream(path, std::ios::binary) << text;
  NodeTypeSpec type;
  type.name = "paper";
  type.id_kind = kind;
  return ReadSeedFile(path, type);
}

TEST_CASE("a file of integers has one id a line", "[seed_file]") {
  const IdKind kind = GENERATE(IdKind::kDense, IdKind::kInt64);
  const std::string text =
      GENERATE("7\n-5\n7\n9223372036854775807\n", "7\r\n-5\r\n7\r\n9223372036854775807");
  const Result<SeedList> seeds = Read(text, kind);
  REQUIRE(seeds.ok());
  CHECK(std::get<UserIds>(*seeds).ids == std::vector<int64_t>{7, -5, 7, INT64_MAX});
}

TEST_CASE("names are their lines, whatever stands in them", "[seed_file]") {
  const Result<SeedList> seeds = Read("ada\n b, \"c\"\n7\n", IdKind::kString);
  REQUIRE(seeds.ok());
  CHECK(std::get<UserNames>(*seeds).ids == std::vector<std::string>{"ada", " b, \"c\"", "7"});
}

TEST_CASE("a line that is no id is named", "[seed_file]") {
  const std::string line = GENERATE("", "x", "1.0", "1 ", " 1", "+1", "1,2", "9223372036854775808");
  const Result<SeedList> seeds = Read("3\n" + line + "\n4\n", IdKind::kDense);
  CHECK(seeds.error().code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(seeds.error().message(), Catch::Contains("seeds.txt, line 2: "));
  if (!line.empty()) CHECK_THAT(seeds.error().message(), Catch::Contains("'" + line + "'"));
  CHECK(Read("ada\n\n", IdKind::kString).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("a file that is not there is not found, and an empty one lists nothing", "[seed_file]") {
  CHECK(ReadSeedFile("/no/such/file", NodeTypeSpec()).error().code() == ErrorCode::kNotFound);
  const Result<SeedList> none = Read("", IdKind::kInt64);
  REQUIRE(none.ok());
  CHECK(std::get<UserIds>(*none).ids.empty());
}

}  // namespace
}  // namespace vicinity
