#include "client/loading/device_setup.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/device/base/host_device.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};

// users' features (20 bytes) and splits (1), items' features (12).
std::vector<ColumnPlan> Plans() {
  std::vector<ColumnPlan> plans(3);
  plans[0].type = plans[1].type = kUser;
  plans[1].column = 2;
  plans[2].type = kItem;
  return plans;
}

// Lets go of the plan's members one after the other, as its destructor does: the device is the
// last.
void CheckDeviceGoesLast(ColumnPlan* plan, const std::weak_ptr<Device>& device) {
  plan->device.reset();
  REQUIRE(!device.expired());  // the pool's memory is there
  plan->pool.reset();
  CHECK(!device.expired());
  plan->side.reset();
  CHECK(device.expired());
}

// Remote users, `n` of them.
CacheRows Cached(const RoutedGraph& graph, size_t n) {
  CacheRows rows;
  rows.ranked.resize(3);
  for (const int64_t id : graph.GlobalIds(kUser)) {
    const ShardId owner = graph.router().book().OwnerOf(kUser, {id});
    if (!graph.router().IsLocal(owner) && rows.ranked[0].size() < n) rows.ranked[0].push_back(id);
  }
  REQUIRE(rows.ranked[0].size() == n);
  rows.capacity = {static_cast<int64_t>(n), 0, 0};
  return rows;
}

TEST_CASE("pools have room for what the window lets in, and the cache", "[device_setup]") {
  const RoutedGraph graph(testing::TypedGraph(1000, 80, 10, 3), 2, {1});
  const int64_t num_remote = graph.router().book().num_nodes(kUser, {1});
  LoaderOptions options;
  options.window_bytes = 2 * 21 * 100;  // 100 users with both columns, in pools and tensors
  struct Case {
    size_t cached;
    int64_t room;  // for rows in flight at once
  };
  for (const Case& expected : {Case{0, 100}, Case{30, 100}, Case{200, 200}}) {
    CAPTURE(expected.cached);
    std::vector<ColumnPlan> plans = Plans();
    VICINITY_REQUIRE_OK(PlaceOnDevice(graph.router(), options, Cached(graph, expected.cached),
                                      std::make_shared<HostDevice>(), absl::MakeSpan(plans)));
    for (int c = 0; c < 2; ++c) {
      CHECK(plans[c].cache_rows == static_cast<int64_t>(expected.cached));
      CHECK(plans[c].pool->stats().capacity_rows == static_cast<int64_t>(expected.cached));
      CHECK(plans[c].pool->row_bytes() == (c == 0 ? 20 : 1));
      REQUIRE(expected.room < num_remote);
      std::vector<int64_t> ids;
      for (int64_t i = 0; i <= expected.room; ++i) ids.push_back(i);
      VICINITY_CHECK_CODE(plans[c].pool->Admit(ids), absl::StatusCode::kResourceExhausted);
      ids.pop_back();
      VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, plans[c].pool->Admit(ids));
      plans[c].pool->Release(batch);
    }
  }
}

TEST_CASE("the likeliest rows stay beside those of batches in flight", "[device_setup]") {
  const RoutedGraph graph(testing::TypedGraph(1000, 80, 10, 3), 2, {1});
  LoaderOptions options;
  options.window_bytes = 2 * 21 * 100;
  std::vector<ColumnPlan> plans = Plans();
  const CacheRows cached = Cached(graph, 130);
  VICINITY_REQUIRE_OK(PlaceOnDevice(graph.router(), options, cached, std::make_shared<HostDevice>(),
                                    absl::MakeSpan(plans)));
  for (int64_t round = 0; round < 20; ++round) {
    std::vector<int64_t> others;
    for (int64_t i = 0; i < 100; ++i) others.push_back(10'000 + 100 * round + i);
    VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, plans[0].pool->Admit(others));
    CHECK(batch.missing.size() == 100);
    VICINITY_REQUIRE_OK(plans[0].pool->Deliver(batch, 0, std::string(100 * 20, 'r')));
    plans[0].pool->Release(batch);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const PoolBatch batch, plans[0].pool->Admit(absl::MakeConstSpan(cached.ranked[0]).first(30)));
  CHECK(batch.missing.empty());
  plans[0].pool->Release(batch);
}

TEST_CASE("home_bytes bound what of mapped shards is on the device", "[device_setup]") {
  const RoutedGraph graph(testing::TypedGraph(1000, 80, 10, 3), 4, {3});
  LoaderOptions options;
  options.window_bytes = 0;
  options.device.staging_bytes = 1 << 16;
  const auto device_bytes = [&](int64_t home_bytes) {
    options.device.home_bytes = home_bytes;
    std::vector<ColumnPlan> plans = Plans();
    VICINITY_REQUIRE_OK(PlaceOnDevice(graph.router(), options, Cached(graph, 0),
                                      std::make_shared<HostDevice>(), absl::MakeSpan(plans)));
    int64_t bytes = 0;
    for (const ColumnPlan& plan : plans) bytes += plan.device->device_bytes();
    return bytes;
  };
  int64_t all = 0;
  for (int32_t s = 0; s < 3; ++s) {
    all += 21 * graph.router().book().num_nodes(kUser, {s}) +
           12 * graph.router().book().num_nodes(kItem, {s});
  }
  CHECK(device_bytes(0) == 0);
  CHECK(device_bytes(all) == all);
  CHECK(device_bytes(10 * all) == all);
  CHECK(device_bytes(all / 2) <= all / 2);
  CHECK(device_bytes(all / 2) >= all / 2 - 3 * (20 + 1 + 12));  // less than a row of each
}

// Refuses device memory that is larger than `most`.
class SmallDevice : public HostDevice {
 public:
  absl::StatusOr<DeviceMemory> Allocate(MemoryKind kind, int64_t bytes) override {
    if (kind == MemoryKind::kDevice && bytes > most) return absl::ResourceExhaustedError("full");
    return HostDevice::Allocate(kind, bytes);
  }
  int64_t most = 0;
};

TEST_CASE("a plan's device goes after its pool, whose memory it is", "[device_setup]") {
  const RoutedGraph graph(testing::TypedGraph(1000, 80, 10, 3), 2, {1});
  std::vector<ColumnPlan> plans = Plans();
  plans.resize(1);
  const auto place = [&](std::shared_ptr<Device> device, int64_t home_bytes) {
    LoaderOptions options;
    options.window_bytes = 20 * 10;
    options.device.staging_bytes = 1;
    options.device.home_bytes = home_bytes;
    return PlaceOnDevice(graph.router(), options, Cached(graph, 0), std::move(device),
                         absl::MakeSpan(plans));
  };
  SECTION("of a column") {
    auto device = std::make_shared<HostDevice>();
    const std::weak_ptr<Device> watched = device;
    VICINITY_REQUIRE_OK(place(std::move(device), 0));
    REQUIRE(plans[0].pool != nullptr);
    CheckDeviceGoesLast(&plans[0], watched);
  }
  SECTION("where the first column's home rows do not fit") {
    auto device = std::make_shared<SmallDevice>();
    device->most = 20 * graph.router().book().num_nodes(kUser, {0}) - 1;
    const std::weak_ptr<Device> watched = device;
    VICINITY_CHECK_CODE(place(std::move(device), 1 << 20), absl::StatusCode::kResourceExhausted);
    REQUIRE(plans[0].pool != nullptr);
    CheckDeviceGoesLast(&plans[0], watched);
  }
}

TEST_CASE("at most half of the machine's memory is pinned", "[device_setup]") {
  constexpr double kGiB = 1 << 30;
  constexpr int64_t kMachine = int64_t{8} << 30;
  VICINITY_CHECK_OK(CheckPinned(0, kMachine));
  VICINITY_CHECK_OK(CheckPinned(4 * kGiB, kMachine));
  const absl::Status refused = CheckPinned(400 * kGiB, kMachine);
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(refused.message()),
             Catch::Contains("pin_home = false") && Catch::Contains("400 GiB"));
}

TEST_CASE("what does not fit on the device is named", "[device_setup]") {
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {1});
  const auto device = std::make_shared<SmallDevice>();
  LoaderOptions options;
  options.device.staging_bytes = 1;
  std::vector<ColumnPlan> plans = Plans();
  device->most = 1500;  // a chunk of the ring, but no pool
  const absl::Status full =
      PlaceOnDevice(graph.router(), options, Cached(graph, 0), device, absl::MakeSpan(plans));
  VICINITY_CHECK_CODE(full, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(full.message()), Catch::Contains("user.features"));
}

}  // namespace
}  // namespace vicinity
