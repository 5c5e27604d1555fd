// Shards whose machine loses its power at any moment: what was acknowledged as on disk is there,
// and nothing is by half. A disk that says it has what it has not is found out.
#include <rocksdb/env.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/power/cutting_fs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

class PowerTest {
 public:
  PowerTest() {
    testing::RandomGraphOptions options;
    options.weights = true;
    graph_ = testing::RandomGraph(options);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, folder_.File("graph")));
    auto dataset = Dataset::Open(folder_.File("graph"));
    VICINITY_REQUIRE_OK(dataset.status());
    dataset_ = *std::move(dataset);
    base_ = std::make_unique<LiveBase>(testing::BaseOf(*dataset_));
  }

  // Writes some batches and cuts the power; what was acknowledged as on disk is in synced_ then.
  absl::Status WriteAndCut(bool disk_is_honest) {
    const auto fs = std::make_shared<testing::CuttingFs>(disk_is_honest);
    const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(fs);
    LiveShardOptions options;
    options.store.env = env.get();
    options.store.buffer_bytes = 16 << 10;
    {
      auto shard = LiveShard::Open(*base_, changes(), options);
      if (!shard.ok()) return shard.status();
      const std::string mark = changes() + "/high-water";
      std::filesystem::copy_file(mark, folder_.File("mark"),
                                 std::filesystem::copy_options::overwrite_existing);
      Write(shard->get(), 1 + random_() % 40);
      fs->Cut();
      shard->reset();
      // It is not waited for: either may be on disk.
      if (random_() % 2 == 0) {
        std::filesystem::copy_file(folder_.File("mark"), mark,
                                   std::filesystem::copy_options::overwrite_existing);
      }
    }
    fs->Drop(&random_);
    return absl::OkStatus();
  }
  void Write(LiveShard* shard, uint64_t count) {
    proto::WriteSession session;
    session.set_id("power test");
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t n = shard->version() + 1;
      session.set_sequence(n);
      VICINITY_REQUIRE_OK(shard
                              ->Apply(session, testing::NumberedBatch(*base_, n),
                                      testing::NumberedDurability(n),
                                      absl::Now() + absl::Minutes(1))
                              .status());
      if (testing::NumberedDurability(n) == Durability::kSync) synced_ = n;
    }
  }
  std::string changes() const { return folder_.File("changes"); }

  testing::TempDir folder_;
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::mt19937_64 random_{1};
  uint64_t synced_ = 0;
};

TEST_CASE_METHOD(PowerTest, "a power cut takes nothing that was acknowledged as on disk",
                 "[power]") {
  const int num_cuts = testing::SizeFromEnvironment("VICINITY_POWER_CUTS", 500);
  int lost_something = 0;
  for (int cut = 0; cut < num_cuts; ++cut) {
    CAPTURE(cut);
    VICINITY_REQUIRE_OK(WriteAndCut(true));
    auto shard = LiveShard::Open(*base_, changes(), LiveShardOptions());
    VICINITY_REQUIRE_OK(shard.status());
    const uint64_t version = (*shard)->version();
    REQUIRE(version >= synced_);
    if (version % 5 != 0) ++lost_something;
    if (cut % 10 == 9) {  // what is left by now is what so many batches make
      testing::LiveModel wanted(graph_, testing::InUserOrder(graph_), *base_);
      for (uint64_t n = 1; n <= version; ++n) {
        wanted.Apply(*base_, testing::NumberedBatch(*base_, n));
      }
      const auto view = (*shard)->Latest();
      REQUIRE(wanted.Difference(*base_, ShardReader(base_->shard, view.get())) == "");
      shard->reset();
      std::filesystem::remove_all(changes());
      synced_ = 0;
    }
  }
  CHECK(lost_something > 0);
}

// The control: a test that no missing sync can fail proves nothing.
TEST_CASE_METHOD(PowerTest, "a disk that says it has what it has not is found out", "[power]") {
  int found_out = 0;
  constexpr int kCuts = 40;
  for (int cut = 0; cut < kCuts; ++cut) {
    synced_ = 0;
    std::filesystem::remove_all(changes());
    VICINITY_REQUIRE_OK(WriteAndCut(false));
    const auto shard = LiveShard::Open(*base_, changes(), LiveShardOptions());
    if (!shard.ok() || (*shard)->version() < synced_) ++found_out;
  }
  CHECK(found_out >= kCuts * 6 / 10);  // some cuts come before anything was synced
}

}  // namespace
}  // namespace vicinity
