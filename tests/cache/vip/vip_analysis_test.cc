#include "cache/vip/vip_analysis.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_scores.h"
#include "cache/vip/vip_state.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// More homes than go side by side, so that there are several groups.
constexpr int kNumHomes = 2 * kMaxVipLanes + 3;

class Fixture {
 public:
  Fixture() {
    testing::RandomGraphOptions shape;
    shape.num_nodes = 200;
    shape.num_edges = 900;
    const testing::MemoryGraph graph = testing::RandomGraph(shape);
    spec_ = SamplingSpec::Uniform(graph.schema, {4, 2});
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 7), folder_.File("graph")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("graph")));
  }

  // Of homes first_home, first_home + 1, ...
  absl::StatusOr<VipScores> Run(int first_home, int num_homes, int bad_home = -1) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const VipGraph graph, VipGraph::Create(*dataset_, spec_, 2));
    VipAnalysis analysis(graph, num_homes, nullptr, {});
    const auto chances_of = [&](int home) -> absl::StatusOr<std::vector<SeedChances>> {
      if (home == bad_home) return absl::InvalidArgumentError("no such node");
      return std::vector<SeedChances>{{{0}, 0, {first_home + home, 190}, {0.5, 0.25}}};
    };
    return analysis.Run(chances_of, NoProgress());
  }

 private:
  const testing::TempDir folder_;
  SamplingSpec spec_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE("a home's scores do not depend on those beside it", "[vip_analysis]") {
  const Fixture fixture;
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores all, fixture.Run(0, kNumHomes));
  REQUIRE(all.num_homes == kNumHomes);
  for (int home = 0; home < kNumHomes; ++home) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores one, fixture.Run(home, 1));
    CHECK(one.at({0}, {home}, 0) >= 0.5F);
    for (int64_t node = 0; node < 200; ++node) {
      if (all.at({0}, {node}, home) != Approx(one.at({0}, {node}, 0)).margin(1e-6)) {
        CHECK(all.at({0}, {node}, home) == one.at({0}, {node}, 0));
      }
    }
  }
}

TEST_CASE("what is wrong with a home's seeds is told with the home", "[vip_analysis]") {
  const int bad_home = GENERATE(0, kMaxVipLanes + 1);
  const absl::Status status = Fixture().Run(0, kNumHomes, bad_home).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK(status.message() == "home " + std::to_string(bad_home) + ": no such node");
}

}  // namespace
}  // namespace vicinity
