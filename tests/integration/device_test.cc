// A trainer with its batches on a device, here the host's twin, over real servers: by the public
// headers alone, as a program outside would do it.
#include <dlpack/dlpack.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/device/base/cuda_device.h"
#include "client/graph.h"
#include "client/loader.h"
#include "client/types/device_tensor.h"
#include "tests/client/column_bytes.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::BytesOf;
using testing::SmallCluster;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

std::unique_ptr<Graph> Open(const SmallCluster& cluster) {
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  options.local_shards = {0};
  return Value(Graph::Open(options));
}

LoaderOptions Options(const SmallCluster& cluster) {
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = SamplingSpec::Uniform(cluster.graph().schema, {4, 3});
  options.batch_size = 20;
  options.columns = {{"user", "features"}, {"item", "features"}, {"item", "price"}};
  options.edge_columns = {{"buys", "weight"}};
  options.fetch_threads = 2;
  return options;
}

LoaderOptions OnHostTwin(LoaderOptions options) {
  options.placement = Placement::kDevice;
  options.device.kind = DeviceKind::kHost;
  options.device.home_bytes = 1000;
  return options;
}

// What of a batch is compared; the columns last.
std::string Describe(const MiniBatch& batch) {
  std::string text;
  for (const SampledNodes& nodes : batch.graph.nodes) {
    text.append(reinterpret_cast<const char*>(nodes.ids.data()), 8 * nodes.ids.size());
  }
  for (const int64_t label : batch.labels) text += " " + std::to_string(label);
  for (const EdgeRows& rows : batch.edge_columns) text.append(rows.bytes.begin(), rows.bytes.end());
  for (const BatchColumn& column : batch.columns) text += BytesOf(column);
  return text;
}

std::vector<std::string> Epoch(Loader* loader) {
  REQUIRE(loader->StartEpoch(2).ok());
  std::vector<std::string> batches;
  for (auto batch = Value(loader->Next()); batch != nullptr; batch = Value(loader->Next())) {
    batches.push_back(Describe(*batch));
  }
  return batches;
}

TEST_CASE("batches on a device are those on the host, whoever serves the rows", "[device]") {
  const SmallCluster cluster(testing::TypedGraph(400, 300, 50, 4), 4, 2);
  const std::unique_ptr<Graph> graph = Open(cluster);
  const LoaderOptions options = Options(cluster);
  const auto on_host = Value(Loader::Create(graph.get(), options));
  const std::vector<std::string> expected = Epoch(on_host.get());
  CHECK(expected.size() > 3);
  const auto loader = Value(Loader::Create(graph.get(), OnHostTwin(options)));
  for (int round = 0; round < 2; ++round) CHECK(Epoch(loader.get()) == expected);
  CHECK(loader->stats().rows_remote > 0);
  CHECK(loader->stats().rows_local > 0);
  CHECK(loader->stats().device_bytes > 0);
  CHECK(on_host->stats().device_bytes == 0);
}

TEST_CASE("a column goes to its consumer as DLPack and outlives graph and loader", "[device]") {
  const SmallCluster cluster(testing::TypedGraph(400, 300, 50, 4), 4, 2);
  std::unique_ptr<Graph> graph = Open(cluster);
  auto loader = Value(Loader::Create(graph.get(), OnHostTwin(Options(cluster))));
  REQUIRE(loader->StartEpoch(2).ok());
  std::unique_ptr<MiniBatch> batch = Value(loader->Next());
  BatchColumn& column = batch->columns[1];
  const std::string bytes = BytesOf(column);
  const int64_t num_rows = column.num_rows;
  REQUIRE(column.tensor->WaitOn(nullptr).ok());
  REQUIRE(column.tensor->Done(nullptr).ok());
  DLManagedTensor* const managed =
      Value(DeviceTensor::HandOver(std::move(column.tensor), /*consumer_stream=*/-1));
  batch.reset();
  loader.reset();
  graph.reset();
  const DLTensor& view = managed->dl_tensor;
  REQUIRE(view.ndim == 3);  // items' features are 2 x 3 values of float16
  CHECK(view.shape[0] == num_rows);
  CHECK(view.shape[1] == 2);
  CHECK(view.shape[2] == 3);
  CHECK(view.dtype.code == kDLFloat);
  CHECK(view.dtype.bits == 16);
  CHECK(std::string(static_cast<const char*>(view.data), bytes.size()) == bytes);
  managed->deleter(managed);
}

TEST_CASE("a server that goes ends the epoch with an error, and it goes on when it is back",
          "[device]") {
  SmallCluster cluster(testing::TypedGraph(400, 300, 50, 4), 4, 2);
  const std::unique_ptr<Graph> graph = Open(cluster);
  LoaderOptions options = Options(cluster);
  const std::vector<std::string> expected =
      Epoch(Value(Loader::Create(graph.get(), options)).get());
  options = OnHostTwin(options);
  options.fetch_ahead = 2;
  const auto loader = Value(Loader::Create(graph.get(), options));
  REQUIRE(loader->StartEpoch(2).ok());
  std::vector<std::string> batches;
  batches.push_back(Describe(*Value(loader->Next())));
  cluster.Stop(1);
  while (true) {
    const Result<std::unique_ptr<MiniBatch>> batch = loader->Next();
    if (!batch.ok()) break;
    REQUIRE(*batch != nullptr);
    batches.push_back(Describe(**batch));
  }
  REQUIRE(batches.size() < expected.size());
  cluster.Restart(1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (batches.size() < expected.size() && std::chrono::steady_clock::now() < deadline) {
    REQUIRE(loader->StartEpoch(2, static_cast<int64_t>(batches.size())).ok());
    while (batches.size() < expected.size()) {
      const Result<std::unique_ptr<MiniBatch>> batch = loader->Next();
      if (!batch.ok()) break;  // it is not connected again
      batches.push_back(Describe(**batch));
    }
  }
  CHECK(batches == expected);
}

TEST_CASE("a GPU that is not there is an error that tells what to do", "[device]") {
  if (OpenCudaDevice(0).ok()) return;
  const SmallCluster cluster(testing::TypedGraph(100, 80, 10, 4), 1, 1);
  const std::unique_ptr<Graph> graph = Open(cluster);
  LoaderOptions options = Options(cluster);
  options.placement = Placement::kDevice;
  const auto loader = Loader::Create(graph.get(), options);
  REQUIRE_FALSE(loader.ok());
  CHECK(loader.error().code() == ErrorCode::kFailedPrecondition);
  CHECK_THAT(loader.error().message(), Catch::Contains("Placement::kHost"));
}

}  // namespace
}  // namespace vicinity
