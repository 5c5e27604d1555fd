#include "partition/ingest/node_ids.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/array_source.h"
#include "proto/common/checksum.h"
#include "proto/import.pb.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

std::unique_ptr<ArraySource> Open(const testing::TempDir& dir, const std::string& text) {
  testing::WriteInput(dir.File("ids.csv"), text);
  proto::ArrayFile file;
  file.set_path(dir.File("ids.csv"));
  VICINITY_ASSERT_OK_AND_ASSIGN(auto source, ArraySource::Open(file, {}));
  return source;
}

TEST_CASE("dense ids are the nodes themselves", "[node_ids]") {
  NodeIds ids(IdKind::kDense);
  CHECK(ids.size() == 0);
  CHECK(ids.FindInt(0) == NodeIds::kUnknown);
  CHECK(ids.InsertInt(9) == 9);
  CHECK(ids.size() == 10);
  CHECK(ids.InsertInt(3) == 3);
  CHECK(ids.size() == 10);
  CHECK(ids.key(7) == 7);
  CHECK(ids.Find("7") == 7);
  CHECK(ids.FindInt(10) == NodeIds::kUnknown);
  CHECK(ids.FindInt(-1) == NodeIds::kUnknown);
  CHECK(ids.Find("seven") == NodeIds::kUnknown);
}

TEST_CASE("integer ids are numbered as they come; the key is the id's bits", "[node_ids]") {
  const testing::TempDir dir;
  NodeIds ids(IdKind::kInt64);
  VICINITY_REQUIRE_OK(ids.InsertAll(Open(dir, "70\n-5\n9223372036854775807\n").get()));
  CHECK(ids.size() == 3);
  CHECK(ids.FindInt(-5) == 1);
  CHECK(ids.key(1) == static_cast<uint64_t>(int64_t{-5}));
  CHECK(ids.Find("9223372036854775807") == 2);
  CHECK(ids.FindInt(0) == NodeIds::kUnknown);
  CHECK(ids.Text(1) == "-5");
}

TEST_CASE("string ids are numbered as they come; the key is their hash", "[node_ids]") {
  const testing::TempDir dir;
  NodeIds ids(IdKind::kString);
  VICINITY_REQUIRE_OK(ids.InsertAll(Open(dir, "n001\nn002\n\"a,b\"\n").get()));
  CHECK(ids.size() == 3);
  CHECK(ids.salt() == 0);
  CHECK(ids.name(1) == "n002");
  CHECK(ids.Find("a,b") == 2);
  CHECK(ids.Find("n003") == NodeIds::kUnknown);
  CHECK(ids.key(0) == Checksum("n001", 0));
  CHECK(ids.Text(2) == "'a,b'");
}

TEST_CASE("doubled ids are refused with the id and both places", "[node_ids]") {
  const testing::TempDir dir;
  const IdKind kind = GENERATE(IdKind::kInt64, IdKind::kString);
  NodeIds ids(kind);
  // Rows:                                                0   1   2   3   4   5
  const absl::Status status = ids.InsertAll(Open(dir, "10\n20\n10\n30\n40\n40\n").get());
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  const std::string text(status.message());
  CHECK_THAT(text, Catch::Contains("2 problems") && Catch::Contains("ids.csv:3: id 10") &&
                       Catch::Contains("row 0"));
  CHECK_THAT(text, Catch::Contains("ids.csv:6: id 40") && Catch::Contains("row 4"));
}

TEST_CASE("an id is one value", "[node_ids]") {
  const testing::TempDir dir;
  NodeIds ids(IdKind::kInt64);
  VICINITY_CHECK_CODE(ids.InsertAll(Open(dir, "1,2\n").get()), absl::StatusCode::kInvalidArgument);
}

// Keys of three bits until the third salt.
uint64_t WeakKey(std::string_view name, uint64_t salt) {
  const uint64_t key = Checksum(name, salt);
  return salt < 3 ? key & 7 : key;
}

TEST_CASE("two names with one key get the type another salt, and stay the nodes they are",
          "[node_ids]") {
  NodeIds ids(IdKind::kString, &WeakKey);
  for (int64_t i = 0; i < 100; ++i) CHECK(ids.InsertName(absl::StrCat("name", i)) == i);
  CHECK(ids.salt() == 3);
  std::set<uint64_t> keys;
  for (int64_t i = 0; i < 100; ++i) {
    CHECK(ids.Find(absl::StrCat("name", i)) == i);
    CHECK(ids.key(i) == WeakKey(absl::StrCat("name", i), 3));
    keys.insert(ids.key(i));
  }
  CHECK(keys.size() == 100);
  CHECK(ids.InsertName("name42") == 42);
}

// "7a" and "7b" have one key under salt 7, and so on: a file made by somebody who knows how salts
// are chosen.
int64_t keys_made = 0;
uint64_t FloodKey(std::string_view name, uint64_t salt) {
  ++keys_made;
  const std::string_view number = name.substr(0, name.size() - 1);
  return number == std::to_string(salt) ? salt : Checksum(name, salt);
}

TEST_CASE("names made to collide under one salt after another cost a few passes, not one each",
          "[node_ids]") {
  constexpr int64_t kPairs = 2000;
  NodeIds ids(IdKind::kString, &FloodKey);
  keys_made = 0;
  for (int64_t i = 0; i < kPairs; ++i) {
    REQUIRE(ids.InsertName(absl::StrCat(i, "a")) == 2 * i);
    REQUIRE(ids.InsertName(absl::StrCat(i, "b")) == 2 * i + 1);
  }
  CHECK(keys_made < 20 * kPairs);
  CHECK(ids.Find("1999b") == 2 * kPairs - 1);
}

// One key for all: a name nobody inserted must not be taken for the one that is there.
uint64_t OneKey(std::string_view, uint64_t) { return 1; }

TEST_CASE("an unknown name with a known key is unknown", "[node_ids]") {
  NodeIds ids(IdKind::kString, &OneKey);
  CHECK(ids.InsertName("there") == 0);
  CHECK(ids.Find("there") == 0);
  CHECK(ids.Find("elsewhere") == NodeIds::kUnknown);
}

}  // namespace
}  // namespace vicinity
