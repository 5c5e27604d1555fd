#include "client/device/device_column.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/loading/row_cache.h"
#include "client/shards/split_nodes.h"
#include "tests/cache/device/base/tested_devices.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::OpenTestedDevice;
using testing::RoutedGraph;
using testing::TestedDevice;
using testing::TestedDevices;

constexpr NodeTypeId kUser{0};
constexpr NodeTypeId kItem{1};
constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::nanoseconds kNoWait(0);

// A column on a device, with a pool that holds nothing but rows of batches in flight.
struct TestedColumn {
  TestedColumn(const RoutedGraph& routed, TestedDevice kind, NodeTypeId type, int32_t column,
               const DeviceColumn::Options& options)
      : graph(routed), type(type), column(column) {
    VICINITY_ASSERT_OK_AND_ASSIGN(side,
                                  DeviceSide::Create(OpenTestedDevice(kind), 1000, 20, kLong));
    DevicePool::Options pool_options;
    pool_options.row_bytes = graph.router().RowBytes(type, column);
    pool_options.staged_rows = 200;
    if (pool_options.row_bytes > 0) {
      VICINITY_ASSERT_OK_AND_ASSIGN(
          pool, DevicePool::Create(side->mover(), pool_options, {},
                                   FetchingColumn(graph.router(), type, column)));
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(
        made, DeviceColumn::Create(graph.router(), type, column, side, pool.get(), options));
  }

  // The tensor of the nodes at `positions` of the graph.
  absl::StatusOr<std::unique_ptr<DeviceTensor>> Bring(const std::vector<int64_t>& positions,
                                                      std::chrono::nanoseconds timeout = kLong) {
    const std::vector<int64_t> ids = graph.GlobalIds(type);
    std::vector<int64_t> some;
    for (const int64_t position : positions) some.push_back(ids[position]);
    const SplitNodes nodes = NearAndFar(graph.router(), type, some, /*by_shard=*/true);
    if (pool == nullptr) return made->Assemble(nodes, PoolBatch(), timeout);
    VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, pool->Admit(nodes.remote));
    std::string rows;
    for (const int32_t i : batch.missing) {
      rows +=
          graph.graph().row(type, column, graph.placement().PositionOf(type, {nodes.remote[i]}));
    }
    VICINITY_REQUIRE_OK(pool->Deliver(batch, 0, rows));
    auto tensor = made->Assemble(nodes, batch, timeout);
    pool->Release(batch);  // at once
    return tensor;
  }

  std::string Expected(const std::vector<int64_t>& positions) const {
    std::string rows;
    for (const int64_t position : positions) rows += graph.graph().row(type, column, position);
    return rows;
  }

  const RoutedGraph& graph;
  const NodeTypeId type;
  const int32_t column;
  std::shared_ptr<DeviceSide> side;
  std::unique_ptr<DevicePool> pool;
  std::unique_ptr<DeviceColumn> made;
};

std::string BytesOf(const DeviceTensor& tensor) {
  std::string bytes(tensor.bytes(), '?');
  REQUIRE(tensor.CopyToHost(&bytes[0]).ok());
  return bytes;
}

TEST_CASE("a column's rows come from shards and pool in the order of the nodes",
          "[device_column]") {
  const auto kind = GENERATE_COPY(from_range(TestedDevices()));
  DeviceColumn::Options options;
  options.home_share = GENERATE(0.0, 0.3, 1.0);
  options.far = GENERATE(FarRead::kDirect, FarRead::kStaged);
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 4, {1, 3});
  for (const auto& [type, column] : {std::pair(kUser, 0), std::pair(kUser, 2), std::pair(kItem, 0),
                                     std::pair(kItem, 1), std::pair(kItem, 2)}) {
    CAPTURE(type.value, column);
    TestedColumn tested(graph, kind, type, column, options);
    std::vector<std::unique_ptr<DeviceTensor>> held;
    std::vector<std::vector<int64_t>> batches = {{}, {5}, {79, 3, 8, 0, 42, 17}, {}};
    for (int64_t i = 0; i < 70; ++i) batches.back().push_back((i * 37) % 80);
    for (const std::vector<int64_t>& positions : batches) {
      VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<DeviceTensor> tensor, tested.Bring(positions));
      CHECK(tensor->num_rows() == static_cast<int64_t>(positions.size()));
      REQUIRE(BytesOf(*tensor) == tested.Expected(positions));
      held.clear();
      held.push_back(std::move(tensor));  // a trainer has one while the next is made
    }
  }
}

TEST_CASE("a column makes no more tensors than its trainer lets go of", "[device_column]") {
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {1});
  TestedColumn tested(graph, GENERATE_COPY(from_range(TestedDevices())), kUser, 0, {});
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<DeviceTensor> one, tested.Bring({1, 2, 3}));
  CHECK(tested.made->WaitForTensor(kNoWait));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceTensor> two, tested.Bring({4}));
  CHECK_FALSE(tested.made->WaitForTensor(kNoWait));
  VICINITY_CHECK_CODE(tested.Bring({5}, kNoWait).status(), absl::StatusCode::kDeadlineExceeded);
  one.reset();
  CHECK(tested.made->WaitForTensor(kNoWait));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceTensor> three, tested.Bring({5, 6}));
  CHECK(BytesOf(*two) == tested.Expected({4}));
  CHECK(BytesOf(*three) == tested.Expected({5, 6}));
}

TEST_CASE("tensors outlive their column and its pool", "[device_column]") {
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {1});
  DeviceColumn::Options options;
  options.home_share = 0.5;
  TestedColumn tested(graph, GENERATE_COPY(from_range(TestedDevices())), kUser, 0, options);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceTensor> tensor,
                                tested.Bring({1, 2, 3, 50}));
  tested.made.reset();
  tested.pool.reset();
  tested.side.reset();
  CHECK(BytesOf(*tensor) == tested.Expected({1, 2, 3, 50}));
}

TEST_CASE("a batch whose rows were given up fails, and the next gets its tensor",
          "[device_column]") {
  const RoutedGraph graph(testing::TypedGraph(100, 80, 10, 3), 2, {0, 1});
  DeviceColumn::Options options;
  options.num_tensors = 1;
  TestedColumn tested(graph, GENERATE_COPY(from_range(TestedDevices())), kUser, 0, options);
  SplitNodes nodes;
  nodes.remote = {graph.GlobalIds(kUser)[3]};
  nodes.remote_positions = {0};
  VICINITY_ASSERT_OK_AND_ASSIGN(const PoolBatch batch, tested.pool->Admit(nodes.remote));
  tested.pool->Abandon(batch);
  VICINITY_CHECK_CODE(tested.made->Assemble(nodes, batch, kLong).status(),
                      absl::StatusCode::kUnavailable);
  tested.pool->Release(batch);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceTensor> tensor,
                                tested.Bring({3, 4, 5, 6, 7, 8, 9}));
  CHECK(BytesOf(*tensor) == tested.Expected({3, 4, 5, 6, 7, 8, 9}));
  CHECK(tested.made->device_bytes() >= 200 * 20 + tensor->bytes());
}

}  // namespace
}  // namespace vicinity
