#include "sampler/rules/index_search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "partition/dataset/column_index.h"
#include "partition/schema/condition.h"
#include "partition/schema/condition_text.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "sampler/rules/condition_filter.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kRows = 4000;
// Columns a, b and c with integers below 100, each with an index.
class Table {
 public:
  Table() {
    NodeDraws random(/*stream=*/3, /*key=*/2, /*tree=*/0);
    for (const char* const name : {"a", "b", "c"}) {
      specs_.push_back({name, DType::kInt32, {}});
      std::vector<int32_t>& values = values_.emplace_back();
      for (int64_t i = 0; i < kRows; ++i) {
        values.push_back(static_cast<int32_t>(random.Below(100)));
      }
      std::string& run = runs_.emplace_back(kRows * IndexRowBytes(DType::kInt32), '?');
      MakeIndexRun(DType::kInt32, Bytes(values), kRows, &run[0]);
    }
  }

  RowCondition Resolve(const std::string& text) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
    VICINITY_ASSERT_OK_AND_ASSIGN(RowCondition resolved, ResolveCondition(condition, specs_));
    return resolved;
  }

  // By the indexes of the columns whose names are given.
  IndexedRows Search(const RowCondition& condition, const std::string& indexed) const {
    std::vector<std::optional<ColumnIndex>> indexes(condition.terms.size());
    for (size_t t = 0; t < indexes.size(); ++t) {
      const int32_t column = condition.terms[t].column;
      if (!IsComparison(condition.terms[t].op)) continue;
      if (indexed.find(specs_[column].name) == std::string::npos) continue;
      indexes[t].emplace(DType::kInt32, kRows, runs_[column], nullptr);
    }
    IndexSearch search(condition, std::move(indexes));
    VICINITY_ASSERT_OK_AND_ASSIGN(IndexedRows found, search.Find(0));
    return found;
  }

  std::vector<uint32_t> BruteForce(const RowCondition& condition) const {
    ConditionFilter filter(condition);
    std::vector<const char*> values;
    for (const int32_t column : filter.columns()) values.push_back(Bytes(values_[column]));
    const absl::Span<const uint8_t> meet = filter.Evaluate(values, kRows);
    std::vector<uint32_t> rows;
    for (int64_t i = 0; i < kRows; ++i) {
      if (meet[i] != 0) rows.push_back(static_cast<uint32_t>(i));
    }
    return rows;
  }

 private:
  static const char* Bytes(const std::vector<int32_t>& values) {
    return reinterpret_cast<const char*>(values.data());
  }

  std::vector<ColumnSpec> specs_;
  std::vector<std::vector<int32_t>> values_;
  std::vector<std::string> runs_;
};

TEST_CASE("indexes of all columns of a condition tell exactly what meets it", "[index_search]") {
  const Table table;
  for (const char* const text :
       {"a < 5", "a = 7", "a in (1, 50, 99)", "not a < 95", "not (a >= 3 and b >= 2)",
        "a < 10 and b < 10 and c < 10", "a < 3 or b > 98 or c in (4, 5)",
        "not (not a in (1, 2) or not b < 50)", "a < 2 and (b < 40 or c < 40)", "a > 1000",
        "(a < 1 or a > 98) and not (b = 4 or c = 5)"}) {
    CAPTURE(text);
    const RowCondition condition = table.Resolve(text);
    const std::vector<uint32_t> expected = table.BruteForce(condition);
    const IndexedRows found = table.Search(condition, "abc");
    REQUIRE(!found.any);
    if (found.exact) {
      CHECK(found.rows == expected);
    } else {
      CHECK(std::includes(found.rows.begin(), found.rows.end(), expected.begin(), expected.end()));
      CHECK(found.rows.size() < kRows / 8);
    }
  }
}

TEST_CASE("one side of an `and` is enough, and its rows are candidates", "[index_search]") {
  const Table table;
  for (const char* const text : {"a < 5 and b < 50", "b < 50 and a < 5", "not (a >= 5 or b >= 50)",
                                 "a < 5 and (b < 3 or c < 3)"}) {
    CAPTURE(text);
    const RowCondition condition = table.Resolve(text);
    const IndexedRows found = table.Search(condition, "a");
    REQUIRE(!found.any);
    CHECK(!found.exact);
    CHECK(found.rows == table.BruteForce(table.Resolve("a < 5")));
  }
}

TEST_CASE("what an index does not narrow is not searched by it", "[index_search]") {
  const Table table;
  for (const char* const text : {"a >= 50", "not a = 1", "a < 5 or b < 5"}) {
    CAPTURE(text);
    CHECK(table.Search(table.Resolve(text), "a").any);
  }
}

TEST_CASE("few rows of one side are not joined with many of the other", "[index_search]") {
  const Table table;
  const RowCondition condition = table.Resolve("a = 1 and b < 99");
  const IndexedRows found = table.Search(condition, "ab");
  REQUIRE(!found.any);
  CHECK(!found.exact);
  CHECK(found.rows == table.BruteForce(table.Resolve("a = 1")));
  const IndexedRows joined = table.Search(table.Resolve("a = 1 and b < 5"), "ab");
  CHECK(joined.exact);
}

}  // namespace
}  // namespace vicinity
