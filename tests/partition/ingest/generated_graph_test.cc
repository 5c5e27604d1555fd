#include "partition/ingest/generated_graph.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("edge e is what the maker made for e, however many there are", "[generate]") {
  const testing::TempDir dir;
  constexpr int64_t kNodes = 1000;
  const int64_t num_edges = GENERATE(0, 1, 1500001);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto writer,
                                CreateGenerated(dir.File("out"), "g", kNodes, NodeTypeSpec()));
  VICINITY_REQUIRE_OK(WriteDenseKeys(kGeneratedNodes, writer.get()));
  const auto source = [](int64_t e) { return e * 7 % kNodes; };
  const auto target = [](int64_t e) { return e % 900; };
  const EdgeMaker make = [&](int64_t first, absl::Span<Edge> edges) {
    for (size_t i = 0; i < edges.size(); ++i) {
      const int64_t e = first + static_cast<int64_t>(i);
      edges[i] = {source(e), target(e)};
    }
  };
  IngestReport report;
  report.nodes.emplace_back();
  CscSpec spec;
  spec.spool_directory = dir.path();
  VICINITY_REQUIRE_OK(
      WriteGeneratedEdges(num_edges, make, spec, writer.get(), &report, NoProgress()));
  VICINITY_REQUIRE_OK(writer->Finish(nullptr, "test"));
  REQUIRE(report.edges.size() == 1);
  CHECK(report.edges[0].name == "node:link:node");
  CHECK(report.edges[0].read == num_edges);
  CHECK(report.edges[0].stored == num_edges);
  CHECK(report.nodes[0].isolated == (num_edges == 0 ? kNodes : num_edges == 1 ? kNodes - 1 : 0));

  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(dir.File("out")));
  const EdgeTable& table = dataset->shard({0})->edges(kGeneratedEdges);
  int64_t wrong = 0;
  for (int64_t node = 0; node < kNodes; ++node) {
    for (int64_t i = table.begin(node); i < table.begin(node) + table.degree(node); ++i) {
      const int64_t e = table.edge_ids[i];
      wrong += e >= num_edges || table.sources[i] != source(e) || node != target(e);
    }
  }
  CHECK(wrong == 0);
  CHECK(table.num_edges() == num_edges);
}

TEST_CASE("columns with impossible names are refused before anything is written", "[generate]") {
  const testing::TempDir dir;
  NodeTypeSpec nodes;
  nodes.columns = {{"bad name", DType::kFloat32, {}}};
  VICINITY_CHECK_CODE(CreateGenerated(dir.File("out"), "g", 5, nodes),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
