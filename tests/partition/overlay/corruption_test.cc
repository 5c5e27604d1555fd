// Changes whose files are damaged: what is read is what was written, or an error.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/mutation.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBatches = 200;

// Says what it did.
std::string Damage(const std::string& folder, std::mt19937_64* random) {
  testing::Mutator mutator(folder, (*random)());
  std::vector<std::string> files;  // locks have nothing to damage
  for (const std::string& file : mutator.files()) {
    if (fs::file_size(fs::path(folder) / file) > 0) files.push_back(file);
  }
  return mutator.Mutate(
      files[(*random)() % files.size()],
      static_cast<testing::MutationKind>((*random)() % testing::kNumMutationKinds));
}

bool IsError(const std::string& problem) {
  return absl::StrContains(problem, "DATA_LOSS") || absl::StrContains(problem, "UNAVAILABLE");
}

TEST_CASE("damaged changes are refused or read as they were written", "[corruption]") {
  const int num_damages = testing::SizeFromEnvironment("VICINITY_OVERLAY_DAMAGES", 400);
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.weights = true;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder.File("graph")));
  auto dataset = Dataset::Open(folder.File("graph"));
  VICINITY_REQUIRE_OK(dataset.status());
  const LiveBase base = testing::BaseOf(**dataset);
  testing::LiveModel model(graph, testing::InUserOrder(graph), base);
  LiveShardOptions small;
  small.store.buffer_bytes = 16 << 10;  // so that there are sorted files, too
  for (int open = 0; open < 2; ++open) {
    auto shard = LiveShard::Open(base, folder.File("sound"), small);
    VICINITY_REQUIRE_OK(shard.status());
    proto::WriteSession session;
    session.set_id("corruption test");
    for (uint64_t i = 0; i < kBatches / 2; ++i) {
      const uint64_t n = (*shard)->version() + 1;
      session.set_sequence(n);
      const proto::WriteBatch batch = testing::NumberedBatch(base, n);
      VICINITY_REQUIRE_OK(
          (*shard)
              ->Apply(session, batch, Durability::kSync, absl::Now() + absl::Minutes(1))
              .status());
      model.Apply(base, batch);
    }
  }

  std::mt19937_64 random(1);
  int refused = 0;
  int failed = 0;
  for (int i = 0; i < num_damages; ++i) {
    const std::string damaged = folder.File("damaged");
    fs::remove_all(damaged);
    fs::copy(folder.File("sound"), damaged, fs::copy_options::recursive);
    const std::string what = Damage(damaged, &random);
    CAPTURE(i, what);
    auto shard = LiveShard::Open(base, damaged, small);
    if (!shard.ok()) {
      CHECK(!absl::StrContains(shard.status().message(), "INTERNAL"));
      ++refused;
      continue;
    }
    REQUIRE((*shard)->version() == kBatches);
    const auto view = (*shard)->Latest();
    const std::string problem = model.Difference(base, ShardReader(base.shard, view.get()));
    if (!problem.empty()) {
      REQUIRE(IsError(problem));
      ++failed;
    }
  }
  CHECK(refused > num_damages / 4);
  CHECK(refused + failed < num_damages);  // logs for people, and what was not used, may be lost
}

}  // namespace
}  // namespace vicinity
