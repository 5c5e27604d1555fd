#include "partition/dataset/shard_reader.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/fault_list.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};
constexpr EdgeTypeId kBuys{0};
constexpr int64_t kData = 64;  // where a file's rows begin

// A typed dataset of one shard, opened as a server opens it.
class ReaderTest {
 public:
  ReaderTest() {
    const testing::MemoryGraph graph = testing::TypedGraph(400, 300, 7, 2);
    VICINITY_REQUIRE_OK(WriteGraph(graph, folder_.File("g")));
    VICINITY_ASSERT_OK_AND_ASSIGN(oracle_, Dataset::Open(folder_.File("g")));
    Open();
  }

 protected:
  void Open() {
    Dataset::Options options;
    options.verify_at_touch = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("g"), options));
  }
  const Shard& shard() const { return *dataset_->shard({0}); }
  const Shard& oracle() const { return *oracle_->shard({0}); }
  std::string File(const std::string& name) const {
    return absl::StrCat(folder_.File("g"), "/shard-00000/", name);
  }
  // Damages a file, has `read` notice, and mends it again.
  template <typename Read>
  void MustNotice(const std::string& name, int64_t at, const Read& read) {
    INFO(name);
    Open();
    VICINITY_CHECK_OK(read());
    testing::FlipBit(File(name), at);
    Open();
    const absl::Status status = read();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(status.message()), Catch::Contains(File(name)));
    testing::FlipBit(File(name), at);
    Open();
  }

 private:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> oracle_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE_METHOD(ReaderTest, "rows, ranges, names and keys are those of the files",
                 "[shard_reader]") {
  const ShardReader reader(shard());
  const ShardColumn column = reader.NodeColumn(kUser, 0);
  const std::vector<uint64_t> rows = {3, 399, 3, 0};
  std::vector<std::string> found;
  VICINITY_REQUIRE_OK(reader.ReadRows(
      column, rows, [&] { found.clear(); },
      [&](size_t, const char* row) { found.emplace_back(row, column.row_bytes()); }));
  REQUIRE(found.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(found[i] == oracle().nodes(kUser).columns[0].row(static_cast<int64_t>(rows[i])));
  }
  std::string range;
  VICINITY_REQUIRE_OK(reader.ReadRange(
      column, 2, 5, [&](const char* at) { range.assign(at, 5 * column.row_bytes()); }));
  CHECK(range.substr(0, column.row_bytes()) == oracle().nodes(kUser).columns[0].row(2));
  std::vector<std::string> names;
  VICINITY_REQUIRE_OK(reader.ReadRagged(
      kItem, kNamesColumn, {7, 0, 299}, [&] { names.clear(); },
      [&](size_t, std::string_view name) {
        names.emplace_back(name);
        return names.size() < 2;
      }));
  REQUIRE(names.size() == 2);
  CHECK(names[0] == oracle().nodes(kItem).names.row(7));
}

TEST_CASE_METHOD(ReaderTest, "every key is found, and no other", "[shard_reader]") {
  const ShardReader reader(shard());
  const NodeTable& users = shard().nodes(kUser);
  std::vector<uint64_t> keys(oracle().nodes(kUser).keys.begin(), oracle().nodes(kUser).keys.end());
  const size_t known = keys.size();
  keys.push_back(UINT64_MAX);
  keys.push_back(*std::max_element(users.keys.begin(), users.keys.end()) + 1);
  std::vector<int64_t> nodes(keys.size());
  VICINITY_REQUIRE_OK(reader.FindKeys(kUser, keys, nodes.data()));
  for (size_t i = 0; i < known; ++i) CHECK(nodes[i] == static_cast<int64_t>(i));
  for (size_t i = known; i < keys.size(); ++i) CHECK(nodes[i] == -1);
}

TEST_CASE_METHOD(ReaderTest, "damage is noticed in every file that a read uses", "[shard_reader]") {
  MustNotice("nodes.user.column.features", kData, [&] {
    const ShardReader reader(shard());
    return reader.ReadRange(reader.NodeColumn(kUser, 0), 0, 1, [](const char*) {});
  });
  MustNotice("nodes.user.keys", kData, [&] {
    const ShardReader reader(shard());
    return reader.ReadRows(
        reader.KeysColumn(kUser), {0}, [] {}, [](size_t, const char*) {});
  });
  for (const char* name : {"nodes.item.names.offsets", "nodes.item.names.bytes"}) {
    MustNotice(name, kData + 8, [&] {
      return ShardReader(shard()).ReadRagged(
          kItem, kNamesColumn, {0, 1}, [] {}, [](size_t, std::string_view) { return true; });
    });
  }
  for (const char* name : {"nodes.user.directory.keys", "nodes.user.directory.nodes"}) {
    MustNotice(name, kData, [&] {
      int64_t node = 0;
      const uint64_t key = oracle().nodes(kUser).directory_keys[0];
      return ShardReader(shard()).FindKeys(kUser, {key}, &node);
    });
  }
  for (const char* part : {"offsets", "sources", "ids", "weights.weight"}) {
    MustNotice(absl::StrCat("edges.user.buys.item.", part), kData + 8, [&] {
      return ShardReader(shard()).ReadList(kBuys, 0, 0, INT64_MAX, [](const ListPart&) {});
    });
  }
}

TEST_CASE("of lists in the order of a column those edges are found that are within bounds",
          "[shard_reader]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 40;
  options.num_edges = GENERATE(60, 2000);
  options.times = true;
  options.time_order = true;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteGraph(graph, folder.File("g")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("g")));
  const ShardReader reader(*dataset->shard({0}));
  std::vector<uint64_t> rows(40);
  std::iota(rows.rbegin(), rows.rend(), 0);
  for (const int64_t from : {INT64_MIN, int64_t{-7}, int64_t{-2}, int64_t{5}, INT64_MAX}) {
    for (const int64_t until : {INT64_MIN, int64_t{-5}, int64_t{2}, int64_t{100}, INT64_MAX}) {
      size_t taken = 0;
      VICINITY_CHECK_OK(reader.ReadOrderedLists(
          {0}, {0}, {0}, rows, [&] { taken = 0; }, [&](size_t) { return std::pair(from, until); },
          [&](size_t i, uint64_t key, const ListPart& list, absl::Span<const char* const> values) {
            CHECK(i == taken++);
            CHECK(key == graph.nodes[0].keys[rows[i]]);
            const absl::Status touched = reader.TouchPart({0}, {0}, list, 0, list.size());
            std::vector<int64_t> found;
            for (int64_t k = 0; k < list.size(); ++k) {
              found.push_back(list.edge_id(k));
              CHECK(std::string_view(values[0] + 8 * k, 8) ==
                    graph.edge_row({0}, 0, list.edge_id(k)));
            }
            std::vector<int64_t> expected;
            for (const testing::InEdge& edge : graph.InEdges({0}, static_cast<int64_t>(rows[i]))) {
              int64_t time = 0;
              std::memcpy(&time, graph.edge_row({0}, 0, edge.edge_id).data(), sizeof(time));
              if (from <= time && time <= until) expected.push_back(edge.edge_id);
            }
            CHECK(found == expected);
            return touched;
          }));
      CHECK(taken == rows.size());
    }
  }
}

TEST_CASE("offsets that cannot be are an error, not an empty list or name", "[shard_reader]") {
  const std::vector<uint32_t> ids(10);
  const std::vector<uint64_t> offsets = {0, 4, 2, 11, 11};
  NodeTable nodes;
  nodes.names.offsets = offsets;
  nodes.names.bytes = "0123456789";
  EdgeTable edges;
  edges.offsets = offsets;
  edges.sources = IdArray{absl::Span<const uint32_t>(ids)};
  edges.edge_ids = edges.sources;
  const Shard shard({0}, std::make_unique<FaultList>(), {}, {nodes}, {edges});
  const ShardReader reader(shard);
  const auto degree_of = [&](uint64_t row) {
    return reader.ReadDegrees(
        {0}, {row}, [] {}, [](size_t, int64_t) { return true; });
  };
  const auto list_of = [&](uint64_t row) {
    return reader.ReadList({0}, row, 0, INT64_MAX, [](const ListPart&) {});
  };
  const auto name_of = [&](uint64_t row) {
    return reader.ReadRagged(
        {0}, kNamesColumn, {row}, [] {}, [](size_t, std::string_view) { return true; });
  };
  VICINITY_CHECK_OK(degree_of(0));
  VICINITY_CHECK_OK(list_of(0));
  VICINITY_CHECK_OK(name_of(0));
  for (const uint64_t row : {1, 2, 3}) {
    INFO("row " << row);
    VICINITY_CHECK_CODE(degree_of(row), absl::StatusCode::kDataLoss);
    VICINITY_CHECK_CODE(list_of(row), absl::StatusCode::kDataLoss);
    VICINITY_CHECK_CODE(name_of(row), absl::StatusCode::kDataLoss);
  }
}

TEST_CASE_METHOD(ReaderTest, "a read begins again when its file has changed meanwhile",
                 "[shard_reader]") {
  const ShardReader reader(shard());
  const ShardColumn column = reader.NodeColumn(kUser, 0);
  int starts = 0;
  std::string found;
  const uint64_t rows[] = {5};
  VICINITY_REQUIRE_OK(reader.ReadRows(
      column, rows, [&] { ++starts; },
      [&](size_t, const char* row) {
        found.assign(row, column.row_bytes());
        if (starts > 1) return;
        testing::FlipBit(File("nodes.user.column.features"), kData);
        testing::FlipBit(File("nodes.user.column.features"), kData);
      }));
  CHECK(starts == 2);
  CHECK(found == oracle().nodes(kUser).columns[0].row(5));
}

// Node 2 of a type has another row, name and key; node 400 is new. It counts how often it is asked.
class CountingOverlay final : public ShardOverlay {
 public:
  uint64_t version() const override { return 1; }
  explicit CountingOverlay(bool changes) : changes_(changes) {}

  bool Changes(const ShardPart&, absl::Span<const uint64_t>) const override {
    ++presence;
    return changes_;
  }
  bool ChangesRange(const ShardPart&, int64_t, int64_t) const override {
    ++presence;
    return changes_;
  }
  int64_t NumRows(const ShardPart& part, int64_t in_files) const override {
    return part.kind == ShardPart::kNodeRows ? in_files + 1 : in_files;
  }
  absl::Status ReadRows(const ShardPart& part, absl::Span<const uint64_t> rows,
                        ChangedRows* changed) const override {
    ++elements;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (part.kind == ShardPart::kRagged) {
        if (rows[i] == 2) changed->Set(i, "two");
      } else if (rows[i] == 2 || rows[i] == 400) {
        changed->Set(i, std::string_view(kRow, sizeof(kRow)));
      }
    }
    return absl::OkStatus();
  }
  std::optional<int64_t> Node(int32_t, uint64_t key) const override {
    ++elements;
    if (key == kNewKey) return 400;
    if (key == gone_key) return -1;
    return std::nullopt;
  }
  absl::StatusOr<ChangedListPtr> List(int32_t, uint64_t row) const override {
    ++elements;
    return row == 2 ? list_ : nullptr;
  }

  static constexpr char kRow[20] = "a row of 5 floats..";
  static constexpr uint64_t kNewKey = UINT64_MAX;
  uint64_t gone_key = 0;
  mutable int presence = 0;
  mutable int elements = 0;

 private:
  const bool changes_;
  const ChangedListPtr list_ = std::make_shared<const ChangedList>(
      ChangedList{{7, 5, 9}, {70, 50, 90}, {0, 1000, 1001}, {{0, 0}, {0, 0}, {0, 0}}});
};

TEST_CASE_METHOD(ReaderTest, "what has changed comes from the overlay, the rest from the files",
                 "[shard_reader]") {
  CountingOverlay overlay(true);
  overlay.gone_key = oracle().nodes(kUser).keys[5];
  const ShardReader reader(shard(), &overlay);
  CHECK(reader.num_nodes(kUser) == 401);
  const ShardColumn column = reader.NodeColumn(kUser, 0);
  CHECK(column.num_rows() == 401);
  const auto row_of = [&](int64_t row) {
    if (row == 2 || row == 400) return std::string(CountingOverlay::kRow, 20);
    return std::string(oracle().nodes(kUser).columns[0].row(row));
  };
  std::string rows;
  VICINITY_REQUIRE_OK(reader.ReadRows(
      column, {400, 1, 2, 3}, [&] { rows.clear(); },
      [&](size_t, const char* row) { rows.append(row, 20); }));
  CHECK(rows == row_of(400) + row_of(1) + row_of(2) + row_of(3));
  VICINITY_REQUIRE_OK(
      reader.ReadRange(column, 1, 3, [&](const char* range) { rows.assign(range, 3 * 20); }));
  CHECK(rows == row_of(1) + row_of(2) + row_of(3));

  std::vector<std::string> names;
  VICINITY_REQUIRE_OK(reader.ReadRagged(
      kItem, kNamesColumn, {2, 3}, [&] { names.clear(); },
      [&](size_t, std::string_view name) {
        names.emplace_back(name);
        return true;
      }));
  CHECK(names == std::vector<std::string>{"two", std::string(oracle().nodes(kItem).names.row(3))});

  std::vector<int64_t> nodes(3);
  const uint64_t keys[] = {CountingOverlay::kNewKey, overlay.gone_key,
                           oracle().nodes(kUser).keys[6]};
  VICINITY_REQUIRE_OK(reader.FindKeys(kUser, keys, nodes.data()));
  CHECK(nodes == std::vector<int64_t>{400, -1, 6});

  std::vector<int64_t> degrees;
  VICINITY_REQUIRE_OK(reader.ReadDegrees(
      kBuys, {1, 2}, [&] { degrees.clear(); },
      [&](size_t, int64_t degree) {
        degrees.push_back(degree);
        return true;
      }));
  CHECK(degrees == std::vector<int64_t>{oracle().edges(kBuys).degree(1), 3});
  VICINITY_REQUIRE_OK(reader.ReadList(kBuys, 2, 1, 1, [](const ListPart& part) {
    REQUIRE(part.size() == 1);
    CHECK(part.source(0) == 5);
    CHECK(part.edge_id(0) == 50);
    CHECK(part.position(0) == 1000);
    CHECK(part.has_more());
  }));
}

TEST_CASE_METHOD(ReaderTest, "what has not changed costs one question a call", "[shard_reader]") {
  const CountingOverlay overlay(false);
  const ShardReader reader(shard(), &overlay);
  const std::vector<uint64_t> rows = {0, 1, 2, 3};
  int64_t nodes[4];
  VICINITY_REQUIRE_OK(reader.ReadRows(
      reader.NodeColumn(kUser, 0), rows, [] {}, [](size_t, const char*) {}));
  VICINITY_REQUIRE_OK(reader.ReadRagged(
      kItem, kNamesColumn, rows, [] {}, [](size_t, std::string_view) { return true; }));
  VICINITY_REQUIRE_OK(reader.FindKeys(kUser, rows, nodes));
  VICINITY_REQUIRE_OK(reader.ReadDegrees(
      kBuys, rows, [] {}, [](size_t, int64_t) { return true; }));
  VICINITY_REQUIRE_OK(reader.ReadList(kBuys, 2, 0, 5, [](const ListPart&) {}));
  CHECK(overlay.presence == 5);
  CHECK(overlay.elements == 0);
}

}  // namespace
}  // namespace vicinity
