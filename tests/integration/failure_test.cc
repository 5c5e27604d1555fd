// What a trainer meets when servers are dead, silent, wrong or incomplete: a typed error that names
// the shard, in time.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "client/graph.h"
#include "client/loader.h"
#include "tests/integration/fixtures/silent_listener.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define VICINITY_SLOW_BUILD
#endif
#endif

namespace vicinity {
namespace {

using testing::SilentListener;
using testing::SmallCluster;
using Clock = std::chrono::steady_clock;

#ifdef VICINITY_SLOW_BUILD
constexpr int kSlower = 5;
#else
constexpr int kSlower = 1;
#endif
constexpr std::chrono::milliseconds kTimeout(300 * kSlower);
constexpr std::chrono::milliseconds kBudget(1000 * kSlower);
// No operation here makes more than a few calls, each with the budget: far less than this says that
// nothing hung, however busy the machine.
constexpr std::chrono::seconds kSoon(20 * kSlower);

testing::MemoryGraph Memory() { return testing::TypedGraph(300, 200, 40, 4); }

GraphOptions Options(const std::string& cluster_file) {
  GraphOptions options;
  options.cluster_file = cluster_file;
  options.connect_timeout = std::chrono::seconds(10);
  options.call_timeout = kTimeout;
  options.call_budget = kBudget;
  return options;
}

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

template <typename T>
void CheckError(const Result<T>& result, ErrorCode code, const std::string& named) {
  REQUIRE_FALSE(result.ok());
  INFO(result.error().message());
  CHECK(result.error().code() == code);
  CHECK_THAT(result.error().message(), Catch::Contains(named));
}

SamplingSpec Spec(const Graph& graph) { return SamplingSpec::Uniform(graph.schema(), {4, 3}); }

LoaderOptions ForLoader(const Graph& graph) {
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = Spec(graph);
  options.batch_size = 8;
  options.columns = {{"user", "features"}, {"item", "features"}};
  options.window_bytes = 4096;
  return options;
}

TEST_CASE("a server that died is unavailable, and the error names its shard", "[failure]") {
  SmallCluster cluster(Memory(), 4, 4);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  const std::vector<int64_t> users = cluster.GlobalIds(NodeTypeId{0});
  Value(graph->Sample(0, users, Spec(*graph), {}));
  cluster.Stop(2);
  const Clock::time_point before = Clock::now();
  const std::string named = "shard 2 at " + cluster.address(2) + " (server s2): ";
  CheckError(graph->Sample(0, users, Spec(*graph), {}), ErrorCode::kUnavailable,
             named + "SampleNeighbors");
  CheckError(graph->Fetch(0, "features", users), ErrorCode::kUnavailable, named + "FetchRows");
  CheckError(graph->NodesOf(0, Split::kTrain), ErrorCode::kUnavailable, named);
  CHECK(Clock::now() - before < kSoon);
  // What the others know is still to be had.
  std::vector<int64_t> elsewhere;
  for (const int64_t user : users) {
    if (graph->OwnerOf(0, user) != 2) elsewhere.push_back(user);
  }
  Value(graph->Fetch(0, "features", elsewhere));
}

TEST_CASE("an epoch that loses a server ends with an error and not in a hang", "[failure]") {
  SmallCluster cluster(Memory(), 4, 4);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  const std::unique_ptr<Loader> loader = Value(Loader::Create(graph.get(), ForLoader(*graph)));
  REQUIRE(loader->StartEpoch(0).ok());
  REQUIRE(Value(loader->Next()) != nullptr);
  cluster.Stop(1);
  const Clock::time_point before = Clock::now();
  while (true) {
    Result<std::unique_ptr<MiniBatch>> batch = loader->Next();
    if (!batch.ok()) {
      CheckError(batch, ErrorCode::kUnavailable, "shard 1 at " + cluster.address(1));
      break;
    }
    REQUIRE(*batch != nullptr);
  }
  CHECK(Clock::now() - before < kSoon);
  CheckError(Loader::Create(graph.get(), ForLoader(*graph)), ErrorCode::kUnavailable, "shard 1");
}

TEST_CASE("a server that is not there yet is waited for", "[failure]") {
  SmallCluster cluster(Memory(), 2, 2);
  SECTION("until the time is up") {
    cluster.Stop(1);
    GraphOptions options = Options(cluster.cluster_file());
    options.connect_timeout = kTimeout;
    CheckError(Graph::Open(options), ErrorCode::kUnavailable, "shards 1 at " + cluster.address(1));
  }
  SECTION("and found when it comes") {
    const std::string address = cluster.address(1);
    cluster.Stop(1);
    std::thread later([&] { cluster.Restart(1); });
    CHECK(Value(Graph::Open(Options(cluster.cluster_file())))->num_shards() == 2);
    later.join();
  }
}

TEST_CASE("a server that never answers is an error at the deadline", "[failure]") {
  const SmallCluster cluster(Memory(), 2, 2);
  const SilentListener silent;
  GraphOptions options = Options(cluster.ClusterFileWith(1, silent.address()));
  options.connect_timeout = kTimeout;
  const Clock::time_point before = Clock::now();
  const Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
  REQUIRE_FALSE(graph.ok());
  CHECK((graph.error().code() == ErrorCode::kDeadlineExceeded ||
         graph.error().code() == ErrorCode::kUnavailable));
  CHECK_THAT(graph.error().message(), Catch::Contains(silent.address()));
  CHECK(Clock::now() - before < kSoon);
}

TEST_CASE("a server of another dataset is refused with both fingerprints", "[failure]") {
  const SmallCluster cluster(Memory(), 2, 2);
  const SmallCluster other(testing::TypedGraph(300, 200, 40, 5), 2, 2);
  const std::string mixed = cluster.ClusterFileWith(1, other.address(1));
  CheckError(Graph::Open(Options(mixed)), ErrorCode::kFailedPrecondition, other.address(1));
  GraphOptions mapped = Options(other.ClusterFileWith(1, cluster.address(1)));
  mapped.local_shards = {0};
  CheckError(Graph::Open(mapped), ErrorCode::kFailedPrecondition, cluster.address(1));
}

TEST_CASE("a server replaced by one of another dataset is caught at the next call", "[failure]") {
  SmallCluster cluster(Memory(), 2, 2);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  const testing::TempDir folder;
  const testing::MemoryGraph other = testing::TypedGraph(300, 200, 40, 5);
  VICINITY_REQUIRE_OK(WriteGraph(other, testing::Shuffled(other, 2, 23), folder.File("other")));
  cluster.Stop(1);
  cluster.Restart(1, folder.File("other"));
  // The channels come back by themselves, some tens of milliseconds later.
  const Clock::time_point before = Clock::now();
  ErrorCode code = ErrorCode::kUnavailable;
  while (code == ErrorCode::kUnavailable && Clock::now() - before < kSoon) {
    code = graph->Fetch(0, "features", cluster.GlobalIds(NodeTypeId{0})).error().code();
  }
  CHECK(code == ErrorCode::kFailedPrecondition);
}

TEST_CASE("a restarted server is picked up without reopening", "[failure]") {
  SmallCluster cluster(Memory(), 2, 2);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  const std::vector<int64_t> users = cluster.GlobalIds(NodeTypeId{0});
  const Rows rows = Value(graph->Fetch(0, "features", users));
  cluster.Stop(1);
  CHECK_FALSE(graph->Fetch(0, "features", users).ok());
  cluster.Restart(1);
  const Clock::time_point before = Clock::now();
  while (!graph->Fetch(0, "features", users).ok() && Clock::now() - before < kSoon) {
  }
  CHECK(Value(graph->Fetch(0, "features", users)).bytes == rows.bytes);
}

TEST_CASE("a server that comes back with smaller limits is asked for less at a time", "[failure]") {
  SmallCluster cluster(Memory(), 2, 1);
  GraphOptions options = Options(cluster.cluster_file());
  options.call_timeout = kSoon;  // one attempt is enough
  options.call_budget = kSoon;
  const std::unique_ptr<Graph> graph = Value(Graph::Open(options));
  const std::vector<int64_t> users = cluster.GlobalIds(NodeTypeId{0});
  const std::vector<int64_t> items = cluster.GlobalIds(NodeTypeId{1});
  const auto ask = [&] {
    return std::make_tuple(Value(graph->Fetch(0, "features", users)).bytes,
                           Value(graph->Sample(0, users, Spec(*graph), {})).nodes[0].ids,
                           Value(graph->UserIds(0, users)), Value(graph->UserNames(1, items)));
  };
  const auto before = ask();
  const int64_t calls = graph->traffic().calls;
  Limits small;
  small.max_ids = 7;
  small.max_sampled = 30;
  cluster.Stop(0);
  cluster.Restart(0, "", small);
  CHECK(ask() == before);
  CHECK(graph->traffic().calls - calls > 300 / 7);
  CHECK(graph->traffic().quarantines == 0);
}

TEST_CASE("a shard that its server does not have is not found at open", "[failure]") {
  const SmallCluster cluster(Memory(), 3, 3);
  const std::string swapped = cluster.ClusterFileWith(1, cluster.address(2));
  CheckError(Graph::Open(Options(swapped)), ErrorCode::kNotFound, "shard 1");
}

TEST_CASE("a cluster file for another number of shards is refused", "[failure]") {
  const SmallCluster cluster(Memory(), 2, 1);
  const testing::TempDir folder;
  const std::string path = folder.File("cluster.textproto");
  std::ofstream(path) << "data: '" << cluster.directory()
                      << "'\nnum_shards: 1\nservers { name: 's0'"
                      << " listen: '" << cluster.address(0) << "' shards: 0 }\n";
  CheckError(Graph::Open(Options(path)), ErrorCode::kFailedPrecondition, "2 shards");
}

TEST_CASE("unknown ids have an answer each, or an error that names them", "[failure]") {
  const SmallCluster cluster(Memory(), 4, 2);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  const std::vector<int64_t> answers =
      Value(graph->Resolve(0, std::vector<int64_t>{INT64_MIN, 123456789123, -1}));
  CHECK(answers == std::vector<int64_t>{-1, -1, -1});
  CHECK(Value(graph->Resolve(1, std::vector<std::string>{"nobody", ""})) ==
        std::vector<int64_t>{-1, -1});
  CheckError(graph->Fetch(0, "features", {0, 300, -5}), ErrorCode::kInvalidArgument, "300, -5");
  CheckError(graph->Sample(0, {0, 300}, Spec(*graph), {}), ErrorCode::kInvalidArgument, "300");
  CheckError(graph->UserIds(0, {-1}), ErrorCode::kInvalidArgument, "-1");
  CheckError(graph->Fetch(0, "wings", {0}), ErrorCode::kNotFound, "features");
  CheckError(graph->Fetch(7, "features", {0}), ErrorCode::kInvalidArgument, "7");
}

TEST_CASE("fanouts of nothing, below -1 or huge are refused before anybody is asked", "[failure]") {
  const SmallCluster cluster(Memory(), 2, 2);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  const int64_t calls = graph->traffic().calls;
  for (const int64_t fanout : {int64_t{0}, int64_t{-2}, kMaxFanout + 1, INT64_MAX}) {
    const SamplingSpec spec = SamplingSpec::Uniform(graph->schema(), {fanout});
    CheckError(graph->Sample(0, {0}, spec, {}), ErrorCode::kInvalidArgument, "");
  }
  CHECK(graph->traffic().calls == calls);
}

TEST_CASE("a forked child is told at once that it can neither use nor open a graph", "[failure]") {
  const SmallCluster cluster(Memory(), 2, 2);
  std::unique_ptr<Graph> graph = Value(Graph::Open(Options(cluster.cluster_file())));
  std::unique_ptr<Loader> loader = Value(Loader::Create(graph.get(), ForLoader(*graph)));
  REQUIRE(loader->StartEpoch(0).ok());
  std::promise<void> told;  // the graph has threads for such calls now
  const auto tell = [&told](const Result<Rows>&) { told.set_value(); };
  REQUIRE(graph->FetchAsync({0, "features", {0}}, tell).ok());
  REQUIRE(told.get_future().wait_for(kSoon) == std::future_status::ready);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a hang is an end by signal
    const bool refused =
        graph->Fetch(0, "features", {0}).error().code() == ErrorCode::kFailedPrecondition &&
        graph->FetchAsync({0, "features", {0}}, tell).error().code() ==
            ErrorCode::kFailedPrecondition &&
        loader->Next().error().code() == ErrorCode::kFailedPrecondition &&
        Graph::Open(Options(cluster.cluster_file())).error().code() ==
            ErrorCode::kFailedPrecondition;
    loader.reset();
    graph.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(Value(loader->Next()) != nullptr);  // the parent goes on
}

}  // namespace
}  // namespace vicinity
