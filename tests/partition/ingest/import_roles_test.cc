#include "partition/ingest/import_roles.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/import_column.h"
#include "partition/ingest/node_ids.h"
#include "proto/import.pb.h"
#include "proto/schema.pb.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::NpyBytes;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<Labels> Read(const std::string& file, const std::string& bytes, int64_t num_nodes,
                            int32_t num_classes, int32_t field = -1) {
  const testing::TempDir dir;
  testing::WriteInput(dir.File(file), bytes);
  proto::ColumnSource column;
  column.mutable_array()->set_path(dir.File(file));
  if (field >= 0) column.mutable_array()->add_columns(field);
  column.set_cast(proto::INT32);
  VICINITY_ASSERT_OK_AND_ASSIGN(ImportColumn label, OpenColumn(column, {}));
  return ReadLabels(&label, "it", num_nodes, num_classes);
}

TEST_CASE("classes are counted, or as many as was said", "[import]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Labels found, Read("l.csv", "2\n-1\n0\n", 3, 0));
  CHECK(found.classes == std::vector<int64_t>{2, -1, 0});
  CHECK(found.num_classes == 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Labels told, Read("l.csv", "2\n-1\n0\n", 3, 9));
  CHECK(told.num_classes == 9);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Labels none, Read("l.csv", "-1\n-1\n", 2, 0));
  CHECK(none.num_classes == 0);
}

TEST_CASE("NaN among floating-point labels means that there is none", "[import]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const Labels labels,
      Read("l.npy", NpyBytes("<f4", "(3, 1)", Bytes<float>({4, std::nanf(""), 1})), 3, 0));
  CHECK(labels.classes == std::vector<int64_t>{4, -1, 1});
  VICINITY_CHECK_CODE(Read("l.npy", NpyBytes("<f4", "(1,)", Bytes<float>({0.5})), 1, 0), kInvalid);
}

TEST_CASE("missing labels of text mean that there is none, and classes may be written 3.0",
          "[import]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Labels labels,
                                Read("l.tsv", "1.0\t\nNA\t\n3\t\n", 3, 0, /*field=*/0));
  CHECK(labels.classes == std::vector<int64_t>{1, -1, 3});
  VICINITY_ASSERT_OK_AND_ASSIGN(const Labels truths, Read("l.csv", "True\nFalse\n", 2, 0));
  CHECK(truths.classes == std::vector<int64_t>{1, 0});
}

TEST_CASE("classes out of range, and labels that do not match the nodes, are refused", "[import]") {
  const auto range = Read("l.csv", "0\n7\n-2\n", 3, 7);
  VICINITY_CHECK_CODE(range, kInvalid);
  CHECK_THAT(std::string(range.status().message()),
             Catch::Contains("2 problems") && Catch::Contains("class 7") &&
                 Catch::Contains("class -2") && Catch::Contains("l.csv:3"));
  VICINITY_CHECK_CODE(Read("l.csv", "5000000000\n", 1, 0), kInvalid);
  const auto rows = Read("l.csv", "0\n1\n", 3, 0);
  VICINITY_CHECK_CODE(rows, kInvalid);
  CHECK_THAT(std::string(rows.status().message()),
             Catch::Contains("has 2 rows") && Catch::Contains("has 3"));
  VICINITY_CHECK_CODE(Read("l.csv", "0\n1\n1\n1\n", 3, 0), kInvalid);
}

// Splits of four nodes with the ids 10, 20, 30, 40, from text files.
class Splits {
 public:
  Splits() {
    for (const int64_t id : {10, 20, 30, 40}) ids_.InsertInt(id);
  }
  proto::ArrayFile* Text(proto::ArrayFile* file, const std::string& text) {
    file->set_path(dir_.File("split" + std::to_string(++files_) + ".txt"));
    testing::WriteInput(file->path(), text);
    return file;
  }
  absl::StatusOr<std::vector<uint8_t>> Read() const { return ReadSplits(source, {}, ids_, "it"); }

  proto::NodeSource source;

 private:
  const testing::TempDir dir_;
  NodeIds ids_{IdKind::kInt64};
  int files_ = 0;
};

TEST_CASE("splits come from masks and from lists of ids", "[import]") {
  Splits splits;
  splits.Text(splits.source.mutable_train()->mutable_mask(), "1\n0\n0\n0\n");
  splits.Text(splits.source.mutable_test()->mutable_ids(), "40\n20\n");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto read, splits.Read());
  CHECK(read == std::vector<uint8_t>{1, 3, 0, 3});
}

TEST_CASE("masks of text are truth values, as pandas writes them too, and nothing is guessed",
          "[import]") {
  Splits splits;
  splits.Text(splits.source.mutable_train()->mutable_mask(), "True\nFalse\nfalse\n1\n");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto read, splits.Read());
  CHECK(read == std::vector<uint8_t>{1, 0, 0, 1});
  for (const std::string mask : {"1\n0\n2\n0\n", "1\n0\nNA\n0\n", "1\n0\nyes\n0\n"}) {
    Splits other;
    other.Text(other.source.mutable_train()->mutable_mask(), mask);
    const auto refused = other.Read();
    VICINITY_CHECK_CODE(refused, kInvalid);
    CHECK_THAT(std::string(refused.status().message()), Catch::Contains("line 3"));
  }
}

TEST_CASE("without splits there is nothing to read", "[import]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto read, Splits().Read());
  CHECK(read.empty());
}

TEST_CASE("a node in two splits, or twice in one, is refused with its id and place", "[import]") {
  Splits splits;
  splits.Text(splits.source.mutable_train()->mutable_ids(), "10\n30\n");
  splits.Text(splits.source.mutable_validation()->mutable_mask(), "0\n1\n1\n0\n");
  const auto two = splits.Read();
  VICINITY_CHECK_CODE(two, kInvalid);
  CHECK_THAT(std::string(two.status().message()),
             Catch::Contains("validation") && Catch::Contains("split2.txt:3") &&
                 Catch::Contains("node 30") && Catch::Contains("train already"));
  Splits twice;
  twice.Text(twice.source.mutable_train()->mutable_ids(), "10\n10\n");
  VICINITY_CHECK_CODE(twice.Read(), kInvalid);
}

TEST_CASE("unknown ids, masks of another length, and neither mask nor ids are refused",
          "[import]") {
  Splits unknown;
  unknown.Text(unknown.source.mutable_train()->mutable_ids(), "10\n11\n12\n");
  const auto read = unknown.Read();
  VICINITY_CHECK_CODE(read, kInvalid);
  CHECK_THAT(std::string(read.status().message()),
             Catch::Contains("2 problems") && Catch::Contains("11") && Catch::Contains(":3"));
  for (const char* mask : {"1\n0\n0\n", "1\n0\n0\n0\n1\n"}) {
    Splits length;
    length.Text(length.source.mutable_train()->mutable_mask(), mask);
    VICINITY_CHECK_CODE(length.Read(), kInvalid);
  }
  Splits neither;
  neither.source.mutable_train();
  VICINITY_CHECK_CODE(neither.Read(), kInvalid);
  Splits wide;
  wide.Text(wide.source.mutable_train()->mutable_ids(), "10 20\n");
  VICINITY_CHECK_CODE(wide.Read(), kInvalid);
}

}  // namespace
}  // namespace vicinity
