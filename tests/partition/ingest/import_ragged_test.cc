// Ragged columns, imported whole, and what is refused.
#include "partition/ingest/import_ragged.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/importing.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::ImportFolder;
using testing::NpyBytes;

std::string Description(const std::string& column) {
  return absl::StrCat(
      "name: 'papers' nodes { name: 'paper' count: 3 ragged_columns { name: 'words' ", column,
      " } }");
}

// Arrays of three rows: two values, none, three.
void WriteArrays(const ImportFolder& folder) {
  folder.Write("offsets.npy", NpyBytes("<i8", "(4,)", Bytes<int64_t>({0, 2, 2, 5})));
  folder.Write("values.npy", NpyBytes("<f4", "(5,)", Bytes<float>({1, 2, 3, 4, 5})));
  folder.Write("indices.npy", NpyBytes("<i4", "(5,)", Bytes<int32_t>({3, 8, 7, 0, 2})));
}

constexpr char kArrays[] = "offsets { path: 'offsets.npy' } values { path: 'values.npy' }";

TEST_CASE("lists are stored value by value", "[import]") {
  const ImportFolder folder;
  WriteArrays(folder);
  VICINITY_REQUIRE_OK(folder.Import(Description(kArrays)).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  const NodeTypeSpec& type = dataset->schema().node_types[0];
  REQUIRE(type.ragged.size() == 1);
  CHECK(type.ragged[0].name == "words");
  CHECK(type.ragged[0].dtype == DType::kFloat32);
  CHECK(type.ragged[0].num_columns == 0);
  CHECK(type.columns.empty());
  const RaggedView& words = dataset->shard({0})->nodes({0}).ragged[0];
  CHECK(words.row(0) == Bytes<float>({1, 2}));
  CHECK(words.row(1).empty());
  CHECK(words.row(2) == Bytes<float>({3, 4, 5}));
}

TEST_CASE("rows of a sparse matrix are stored with their indices in order", "[import]") {
  const ImportFolder folder;
  WriteArrays(folder);
  VICINITY_REQUIRE_OK(
      folder
          .Import(Description(absl::StrCat(
              kArrays, " indices { path: 'indices.npy' } num_columns: 9 cast: FLOAT64")))
          .status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(dataset->schema().node_types[0].ragged[0].num_columns == 9);
  const RaggedView& words = dataset->shard({0})->nodes({0}).ragged[0];
  CHECK(words.row(0) == Bytes<int32_t>({3, 8}) + Bytes<double>({1, 2}));
  CHECK(words.row(1).empty());
  CHECK(words.row(2) == Bytes<int32_t>({0, 2, 7}) + Bytes<double>({4, 5, 3}));
}

TEST_CASE("texts are stored as their bytes", "[import]") {
  const ImportFolder folder;
  folder.Write("titles.csv", "title\n\"a, b\"\n\"\"\nd\xc3\xbc\n");
  VICINITY_REQUIRE_OK(
      folder.Import(Description("text { path: 'titles.csv' header: true }")).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(dataset->schema().node_types[0].ragged[0].dtype == DType::kUint8);
  const RaggedView& titles = dataset->shard({0})->nodes({0}).ragged[0];
  CHECK(titles.row(0) == "a, b");
  CHECK(titles.row(1).empty());
  CHECK(titles.row(2) == "d\xc3\xbc");
}

TEST_CASE("a type without nodes has a ragged column without rows", "[import]") {
  const ImportFolder folder;
  folder.Write("offsets.npy", NpyBytes("<i8", "(1,)", Bytes<int64_t>({0})));
  folder.Write("values.npy", NpyBytes("<f4", "(0,)", ""));
  VICINITY_REQUIRE_OK(
      folder
          .Import(absl::StrCat("name: 'n' nodes { name: 'none' ragged_columns { name: 'words' ",
                               kArrays, " } }"))
          .status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, folder.Open());
  CHECK(dataset->shard({0})->nodes({0}).ragged[0].bytes.empty());
}

TEST_CASE("ragged columns that do not fit are refused, naming column and place", "[import]") {
  const ImportFolder folder;
  WriteArrays(folder);
  const auto numbers = [](const std::vector<int64_t>& values) {
    return NpyBytes("<i8", absl::StrCat("(", values.size(), ",)"), Bytes<int64_t>(values));
  };
  folder.Write("few.npy", numbers({0, 2, 5}));
  folder.Write("late.npy", numbers({1, 2, 2, 5}));
  folder.Write("falling.npy", numbers({0, 4, 2, 5}));
  folder.Write("long.npy", numbers({0, 2, 2, 6}));
  folder.Write("short.npy", numbers({0, 2, 2, 4}));
  folder.Write("twice.npy", numbers({3, 8, 7, 0, 7}));
  folder.Write("beyond.npy", numbers({3, 9, 7, 0, 2}));
  folder.Write("below.npy", numbers({3, -1, 7, 0, 2}));
  folder.Write("wide.npy", NpyBytes("<f4", "(5, 2)", std::string(40, '\0')));
  const auto array = [](const std::string& part, const std::string& file) {
    return absl::StrCat(" ", part, " { path: '", file, "' }");
  };
  const auto offsets = [&](const std::string& file) {
    return array("offsets", file) + array("values", "values.npy");
  };
  const auto indices = [&](const std::string& file) {
    return absl::StrCat(kArrays, array("indices", file), " num_columns: 9");
  };
  struct Refusal {
    std::string column;
    std::string text;
  };
  const std::vector<Refusal> refusals = {
      {offsets("few.npy"), "has 2 rows, and there are 3 nodes"},
      {offsets("late.npy"), "begins with 1, expected 0"},
      {offsets("falling.npy"), "row 1 would have -2 values"},
      {offsets("long.npy"), "has 5 rows, and the last offset has 6"},
      {offsets("short.npy"), "has 5 rows, and the last offset has 4"},
      {array("offsets", "offsets.npy") + array("values", "wide.npy"), "2 values a row, expected 1"},
      {indices("twice.npy"), "node 2 has index 7 behind 7"},
      {indices("beyond.npy"), "row 1: index 9 of 9 columns"},
      {indices("below.npy"), "row 1: index -1 of 9 columns"},
      {absl::StrCat(kArrays, array("indices", "indices.npy")), "num_columns is 0"},
      {absl::StrCat(kArrays, " num_columns: 9"), "no `indices`"},
      {array("offsets", "offsets.npy"), "neither `text` nor both"},
      {absl::StrCat(kArrays, array("text", "titles.csv")), "has `text`"},
      {array("text", "values.npy"), "is no text file"},
      {absl::StrCat(kArrays, " cast: BOOL"), "row 1: 2 does not fit bool"},
  };
  for (const Refusal& refusal : refusals) {
    CAPTURE(refusal.column);
    const absl::Status status = folder.Import(Description(refusal.column)).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CAPTURE(status.message());
    CHECK(absl::StrContains(status.message(), "column 'words'"));
    CHECK(absl::StrContains(status.message(), refusal.text));
  }
}

}  // namespace
}  // namespace vicinity
