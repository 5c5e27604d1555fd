#include "client/cli/commands/trace/trace_tree.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vicinity::cli {
namespace {

ShownSpan Made(const std::string& trace, const std::string& id, const std::string& parent,
               int64_t start, int64_t end) {
  ShownSpan span;
  span.trace = trace;
  span.id = id;
  span.parent = parent;
  span.name = id;
  span.start = start;
  span.end = end;
  return span;
}

// "root(0) part(1)".
std::string Shape(const TraceTree& tree) {
  std::string shape;
  for (const TraceLine& line : tree.lines) {
    shape += (shape.empty() ? "" : " ") + line.span.id + "(" + std::to_string(line.depth) + ")";
  }
  return shape;
}

TEST_CASE("parts stand below their whole, by their start", "[trace_tree]") {
  const auto trees = TreesOf({Made("t", "late", "root", 50, 60), Made("t", "leaf", "early", 12, 13),
                              Made("t", "root", "", 0, 100), Made("t", "early", "root", 10, 20)});
  REQUIRE(trees.size() == 1);
  CHECK(Shape(trees[0]) == "root(0) early(1) leaf(2) late(1)");
  CHECK(trees[0].start == 0);
  CHECK(trees[0].end == 100);
  CHECK(trees[0].slowness == 100);
}

TEST_CASE("the slowest trace is first, a batch by how long its trainer waited", "[trace_tree]") {
  ShownSpan ahead = Made("ahead", "a", "", 0, 1'000'000);
  ahead.attributes = {{"trainer_waited_ns", "5"}};
  ShownSpan late = Made("late", "b", "", 0, 100);
  late.attributes = {{"trainer_waited_ns", "90"}};
  const auto trees = TreesOf({ahead, Made("call", "c", "gone", 0, 50), late});
  REQUIRE(trees.size() == 3);
  CHECK(trees[0].id == "late");
  CHECK(trees[1].id == "call");
  CHECK(trees[2].id == "ahead");
}

TEST_CASE("what is there twice, or goes in circles, is there once", "[trace_tree]") {
  const auto trees =
      TreesOf({Made("t", "a", "b", 0, 9), Made("t", "b", "a", 1, 8), Made("t", "a", "b", 0, 9),
               Made("t", "self", "self", 2, 3), Made("u", "a", "", 0, 1)});
  REQUIRE(trees.size() == 2);
  CHECK(trees[0].lines.size() == 3);
  CHECK(Shape(trees[1]) == "a(0)");
  CHECK(TreesOf({}).empty());
}

TEST_CASE("a chain of any length is no stack", "[trace_tree]") {
  std::vector<ShownSpan> spans;
  for (int i = 0; i < 200'000; ++i) {
    spans.push_back(Made("t", std::to_string(i), i == 0 ? "" : std::to_string(i - 1), i, 300'000));
  }
  CHECK(TreesOf(spans)[0].lines.size() == 200'000);
}

TEST_CASE("a label says what is worth saying", "[trace_tree]") {
  ShownSpan span = Made("t", "a", "", 0, 1);
  span.name = "attempt";
  span.attributes = {{"server", "s1"}, {"lost", "x"}};
  span.error = "CANCELLED";
  CHECK(LabelOf(span) == "attempt to s1, lost");
  span.attributes = {{"shard", "3"}};
  CHECK(LabelOf(span) == "attempt, shard 3, CANCELLED");
  span.name = "batch";
  span.error = "";
  span.attributes = {{"epoch", "1"}, {"step", "42"}};
  CHECK(LabelOf(span) == "batch 42 of epoch 1");
}

}  // namespace
}  // namespace vicinity::cli
