// The loader with batches on a device, over mapped and fake remote shards: also run under
// ThreadSanitizer.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/device/base/host_device.h"
#include "client/loading/epoch_run.h"
#include "client/loading/loader_core.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/client/column_bytes.h"
#include "tests/client/routed_graph.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::BytesOf;
using testing::OpenTestedDevice;
using testing::RoutedGraph;
using testing::TestedDevice;
using testing::TestedDevices;

LoaderOptions Options(const RoutedGraph& graph) {
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = SamplingSpec::Uniform(graph.router().schema(), {4, 3});
  options.batch_size = 16;
  options.run_seed = 77;
  // Rows of 20, no, 12, 1 and 8 bytes: the last, which goes last, has a pool.
  options.columns = {{"user", "features"},
                     {"item", "nothing"},
                     {"item", "features"},
                     {"user", "split"},
                     {"item", "price"}};
  options.edge_columns = {{"buys", "weight"}};
  options.batch_timeout = std::chrono::seconds(60);
  options.homes = {{}};
  for (int32_t s = 0; s < graph.router().book().num_shards(); ++s) options.homes[0].push_back(s);
  return options;
}

LoaderOptions OnDevice(LoaderOptions options) {
  options.placement = Placement::kDevice;
  options.device.staging_bytes = 8 << 10;  // small: most things take several chunks
  return options;
}

std::unique_ptr<LoaderCore> Make(const RoutedGraph& graph, const LoaderOptions& options,
                                 TestedDevice device = TestedDevice::kHost) {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      std::unique_ptr<LoaderCore> loader,
      LoaderCore::Create(graph.router(), options, OpenTestedDevice(device)));
  return loader;
}

std::string Describe(const MiniBatch& batch) {
  std::string text = testing::Describe(batch.graph);
  for (const BatchColumn& column : batch.columns) text += BytesOf(column);
  for (const int64_t label : batch.labels) text += " " + std::to_string(label);
  for (const EdgeRows& rows : batch.edge_columns) text.append(rows.bytes.begin(), rows.bytes.end());
  return text;
}

std::unique_ptr<MiniBatch> Next(LoaderCore* loader) {
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<MiniBatch> batch, loader->Next());
  return batch;
}

// As a trainer works: it lets go of a batch when it has the next.
std::vector<std::string> Epoch(LoaderCore* loader, int64_t epoch, int64_t first_step = 0) {
  VICINITY_REQUIRE_OK(loader->StartEpoch(epoch, first_step));
  std::vector<std::string> batches;
  for (std::unique_ptr<MiniBatch> batch = Next(loader); batch != nullptr; batch = Next(loader)) {
    REQUIRE(batch->step == first_step + static_cast<int64_t>(batches.size()));
    batches.push_back(Describe(*batch));
  }
  return batches;
}

TEST_CASE("an epoch on a device is the epoch on the host", "[device_loader]") {
  const auto device = GENERATE_COPY(from_range(TestedDevices()));
  const int32_t num_shards = GENERATE(1, 4);
  RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), num_shards, {1, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 1);
  CHECK(expected.size() > 5);
  options = OnDevice(options);
  for (const CachePolicy cache : {CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto}) {
    for (const int64_t cache_rows : {0, 1, 60, 10'000}) {
      if (cache == CachePolicy::kNone && cache_rows > 0) continue;
      CAPTURE(static_cast<int>(cache), cache_rows);
      options.cache = cache;
      options.cache_rows = cache_rows;
      options.cache_bytes = 0;
      options.device.home_bytes = cache_rows == 60 ? 2000 : cache_rows;
      options.device.pin_home = cache_rows != 1;
      options.device.batches = cache_rows == 0 ? 3 : 2;
      options.sample_ahead = 5;
      options.fetch_ahead = cache_rows == 1 ? 1 : 4;
      options.sample_threads = 2;
      options.fetch_threads = 3;
      const std::unique_ptr<LoaderCore> loader = Make(graph, options, device);
      for (int round = 0; round < 2; ++round) REQUIRE(Epoch(loader.get(), 1) == expected);
      const LoaderStats stats = loader->stats();
      CHECK(stats.device_bytes > 0);
      CHECK((stats.bytes_remote > 0) == (num_shards > 1 && cache_rows < 10'000));
    }
  }
}

TEST_CASE("on a device, too, the window decides how many batches are on their way",
          "[device_loader]") {
  RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 4, {1, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  options = OnDevice(options);
  options.cache = GENERATE(CachePolicy::kNone, CachePolicy::kAuto);
  options.window_bytes = GENERATE(1 << 14, 1 << 15);
  options.fetch_ahead = 100;
  CHECK(Epoch(Make(graph, options, TestedDevice::kLateHost).get(), 0) == expected);
}

TEST_CASE("a batch that is larger than window and cache is refused on a device",
          "[device_loader]") {
  RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 4, {1, 2, 3});
  LoaderOptions options = OnDevice(Options(graph));
  options.cache = CachePolicy::kNone;
  options.window_bytes = 100;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  const absl::Status refused = loader->Next().status();
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("features"));
}

TEST_CASE("a trainer that keeps its tensors holds the pipeline back, and is told in time",
          "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 2, {1});
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  options = OnDevice(options);
  options.device.batches = GENERATE(1, 2);
  options.batch_timeout = std::chrono::seconds(2);
  const std::unique_ptr<LoaderCore> loader =
      Make(graph, options, GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::unique_ptr<MiniBatch>> kept;
  const int num_kept = options.device.batches;
  for (int i = 0; i < num_kept; ++i) kept.push_back(Next(loader.get()));
  const absl::Status late = loader->Next().status();
  VICINITY_CHECK_CODE(late, absl::StatusCode::kDeadlineExceeded);
  CHECK_THAT(std::string(late.message()),
             Catch::Contains("assemble") && Catch::Contains("let go of"));
  for (int i = 0; i < num_kept; ++i) CHECK(Describe(*kept[i]) == expected[i]);
  // The kept ones do not stand in the way of the next start, and go with the second batch.
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, num_kept));
  kept.clear();
  CHECK(Describe(*Next(loader.get())) == expected[num_kept]);
}

// Once told, takes long to find memory.
class SlowDevice : public HostDevice {
 public:
  static constexpr std::chrono::seconds kDelay{5};

  absl::StatusOr<DeviceMemory> Allocate(MemoryKind kind, int64_t bytes) override {
    if (slow) std::this_thread::sleep_for(kDelay);  // the delay is what is tested
    return HostDevice::Allocate(kind, bytes);
  }

  std::atomic<bool> slow{false};
};

TEST_CASE("a trainer is not blamed for tensors that are being filled", "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 2, {1});
  LoaderOptions options = OnDevice(Options(graph));
  options.columns.resize(1);
  options.batch_timeout = SlowDevice::kDelay / 5;
  const auto device = std::make_shared<SlowDevice>();
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LoaderCore> loader,
                                LoaderCore::Create(graph.router(), options, device));
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  REQUIRE(loader->WaitForNext(options.batch_timeout));
  device->slow = true;  // when the second tensor is taken for the first time, and grows
  const std::unique_ptr<MiniBatch> first = Next(loader.get());
  const absl::Status late = loader->Next().status();
  VICINITY_CHECK_CODE(late, absl::StatusCode::kDeadlineExceeded);
  CHECK_THAT(std::string(late.message()),
             Catch::Contains("assemble") && !Catch::Contains("let go of"));
}

TEST_CASE("an epoch whose next batch waits for tensors may be dropped", "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 2, {1});
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  std::unique_ptr<LoaderCore> loader = Make(graph, OnDevice(options), TestedDevice::kLateHost);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::unique_ptr<MiniBatch>> kept;
  for (int i = 0; i < 2; ++i) kept.push_back(Next(loader.get()));
  SECTION("for another") {
    VICINITY_REQUIRE_OK(loader->StartEpoch(0, 1));
    kept.clear();
    CHECK(Describe(*Next(loader.get())) == expected[1]);
  }
  SECTION("with its loader") {
    loader.reset();
    for (int i = 0; i < 2; ++i) CHECK(Describe(*kept[i]) == expected[i]);
  }
}

TEST_CASE("a trainer that takes long over a batch meets no time limit", "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 2, {1});
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  options = OnDevice(options);
  options.device.batches = 1;
  options.batch_timeout = std::chrono::milliseconds(500);
  const std::unique_ptr<LoaderCore> loader = Make(graph, options, TestedDevice::kLateHost);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  {
    const std::unique_ptr<MiniBatch> first = Next(loader.get());
    std::this_thread::sleep_for(2 * options.batch_timeout);  // it is this time that is tested
    CHECK(Describe(*first) == expected[0]);
  }
  CHECK(Describe(*Next(loader.get())) == expected[1]);
}

TEST_CASE("tensors outlive their batch and their loader", "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 2, {1});
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  options = OnDevice(options);
  options.device.batches = 3;
  std::unique_ptr<LoaderCore> loader =
      Make(graph, options, GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  const std::unique_ptr<MiniBatch> first = Next(loader.get());
  std::unique_ptr<MiniBatch> second = Next(loader.get());
  const BatchColumn column = std::move(second->columns[0]);
  const std::string bytes = BytesOf(column);
  second.reset();
  CHECK(Describe(*Next(loader.get())) == expected[2]);
  loader.reset();
  CHECK(Describe(*first) == expected[0]);
  CHECK(BytesOf(column) == bytes);
}

TEST_CASE("an epoch on a device may be dropped in the middle and another begun",
          "[device_loader]") {
  RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 4, {1, 2, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 2);
  options = OnDevice(options);
  options.cache = GENERATE(CachePolicy::kVip, CachePolicy::kAuto);
  options.cache_rows = 20;
  options.sample_threads = 3;
  options.fetch_threads = 2;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options, TestedDevice::kLateHost);
  CHECK(Epoch(loader.get(), 2) == expected);
  std::vector<std::unique_ptr<MiniBatch>> kept;
  for (int round = 0; round < 6; ++round) {
    VICINITY_REQUIRE_OK(loader->StartEpoch(round, 0));
    kept.clear();
    for (int i = 0; i < round % 3; ++i) kept.push_back(Next(loader.get()));
  }
  kept.clear();
  CHECK(Epoch(loader.get(), 2) == expected);
  VICINITY_REQUIRE_OK(loader->StartEpoch(3, 0));  // and dropped by the destructor
}

TEST_CASE("rows of a shard that fails are given up, and the epoch goes on from there on a device",
          "[device_loader]") {
  RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 4, {1, 3});
  graph.Rank("default");
  LoaderOptions options = Options(graph);
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  options = OnDevice(options);
  options.cache = GENERATE(CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto);
  options.cache_rows = 30;
  options.fetch_threads = 3;
  const std::unique_ptr<LoaderCore> loader = Make(graph, options, TestedDevice::kLateHost);
  const int64_t fail_after = GENERATE(7, 12, 23);
  graph.faults()->fail_after = graph.faults()->calls + fail_after;
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::string> batches;
  absl::Status error;
  while (error.ok()) {
    absl::StatusOr<std::unique_ptr<MiniBatch>> batch = loader->Next();
    error = batch.status();
    if (!error.ok()) break;
    REQUIRE(*batch != nullptr);
    batches.push_back(Describe(**batch));
  }
  VICINITY_CHECK_CODE(error, absl::StatusCode::kUnavailable);
  graph.faults()->fail_after = -1;
  const std::vector<std::string> rest =
      Epoch(loader.get(), 0, static_cast<int64_t>(batches.size()));
  batches.insert(batches.end(), rest.begin(), rest.end());
  CHECK(batches == expected);
}

TEST_CASE("tensors may be let go of in other threads while batches are made", "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 4, {1, 2, 3});
  LoaderOptions options = Options(graph);
  options.fetch_threads = 2;
  const std::vector<std::string> expected = Epoch(Make(graph, options).get(), 0);
  const std::unique_ptr<LoaderCore> loader =
      Make(graph, OnDevice(options), GENERATE_COPY(from_range(TestedDevices())));
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<std::string> batches(expected.size());
  std::vector<std::thread> readers;
  for (size_t step = 0; step < expected.size(); ++step) {
    std::shared_ptr<MiniBatch> batch = Next(loader.get());
    readers.emplace_back([batch = std::move(batch), out = &batches[step]]() mutable {
      for (const BatchColumn& column : batch->columns) {
        std::string bytes(column.tensor->bytes(), '?');
        if (column.tensor->CopyToHost(&bytes[0]).ok()) *out += bytes;
      }
      batch.reset();
    });
  }
  for (std::thread& reader : readers) reader.join();
  for (size_t step = 0; step < expected.size(); ++step) {
    CHECK(expected[step].find(batches[step]) != std::string::npos);
    CHECK(!batches[step].empty());
  }
}

TEST_CASE("of all the batches that are fetched only the next is assembled", "[device_loader]") {
  const RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 4, {1, 2, 3});
  LoaderOptions options = Options(graph);
  options.batch_size = 4;
  options.fetch_ahead = 6;
  if (GENERATE(false, true)) {
    options = OnDevice(options);
    options.device.batches = 6;
  }
  const std::unique_ptr<LoaderCore> loader = Make(graph, options);
  const auto batches_of = [&](int stage) { return loader->stats().stages[stage].batches; };
  REQUIRE(loader->steps_per_epoch() > options.fetch_ahead + 3);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  const auto wait_for = [&](int stage, int64_t batches) {
    const auto start = std::chrono::steady_clock::now();
    while (batches_of(stage) < batches) {
      REQUIRE(std::chrono::steady_clock::now() - start < options.batch_timeout);
      std::this_thread::yield();
    }
  };
  for (int64_t taken = 0; taken < 3; ++taken) {
    wait_for(kFetch, options.fetch_ahead + taken);
    wait_for(kAssemble, taken + 1);
    // Time in which a stage that did not wait would get further.
    for (int i = 0; i < 1000 && batches_of(kAssemble) == taken + 1; ++i) std::this_thread::yield();
    CHECK(batches_of(kAssemble) == taken + 1);
    REQUIRE(Next(loader.get()) != nullptr);
  }
}

}  // namespace
}  // namespace vicinity
