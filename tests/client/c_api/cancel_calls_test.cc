// The calls of client/c_api/vicinity.h that concern calls that are given up.
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "client/c_api/vicinity.h"
#include "tests/client/c_api/open_graph.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::OpenGraph;
using testing::RequireOk;

struct Release {
  void operator()(VicinityCancellation* given_up) const { vicinity_cancellation_release(given_up); }
};
using CancellationPtr = std::unique_ptr<VicinityCancellation, Release>;

CancellationPtr Make() {
  VicinityCancellation* given_up = nullptr;
  RequireOk(vicinity_cancellation_create(&given_up));
  return CancellationPtr(given_up);
}

// Opens a graph whose only server is not there, and is waited for if that is not given up.
int32_t OpenNobody() {
  const testing::TempDir folder;
  const std::string file = folder.path() + "/cluster.textproto";
  std::ofstream(file) << "data: '/nowhere' num_shards: 1 "
                         "servers { name: 'a' listen: '127.0.0.1:1' shards: 0 }\n";
  const std::string options = R"({"cluster_file": ")" + file + R"(", "connect_timeout_ms": 200})";
  VicinityGraph* graph = nullptr;
  return vicinity_graph_open(options.c_str(), &graph);
}

TEST_CASE("the calls of a thread are given up by what it entered, those of others are not",
          "[c_api]") {
  const CancellationPtr given_up = Make();
  RequireOk(vicinity_cancellation_enter(given_up.get()));
  CHECK(OpenNobody() == VICINITY_UNAVAILABLE);
  RequireOk(vicinity_cancellation_cancel(given_up.get()));
  CHECK(OpenNobody() == VICINITY_CANCELLED);
  CHECK(std::string(vicinity_last_error()) != "");
  int32_t of_another = VICINITY_OK;
  std::thread another([&of_another] { of_another = OpenNobody(); });
  another.join();
  CHECK(of_another == VICINITY_UNAVAILABLE);
  RequireOk(vicinity_cancellation_enter(nullptr));
  CHECK(OpenNobody() == VICINITY_UNAVAILABLE);
}

TEST_CASE("what waits for nobody goes on where calls are given up", "[c_api]") {
  const CancellationPtr given_up = Make();
  RequireOk(vicinity_cancellation_cancel(given_up.get()));
  RequireOk(vicinity_cancellation_enter(given_up.get()));
  const OpenGraph open;  // mapped
  DLManagedTensor* ids = nullptr;
  RequireOk(vicinity_graph_nodes(open.graph(), "user", "", &ids));
  CHECK(testing::ShapeOf(*testing::TensorPtr(ids)).front() > 0);
  RequireOk(vicinity_cancellation_enter(nullptr));
}

TEST_CASE("a cancellation that is null is an error where there must be one", "[c_api]") {
  CHECK(vicinity_cancellation_create(nullptr) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_cancellation_cancel(nullptr) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_cancellation_enter(nullptr) == VICINITY_OK);
  vicinity_cancellation_release(nullptr);
}

}  // namespace
}  // namespace vicinity
