// The calls of client/c_api/vicinity.h that concern loaders.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "client/c_api/vicinity.h"
#include "tests/client/c_api/open_graph.h"
#include "tests/testing/slow_build.h"

namespace vicinity {
namespace {

using testing::BatchPtr;
using testing::LoaderPtr;
using testing::NextBatch;
using testing::OpenGraph;
using testing::PartOf;
using testing::RequireOk;
using testing::ValuesOf;

constexpr char kOptions[] =
    R"({"fanouts": [3, 2], "batch_size": 10, "columns": [{"node_type": "user", "column": "features"}]})";

int64_t ResidentBytes() {
  int64_t pages = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_CASE("an epoch gives its batches in order, and then null", "[c_api]") {
  const OpenGraph open;
  const LoaderPtr loader = open.MakeLoader(kOptions);
  CHECK(vicinity_loader_num_seeds(loader.get()) ==
        static_cast<int64_t>(open.plain().NodesOf(0, Split::kTrain)->size()));
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    RequireOk(vicinity_loader_start_epoch(loader.get(), epoch, 0, -1));
    int64_t steps = 0;
    while (const BatchPtr batch = NextBatch(loader.get())) {
      VicinityBatchInfo info = {};
      info.struct_size = sizeof(info);
      RequireOk(vicinity_batch_info(batch.get(), &info));
      CHECK(info.epoch == epoch);
      CHECK(info.step == steps++);
    }
    CHECK(steps == vicinity_loader_steps_per_epoch(loader.get()));
    CHECK(NextBatch(loader.get()) == nullptr);  // it stays ended
  }
  char* text = nullptr;
  RequireOk(vicinity_loader_stats(loader.get(), &text));
  const nlohmann::json stats = nlohmann::json::parse(text);
  vicinity_string_free(text);
  CHECK(stats["stages"].size() == 6);
  CHECK(stats["nodes"] > 0);
}

TEST_CASE("a batch that is asked for again and again comes once", "[c_api]") {
  const OpenGraph open;
  const LoaderPtr loader = open.MakeLoader(kOptions);
  RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
  int64_t steps = 0;
  while (true) {
    VicinityBatch* batch = nullptr;
    const int32_t code = vicinity_loader_next(loader.get(), 0, &batch);
    if (code == VICINITY_NOT_READY) continue;
    RequireOk(code);
    if (batch == nullptr) break;
    ++steps;
    vicinity_batch_release(batch);
  }
  CHECK(steps == vicinity_loader_steps_per_epoch(loader.get()));
}

TEST_CASE("wrong calls about loaders are refused with a text", "[c_api]") {
  const OpenGraph open;
  const LoaderPtr good = open.MakeLoader(kOptions);
  VicinityLoader* loader = nullptr;
  VicinityBatch* batch = nullptr;
  char* json = nullptr;
  const std::vector<int32_t> codes = {
      vicinity_loader_create(nullptr, kOptions, &loader),
      vicinity_loader_create(open.graph(), nullptr, &loader),
      vicinity_loader_create(open.graph(), kOptions, nullptr),
      vicinity_loader_create(open.graph(), "{}", &loader),
      vicinity_loader_create(open.graph(), R"({"fanouts": [3], "batch_size": 0})", &loader),
      vicinity_loader_create(open.graph(), R"({"fanouts": [3], "bach_size": 5})", &loader),
      vicinity_loader_start_epoch(nullptr, 0, 0, -1),
      vicinity_loader_start_epoch(good.get(), -1, 0, -1),
      vicinity_loader_start_epoch(good.get(), 0, 0, 1 << 20),
      vicinity_loader_next(nullptr, -1, &batch),
      vicinity_loader_next(good.get(), -1, nullptr),
      vicinity_loader_next(good.get(), -2, &batch),
      vicinity_loader_next(good.get(), INT64_MAX, &batch),
      vicinity_loader_stats(nullptr, &json),
      vicinity_loader_stats(good.get(), nullptr),
  };
  for (const int32_t code : codes) CHECK(code == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_loader_next(good.get(), -1, &batch) == VICINITY_FAILED_PRECONDITION);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("StartEpoch"));
  CHECK(vicinity_loader_create(open.graph(), R"({"fanouts": [3], "seed_type": "author"})",
                               &loader) == VICINITY_NOT_FOUND);
  CHECK(vicinity_loader_num_seeds(nullptr) == 0);
  CHECK(vicinity_loader_steps_per_epoch(nullptr) == 0);
  CHECK(loader == nullptr);
  CHECK(batch == nullptr);
  CHECK(json == nullptr);
  vicinity_loader_release(nullptr);
}

TEST_CASE("of two threads that want batches one is refused, and none is lost", "[c_api]") {
  const OpenGraph open;
  const LoaderPtr loader = open.MakeLoader(kOptions);
  std::atomic<int64_t> batches{0};
  RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
  const auto take = [&] {
    while (true) {
      VicinityBatch* batch = nullptr;
      const int32_t code = vicinity_loader_next(loader.get(), -1, &batch);
      if (code == VICINITY_FAILED_PRECONDITION) continue;
      if (code != VICINITY_OK || batch == nullptr) return;
      ++batches;
      vicinity_batch_release(batch);
    }
  };
  std::thread other(take);
  take();
  other.join();
  CHECK(batches == vicinity_loader_steps_per_epoch(loader.get()));
}

TEST_CASE("loaders, batches and tensors outlive what they came from", "[c_api]") {
  testing::TensorPtr features;
  std::vector<float> expected;
  {
    BatchPtr batch;
    {
      LoaderPtr loader;
      {
        const OpenGraph open;
        loader = open.MakeLoader(kOptions);
      }
      RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
      batch = NextBatch(loader.get());
    }
    features = PartOf(batch.get(), VICINITY_COLUMN);
    expected = ValuesOf<float>(*features);
  }
  CHECK_FALSE(expected.empty());
  CHECK(ValuesOf<float>(*features) == expected);
}

// A child has none of its parent's threads: it must neither hang nor crash.
TEST_CASE("a forked child is refused, and may release everything", "[c_api]") {
  auto open = std::make_unique<OpenGraph>();
  LoaderPtr loader = open->MakeLoader(kOptions);
  RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
  BatchPtr batch = NextBatch(loader.get());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    VicinityBatch* next = nullptr;
    VicinityLoader* another = nullptr;
    DLManagedTensor* nodes = nullptr;
    const bool refused =
        vicinity_loader_next(loader.get(), 100, &next) == VICINITY_FAILED_PRECONDITION &&
        vicinity_loader_start_epoch(loader.get(), 1, 0, -1) == VICINITY_FAILED_PRECONDITION &&
        vicinity_loader_create(open->graph(), kOptions, &another) == VICINITY_FAILED_PRECONDITION &&
        vicinity_graph_nodes(open->graph(), "user", "", &nodes) == VICINITY_FAILED_PRECONDITION;
    batch.reset();
    loader.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(NextBatch(loader.get()) != nullptr);  // the parent goes on
}

TEST_CASE("making and releasing two hundred times leaves memory as it was", "[c_api]") {
  const OpenGraph open;
  const auto once = [&open] {
    const testing::GraphPtr graph = open.Open();
    VicinityLoader* made = nullptr;
    RequireOk(vicinity_loader_create(graph.get(), kOptions, &made));
    const LoaderPtr loader(made);
    RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
    const BatchPtr batch = NextBatch(loader.get());
    PartOf(batch.get(), VICINITY_COLUMN);
  };
  for (int i = 0; i < 50; ++i) once();
  const int64_t before = ResidentBytes();
  for (int i = 0; i < 200; ++i) once();
  // AddressSanitizer keeps what was freed for a while; but it finds leaks by itself.
  if (testing::kSlower == 1) CHECK(ResidentBytes() - before < int64_t{8} << 20);
}

}  // namespace
}  // namespace vicinity
