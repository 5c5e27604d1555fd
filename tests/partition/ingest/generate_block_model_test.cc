#include "partition/ingest/generate_block_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "partition/writing/audit.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Values;

// With as many classes as communities, so that labels tell the community.
BlockModelOptions Plain() {
  BlockModelOptions options;
  options.num_nodes = 20000;
  options.num_communities = 8;
  options.num_classes = 8;
  options.average_degree = 10;
  options.features.width = 16;
  return options;
}

struct Made {
  IngestReport report;
  std::unique_ptr<Dataset> dataset;

  const NodeTable& nodes() const { return dataset->shard({0})->nodes({0}); }
  const EdgeTable& edges() const { return dataset->shard({0})->edges({0}); }
  template <typename T>
  std::vector<T> column(const std::string& name) const {
    const int index = dataset->schema().node_types[0].FindColumn(name);
    const ColumnView& view = nodes().columns[static_cast<size_t>(index)];
    return Values<T>({view.data, static_cast<size_t>(view.num_rows * view.row_bytes)});
  }
};

Made Generate(const testing::TempDir& dir, const std::string& name,
              const BlockModelOptions& options) {
  Made made;
  VICINITY_ASSERT_OK_AND_ASSIGN(made.report,
                                GenerateBlockModel(options, dir.File(name), NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(made.dataset, Dataset::Open(dir.File(name)));
  return made;
}

TEST_CASE("communities are of equal size, and edges leave them as often as asked for",
          "[generate]") {
  const testing::TempDir dir;
  BlockModelOptions options = Plain();
  options.mixing = GENERATE(0.0, 0.3, 1.0);
  const Made made = Generate(dir, "g", options);
  const auto labels = made.column<int32_t>("label");
  std::vector<int64_t> sizes(8);
  for (const int32_t label : labels) ++sizes[static_cast<size_t>(label)];
  CHECK(sizes == std::vector<int64_t>(8, 2500));
  int64_t leaving = 0;
  for (int64_t node = 0; node < made.edges().num_targets(); ++node) {
    const int64_t begin = made.edges().begin(node);
    for (int64_t i = begin; i < begin + made.edges().degree(node); ++i) {
      leaving +=
          labels[static_cast<size_t>(made.edges().sources[i])] != labels[static_cast<size_t>(node)];
    }
  }
  const double share = static_cast<double>(leaving) / static_cast<double>(made.edges().num_edges());
  // Duplicates, which go, are likelier inside.
  CHECK(std::fabs(share - options.mixing) < 0.02);
}

TEST_CASE("degrees have the mean asked for and a heavy tail", "[generate]") {
  const testing::TempDir dir;
  const Made made = Generate(dir, "g", Plain());
  const double mean = static_cast<double>(made.edges().num_edges()) / 20000;
  CHECK(mean > 9);
  CHECK(mean <= 10);
  CHECK(made.report.edges[0].max_degree > 100);
  CHECK(made.report.edges[0].stored == made.edges().num_edges());
  const IngestReport::Edges& edges = made.report.edges[0];
  CHECK(edges.read + edges.reversed - edges.self_loops_dropped - edges.duplicates_dropped ==
        edges.stored);
}

TEST_CASE("rows scatter around their community's mean as much as asked for", "[generate]") {
  const testing::TempDir dir;
  BlockModelOptions options = Plain();
  options.noise = 2;
  const Made made = Generate(dir, "g", options);
  const auto labels = made.column<int32_t>("label");
  const auto features = made.column<float>("features");
  std::vector<double> means(8 * 16);
  for (size_t node = 0; node < labels.size(); ++node) {
    for (size_t i = 0; i < 16; ++i) {
      means[static_cast<size_t>(labels[node]) * 16 + i] += features[node * 16 + i] / 2500;
    }
  }
  double noise = 0;
  for (size_t node = 0; node < labels.size(); ++node) {
    for (size_t i = 0; i < 16; ++i) {
      const double off =
          features[node * 16 + i] - means[static_cast<size_t>(labels[node]) * 16 + i];
      noise += off * off / (20000 * 16);
    }
  }
  CHECK(std::fabs(noise - 4) < 0.1);
  double spread = 0;
  for (const double mean : means) spread += mean * mean / (8 * 16);
  CHECK(std::fabs(spread - 1) < 0.5);  // 128 draws of variance 1, squared
}

TEST_CASE("features come in every type", "[generate]") {
  const testing::TempDir dir;
  for (const DType dtype : {DType::kBool, DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32,
                            DType::kInt64, DType::kFloat16, DType::kBfloat16, DType::kFloat64}) {
    BlockModelOptions options = Plain();
    options.num_nodes = 100;
    options.features.dtype = dtype;
    const std::string name = "g" + std::to_string(static_cast<int>(dtype));
    const Made made = Generate(dir, name, options);
    CHECK(made.dataset->schema().node_types[0].columns[0].dtype == dtype);
    VICINITY_CHECK_OK(VerifyDataset(dir.File(name), NoProgress()));
  }
}

TEST_CASE("the same options make the same dataset, another seed another", "[generate]") {
  const testing::TempDir dir;
  BlockModelOptions options = Plain();
  const uint64_t fingerprint = Generate(dir, "a", options).dataset->fingerprint();
  CHECK(fingerprint == Generate(dir, "b", options).dataset->fingerprint());
  options.seed = 2;
  CHECK(fingerprint != Generate(dir, "c", options).dataset->fingerprint());
}

TEST_CASE("the smallest graphs, and those without features, labels, splits or edges",
          "[generate]") {
  const testing::TempDir dir;
  BlockModelOptions options;
  options.num_nodes = 1;
  options.num_communities = 1;
  options.num_classes = 0;
  options.features.width = 0;
  options.splits = {};
  CHECK(Generate(dir, "one", options).edges().num_edges() == 0);  // all were self-loops
  options.num_nodes = 7;
  options.num_communities = 7;
  options.average_degree = 0;
  const Made made = Generate(dir, "seven", options);
  CHECK(made.nodes().num_nodes() == 7);
  CHECK(made.nodes().columns.empty());
  CHECK(made.report.nodes[0].isolated == 7);
  options.average_degree = 3;
  options.symmetric = false;
  options.mixing = 1;
  const Made directed = Generate(dir, "directed", options);
  CHECK(directed.report.edges[0].reversed == 0);
  CHECK(directed.report.edges[0].self_loops_dropped == 0);  // communities of one node
}

TEST_CASE("impossible options are refused", "[generate]") {
  const auto check = [](auto change) {
    BlockModelOptions options;
    change(&options);
    VICINITY_CHECK_CODE(options.Validate(), absl::StatusCode::kInvalidArgument);
  };
  VICINITY_CHECK_OK(BlockModelOptions().Validate());
  check([](BlockModelOptions* o) { o->num_nodes = 0; });
  check([](BlockModelOptions* o) { o->num_nodes = int64_t{1} << 40; });
  check([](BlockModelOptions* o) { o->average_degree = -1; });
  check([](BlockModelOptions* o) { o->average_degree = std::nan(""); });
  check([](BlockModelOptions* o) { o->num_communities = 0; });
  check([](BlockModelOptions* o) { o->num_communities = o->num_nodes + 1; });
  check([](BlockModelOptions* o) { o->num_classes = 51; });
  check([](BlockModelOptions* o) { o->mixing = 1.1; });
  check([](BlockModelOptions* o) { o->exponent = 2; });
  check([](BlockModelOptions* o) { o->features.width = -1; });
  check([](BlockModelOptions* o) { o->noise = -1; });
  check([](BlockModelOptions* o) { o->splits = {0.9, 0.9, 0}; });
}

}  // namespace
}  // namespace vicinity
