#include "client/planning/partition_estimate.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>

#include "cache/vip/vip.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kNodes = 100'000;

// Nodes enough for what is held of each to be more than what a process holds anyway.
class EstimateTest {
 public:
  EstimateTest() {
    testing::RandomGraphOptions options;
    options.num_nodes = kNodes;
    options.num_edges = 2 * kNodes;
    options.feature_width = 1;
    VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(options), folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
  }

  HomePlan Plan(const VipRequest& flags) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(HomePlan plan,
                                  PlanHomes(*dataset_, MakeAssignment(*dataset_, 4), flags));
    return plan;
  }
  int64_t Memory(const HomePlan* plan, int64_t sampled_epochs = 8,
                 const WorkEstimate& assigning = {}) const {
    CalibrationOptions calibration;
    calibration.most_epochs = sampled_epochs;
    return EstimatePartition(*dataset_, assigning, plan, calibration).memory_bytes;
  }

 protected:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE_METHOD(EstimateTest, "memory is that of the hungriest phase", "[partition_estimate]") {
  const int64_t writing = Memory(nullptr);
  CHECK(writing >= 28 * kNodes);
  CHECK(Memory(nullptr, 8, {writing / 2, 0}) == writing);
  CHECK(Memory(nullptr, 8, {2 * writing, 0}) > 2 * writing);

  const HomePlan four = Plan({});
  const int64_t vip = VipMemoryBytes(*dataset_, four.options.sampling, 4);
  CHECK(Memory(&four, 0) >= vip + 4 * kNodes);
  VipRequest one_home;
  one_home.homes = "0,1,2,3";
  const HomePlan one = Plan(one_home);
  CHECK(Memory(&one, 0) < Memory(&four, 0));
}

TEST_CASE_METHOD(EstimateTest, "sampling counts where its batches are large",
                 "[partition_estimate]") {
  VipRequest flags;
  flags.fanouts = {20, 20, 20, 20};
  flags.batch_size = 1'000'000;
  const HomePlan large = Plan(flags);
  CHECK(Memory(&large) > Memory(&large, 0));
  flags.batch_size = 1;
  const HomePlan small = Plan(flags);
  CHECK(Memory(&small) < Memory(&large));
}

TEST_CASE_METHOD(EstimateTest, "the disk takes the shards, rankings and what the assigner writes",
                 "[partition_estimate]") {
  const auto disk = [this](const HomePlan* plan, int64_t assigning) {
    return EstimatePartition(*dataset_, {0, assigning}, plan, {}).disk_bytes;
  };
  const int64_t shards = disk(nullptr, 0);
  CHECK(shards > 12 * 2 * kNodes);
  const HomePlan plan = Plan({});
  CHECK(disk(&plan, 0) == shards + 4 * 12 * kNodes);
  CHECK(disk(&plan, int64_t{1} << 40) == int64_t{1} << 40);
}

}  // namespace
}  // namespace vicinity
