#include "client/writer.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "client/graph.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

TEST_CASE("files are not written to", "[writer]") {
  const testing::RoutedGraph on_disk(testing::RandomGraph({}), 2);
  GraphOptions options;
  options.directory = on_disk.directory();
  auto graph = Graph::Open(options);
  REQUIRE(graph.ok());
  const auto writer = Writer::Create(graph->get());
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().code() == ErrorCode::kFailedPrecondition);
  CHECK_THAT(writer.error().message(), Catch::Contains("changes"));
}

TEST_CASE("a writer needs a graph and a time that makes sense", "[writer]") {
  CHECK(Writer::Create(nullptr).error().code() == ErrorCode::kInvalidArgument);
  const testing::RoutedGraph on_disk(testing::RandomGraph({}), 1);
  GraphOptions options;
  options.directory = on_disk.directory();
  auto graph = Graph::Open(options);
  REQUIRE(graph.ok());
  WriterOptions wrong;
  wrong.give_up_after = std::chrono::milliseconds(-1);
  CHECK(Writer::Create(graph->get(), wrong).error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
