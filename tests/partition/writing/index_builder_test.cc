#include "partition/writing/index_builder.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard_files.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "partition/schema/condition_text.h"
#include "partition/writing/audit.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"
#include "sampler/rules/row_finder.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr NodeTypeId kItem{1};
constexpr EdgeTypeId kBuys{0};
const ColumnToIndex kFeatures = {false, 1, 0};  // six values a row
const ColumnToIndex kPrice = {false, 1, 1};
const ColumnToIndex kWeight = {true, 0, 0};

// Users who buy items, in two shards.
class Fixture {
 public:
  Fixture() : graph_(testing::TypedGraph(50, 200, 10, 3)) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, testing::Shuffled(graph_, 2, 5), path()));
  }
  std::string path() const { return folder_.File("set"); }
  std::string IndexPath(int32_t shard) const {
    return path() + "/" + NodeIndexPath(graph_.schema, {shard}, kItem, kPrice.column);
  }
  const Schema& schema() const { return graph_.schema; }
  absl::StatusOr<IndexReport> Build(const std::vector<ColumnToIndex>& columns) const {
    return BuildIndexes(path(), columns, {}, NoProgress());
  }
  std::unique_ptr<Dataset> Open() const {
    Dataset::Options options;
    options.verify_at_touch = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(auto dataset, Dataset::Open(path(), options));
    return dataset;
  }
  RowCondition Resolve(const std::string& text, const std::vector<ColumnSpec>& columns) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
    VICINITY_ASSERT_OK_AND_ASSIGN(RowCondition where, ResolveCondition(condition, columns));
    return where;
  }
  // Of shard 0, all rows.
  absl::StatusOr<FoundRows> Items(const Dataset& dataset, const std::string& text) const {
    const ShardReader reader(*dataset.shard({0}));
    RowFinder finder(reader, kItem, Resolve(text, schema().node_types[kItem.value].columns));
    FoundRows found;
    VICINITY_RETURN_IF_ERROR(finder.Find(0, reader.num_nodes(kItem), &found));
    return found;
  }
  absl::StatusOr<FoundRows> Edges(const Dataset& dataset, const std::string& text) const {
    const ShardReader reader(*dataset.shard({0}));
    RowFinder finder(reader, kBuys, Resolve(text, schema().edge_types[kBuys.value].columns));
    FoundRows found;
    VICINITY_RETURN_IF_ERROR(finder.Find(0, reader.num_edges(kBuys), &found));
    return found;
  }

 private:
  const testing::MemoryGraph graph_;
  const testing::TempDir folder_;
};

// A price that few items are below: prices are any doubles, so they are of any magnitude.
std::string FewItems(const Fixture& fixture) {
  const std::unique_ptr<Dataset> dataset = fixture.Open();
  for (int exponent = 306; exponent > 0; exponent -= 4) {
    const std::string text = "price < -1e" + std::to_string(exponent);
    VICINITY_ASSERT_OK_AND_ASSIGN(const FoundRows found, fixture.Items(*dataset, text));
    if (found.rows.size() >= 3) return text;
  }
  FAIL("all items have high prices");
  return "";
}

TEST_CASE("with an index the same rows are found, and none is read", "[index_builder]") {
  const Fixture fixture;
  const std::string text = FewItems(fixture);
  const std::unique_ptr<Dataset> before = fixture.Open();
  VICINITY_ASSERT_OK_AND_ASSIGN(const IndexReport report, fixture.Build({kPrice, kWeight}));
  CHECK(report.num_built == 2);
  CHECK(report.num_bytes > 0);
  VICINITY_CHECK_OK(VerifyDataset(fixture.path(), NoProgress()));
  const std::unique_ptr<Dataset> after = fixture.Open();
  CHECK(after->fingerprint() == before->fingerprint());
  VICINITY_ASSERT_OK_AND_ASSIGN(const FoundRows read, fixture.Items(*before, text));
  VICINITY_ASSERT_OK_AND_ASSIGN(const FoundRows by_index, fixture.Items(*after, text));
  CHECK(by_index.rows == read.rows);
  CHECK(read.num_read == after->shard({0})->nodes(kItem).num_nodes());
  CHECK(by_index.num_read == 0);
  // Most of them: reading is faster.
  VICINITY_ASSERT_OK_AND_ASSIGN(const FoundRows most, fixture.Items(*after, "not " + text));
  CHECK(most.num_read == read.num_read);
  CHECK(most.rows.size() + read.rows.size() == static_cast<size_t>(read.num_read));
  for (const char* const edges : {"weight = 0", "weight > 1e30", "weight < 0.01"}) {
    CAPTURE(edges);
    VICINITY_ASSERT_OK_AND_ASSIGN(const FoundRows all_read, fixture.Edges(*before, edges));
    VICINITY_ASSERT_OK_AND_ASSIGN(const FoundRows indexed, fixture.Edges(*after, edges));
    CHECK(indexed.rows == all_read.rows);
  }
}

TEST_CASE("a column that has an index is left as it is", "[index_builder]") {
  const Fixture fixture;
  VICINITY_REQUIRE_OK(fixture.Build({kPrice}).status());
  const auto written = std::filesystem::last_write_time(fixture.IndexPath(0));
  VICINITY_ASSERT_OK_AND_ASSIGN(const IndexReport again, fixture.Build({kPrice, kWeight}));
  CHECK(again.num_built == 1);
  CHECK(std::filesystem::last_write_time(fixture.IndexPath(0)) == written);
  VICINITY_ASSERT_OK_AND_ASSIGN(const IndexReport none, fixture.Build({kPrice}));
  CHECK(none.num_built == 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest manifest, ReadManifest(fixture.path()));
  CHECK(manifest.indexes_size() == 2);
}

TEST_CASE("what a writer that was killed has left is replaced", "[index_builder]") {
  const Fixture fixture;
  VICINITY_REQUIRE_OK(fixture.Build({kPrice}).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(proto::Manifest manifest, ReadManifest(fixture.path()));
  manifest.clear_indexes();
  VICINITY_REQUIRE_OK(WriteManifest(fixture.path(), manifest));
  testing::CutTo(fixture.IndexPath(1), 10);
  VICINITY_REQUIRE_OK(fixture.Build({kPrice}).status());
  VICINITY_CHECK_OK(VerifyDataset(fixture.path(), NoProgress()));
}

TEST_CASE("columns that cannot have an index are refused, and nothing changes", "[index_builder]") {
  const Fixture fixture;
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  const std::vector<std::vector<ColumnToIndex>> bad = {
      {kPrice, kFeatures},      {kPrice, kPrice},         {kPrice, {false, 1, 99}},
      {kPrice, {false, 1, -1}}, {kPrice, {false, 99, 0}}, {kPrice, {true, -1, 0}}};
  for (const std::vector<ColumnToIndex>& columns : bad) {
    VICINITY_CHECK_CODE(fixture.Build(columns).status(), kRefused);
    CHECK(!std::filesystem::exists(fixture.IndexPath(0)));
  }
  VICINITY_REQUIRE_OK(testing::MakeVersion1(fixture.path()));
  VICINITY_CHECK_CODE(fixture.Build({kPrice}).status(), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a damaged index is an error that names it, not another answer", "[index_builder]") {
  const Fixture fixture;
  const std::string text = FewItems(fixture);
  VICINITY_REQUIRE_OK(fixture.Build({kPrice}).status());
  testing::FlipBit(fixture.IndexPath(0), sizeof(FileHeader) + 8);
  const std::unique_ptr<Dataset> dataset = fixture.Open();
  const absl::Status status = fixture.Items(*dataset, text).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains("nodes.item.index.price"));
  CHECK_THAT(std::string(VerifyDataset(fixture.path(), NoProgress()).message()),
             Catch::Contains("nodes.item.index.price"));
  std::filesystem::remove(fixture.IndexPath(0));
  VICINITY_CHECK_CODE(Dataset::Open(fixture.path()).status(), absl::StatusCode::kDataLoss);
}

TEST_CASE("an index that its column does not make is found by verify alone", "[index_builder]") {
  const Fixture fixture;
  VICINITY_REQUIRE_OK(fixture.Build({kPrice}).status());
  testing::FlipBit(fixture.IndexPath(0), sizeof(FileHeader) + 8);
  VICINITY_REQUIRE_OK(testing::Reseal(fixture.path()));
  VICINITY_REQUIRE_OK(Dataset::Open(fixture.path()).status());
  const absl::Status status = VerifyDataset(fixture.path(), NoProgress());
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains("is not that of column price"));
}

TEST_CASE("a manifest whose indexes cannot be is refused", "[index_builder]") {
  const Fixture fixture;
  VICINITY_REQUIRE_OK(fixture.Build({kPrice}).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest good, ReadManifest(fixture.path()));
  const auto refused = [&](const auto& change) {
    proto::Manifest bad = good;
    change(&bad);
    VICINITY_REQUIRE_OK(WriteManifest(fixture.path(), bad));
    VICINITY_CHECK_CODE(Dataset::Open(fixture.path()).status(), absl::StatusCode::kDataLoss);
  };
  refused([](proto::Manifest* bad) { bad->mutable_indexes(0)->set_type(9); });
  refused([](proto::Manifest* bad) { bad->mutable_indexes(0)->set_column(-1); });
  refused([](proto::Manifest* bad) { bad->mutable_indexes(0)->set_column(0); });
  refused([](proto::Manifest* bad) { bad->mutable_indexes(0)->set_of_edges(true); });
  refused([](proto::Manifest* bad) { bad->mutable_indexes(0)->mutable_files()->RemoveLast(); });
  refused([](proto::Manifest* bad) { *bad->add_indexes() = bad->indexes(0); });
}

}  // namespace
}  // namespace vicinity
