#include "partition/ingest/generated_columns.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/ingest/generated_graph.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Values;

TEST_CASE("bell-shaped numbers have mean 0 and variance 1 and are bounded", "[generate]") {
  NodeDraws draws(1, 2);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = Bell(&draws);
    REQUIRE(std::fabs(value) < 3.5);
    sum += value;
    squares += value * value;
  }
  CHECK(std::fabs(sum / kDraws) < 0.01);  // 4.5 standard errors
  CHECK(std::fabs(squares / kDraws - 1) < 0.015);
}

TEST_CASE("streams differ by seed, purpose and number", "[generate]") {
  const uint64_t stream = StreamFor(1, Purpose::kColumn, 0);
  CHECK(stream == StreamFor(1, Purpose::kColumn, 0));
  CHECK(stream != StreamFor(2, Purpose::kColumn, 0));
  CHECK(stream != StreamFor(1, Purpose::kSplit, 0));
  CHECK(stream != StreamFor(1, Purpose::kColumn, 1));
}

template <typename T>
T Stored(DType dtype, double value) {
  std::string out(static_cast<size_t>(DTypeBytes(dtype)), '\0');
  StoreValue(dtype, value, out.data());
  return Values<T>(out).front();
}

TEST_CASE("values are rounded and clamped to their type", "[generate]") {
  CHECK(Stored<int8_t>(DType::kInt8, 3.6) == 4);
  CHECK(Stored<int8_t>(DType::kInt8, 1000) == 127);
  CHECK(Stored<int8_t>(DType::kInt8, -1000) == -128);
  CHECK(Stored<uint8_t>(DType::kUint8, -1) == 0);
  CHECK(Stored<int64_t>(DType::kInt64, 1e30) == INT64_MAX);
  CHECK(Stored<int64_t>(DType::kInt64, -1e30) == INT64_MIN);
  CHECK(Stored<uint8_t>(DType::kBool, 0.1) == 1);
  CHECK(Stored<uint8_t>(DType::kBool, -0.1) == 0);
  CHECK(Stored<uint16_t>(DType::kFloat16, 1.5) == 0x3E00);
  CHECK(Stored<uint16_t>(DType::kBfloat16, -3.5) == 0xC060);
  CHECK(Stored<float>(DType::kFloat32, 0.1) == 0.1F);
  CHECK(Stored<double>(DType::kFloat64, 0.1) == 0.1);
}

TEST_CASE("shares of splits lie between 0 and 1, and so does their sum", "[generate]") {
  VICINITY_CHECK_OK((SplitShares{0.6, 0.2, 0.2}.Validate()));
  for (const SplitShares& bad : {SplitShares{-0.1, 0, 0}, SplitShares{0.5, 0.5, 0.1},
                                 SplitShares{0, 1.5, 0}, SplitShares{0, 0, std::nan("")}}) {
    VICINITY_CHECK_CODE(bad.Validate(), absl::StatusCode::kInvalidArgument);
  }
}

// A dataset of 20,000 nodes with the columns given and a split column behind them.
std::unique_ptr<Dataset> WriteNodes(const testing::TempDir& dir, std::vector<ColumnSpec> columns,
                                    const SplitShares& shares, IngestReport::Nodes* report) {
  NodeTypeSpec nodes;
  nodes.columns = std::move(columns);
  nodes.columns.push_back({"split", DType::kUint8, {}});
  nodes.split_column = "split";
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto writer,
                                CreateGenerated(dir.File("out"), "test", 20000, nodes));
  VICINITY_REQUIRE_OK(WriteDenseKeys(kGeneratedNodes, writer.get()));
  const int num_columns = static_cast<int>(nodes.columns.size()) - 1;
  for (int column = 0; column < num_columns; ++column) {
    VICINITY_REQUIRE_OK(WriteRandomColumn(7, kGeneratedNodes, column, writer.get(), NoProgress()));
  }
  VICINITY_REQUIRE_OK(WriteSplits(shares, 7, kGeneratedNodes, num_columns, writer.get(), report));
  IngestReport rest;
  rest.nodes.emplace_back();
  CscSpec spec;
  spec.spool_directory = dir.path();
  VICINITY_REQUIRE_OK(WriteGeneratedEdges(
      0, [](int64_t, absl::Span<Edge>) {}, spec, writer.get(), &rest, NoProgress()));
  VICINITY_REQUIRE_OK(writer->Finish(nullptr, "test"));
  VICINITY_ASSERT_OK_AND_ASSIGN(auto dataset, Dataset::Open(dir.File("out")));
  return dataset;
}

TEST_CASE("random columns are spread over the range of their type", "[generate]") {
  const testing::TempDir dir;
  IngestReport::Nodes report;
  const auto dataset = WriteNodes(
      dir, {{"f", DType::kFloat32, {3}}, {"i", DType::kInt8, {}}, {"b", DType::kBool, {5}}}, {},
      &report);
  const NodeTable& nodes = dataset->shard({0})->nodes(kGeneratedNodes);
  const auto all = [&nodes](size_t column) {
    const ColumnView& view = nodes.columns[column];
    return std::string(view.data, static_cast<size_t>(view.num_rows * view.row_bytes));
  };
  double sum = 0;
  for (const float value : Values<float>(all(0))) {
    REQUIRE((value >= -1 && value <= 1));
    sum += value;
  }
  CHECK(std::fabs(sum / 60000) < 0.01);
  std::vector<int> counts(256);
  for (const uint8_t value : Values<uint8_t>(all(1))) ++counts[value];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 78.125) * (count - 78.125) / 78.125;
  CHECK(chi_square < 330.6);  // the 99.9 % point of 255 degrees of freedom
  int64_t ones = 0;
  for (const uint8_t value : Values<uint8_t>(all(2))) {
    REQUIRE(value <= 1);
    ones += value;
  }
  CHECK(std::abs(ones - 50000) < 700);
}

TEST_CASE("splits have their shares and are counted", "[generate]") {
  const testing::TempDir dir;
  IngestReport::Nodes report;
  const auto dataset = WriteNodes(dir, {}, {0.5, 0.1, 0.2}, &report);
  CHECK(std::abs(report.train - 10000) < 320);  // 4.5 standard deviations
  CHECK(std::abs(report.validation - 2000) < 200);
  CHECK(std::abs(report.test - 4000) < 260);
  const ColumnView& splits = dataset->shard({0})->nodes(kGeneratedNodes).columns[0];
  std::vector<int64_t> counts(4);
  for (int64_t i = 0; i < splits.num_rows; ++i) ++counts[static_cast<size_t>(splits.data[i])];
  CHECK(counts[1] == report.train);
  CHECK(counts[2] == report.validation);
  CHECK(counts[3] == report.test);
}

}  // namespace
}  // namespace vicinity
