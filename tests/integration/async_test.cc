// Graph::SampleAsync and FetchAsync over real servers, which answer, or do not.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/graph.h"
#include "proto/cluster/host_port.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using testing::ChaosProxy;
using testing::SmallCluster;

// A hang ends there. No call here would end by itself before, and none is to take a tenth of it.
constexpr std::chrono::seconds kNever(300);

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

// What a call gives, for somebody who waits after all.
template <typename T>
class Answer {
 public:
  std::function<void(Result<T>)> Callback() const {
    return [promise = promise_](Result<T> answer) { promise->set_value(std::move(answer)); };
  }
  Result<T> Get() {
    REQUIRE(future_.wait_for(kNever) == std::future_status::ready);
    return future_.get();
  }
  ErrorCode Code() { return Get().error().code(); }

 private:
  const std::shared_ptr<std::promise<Result<T>>> promise_ =
      std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> future_ = promise_->get_future();
};

// Two shards behind a server each; that of shard 1 may fall silent.
class AsyncTest {
 protected:
  AsyncTest() {
    VICINITY_ASSERT_OK_AND_ASSIGN(const HostPort server, ParseHostPort(cluster_.address(1)));
    VICINITY_ASSERT_OK_AND_ASSIGN(proxy_, ChaosProxy::Start(server, 1));
    options_.cluster_file = cluster_.ClusterFileWith(1, proxy_->address().ToString());
    options_.connect_timeout = kNever;
    options_.call_timeout = kNever;
    options_.call_budget = kNever;
    options_.hedge = false;
  }
  ~AsyncTest() { proxy_->Heal(); }

  std::unique_ptr<Graph> Open() const { return Value(Graph::Open(options_)); }
  void FallSilent() {
    testing::Toxics toxics;
    toxics.stall = true;
    proxy_->SetBoth(toxics);
  }
  FetchRequest AllRows() const {
    FetchRequest request;
    request.column = "features";
    request.nodes = users_;
    request.timeout = kNever;
    return request;
  }
  SampleRequest AllSeeds(const Graph& graph, uint64_t batch) const {
    SampleRequest request;
    request.seeds = {{0, users_}, {1, {5, 5, 0}}};
    request.spec = SamplingSpec::Uniform(graph.schema(), {4, 3});
    request.draw.batch = batch;
    request.detail = {true, true};
    request.timeout = kNever;
    return request;
  }

  const SmallCluster cluster_{testing::TypedGraph(300, 200, 40, 4), 2, 2};
  const std::vector<int64_t> users_ = cluster_.GlobalIds(NodeTypeId{0});
  std::unique_ptr<ChaosProxy> proxy_;
  GraphOptions options_;
};

TEST_CASE_METHOD(AsyncTest, "answers are those of Sample and Fetch, to the byte", "[async]") {
  constexpr int kThreads = 4;
  constexpr int kEach = 20;
  const std::unique_ptr<Graph> graph = Open();
  std::array<std::array<Answer<SampledGraph>, kEach>, kThreads> samples;
  std::array<std::array<Answer<Rows>, kEach>, kThreads> rows;
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        FetchRequest fetch = AllRows();
        fetch.nodes.resize(fetch.nodes.size() - i);
        if (!graph->SampleAsync(AllSeeds(*graph, i), samples[t][i].Callback()).ok()) ++refused;
        if (!graph->FetchAsync(std::move(fetch), rows[t][i].Callback()).ok()) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(refused == 0);
  for (int i = 0; i < kEach; ++i) {
    const SampleRequest asked = AllSeeds(*graph, i);
    const std::string sampled =
        testing::Describe(Value(graph->Sample(asked.seeds, asked.spec, asked.draw, asked.detail)));
    std::vector<int64_t> nodes(users_.begin(), users_.end() - i);
    const Rows fetched = Value(graph->Fetch(0, "features", nodes));
    for (int t = 0; t < kThreads; ++t) {
      CHECK(testing::Describe(Value(samples[t][i].Get())) == sampled);
      const Rows got = Value(rows[t][i].Get());
      CHECK(got.bytes == fetched.bytes);
      CHECK(got.num_rows == fetched.num_rows);
      CHECK(got.spec.name == fetched.spec.name);
    }
  }
}

TEST_CASE_METHOD(AsyncTest, "what Sample and Fetch refuse is the answer", "[async]") {
  const std::unique_ptr<Graph> graph = Open();
  Answer<Rows> no_column;
  FetchRequest fetch = AllRows();
  fetch.column = "wings";
  Value(graph->FetchAsync(fetch, no_column.Callback()));
  CHECK(no_column.Code() == ErrorCode::kNotFound);
  Answer<SampledGraph> no_node;
  SampleRequest sample = AllSeeds(*graph, 0);
  sample.seeds[1].ids = {1 << 20};
  Value(graph->SampleAsync(sample, no_node.Callback()));
  CHECK(no_node.Code() == ErrorCode::kInvalidArgument);
  Answer<SampledGraph> no_time;
  sample.timeout = milliseconds(0);
  CHECK(graph->SampleAsync(sample, no_time.Callback()).error().code() ==
        ErrorCode::kInvalidArgument);
  CHECK(graph->FetchAsync(AllRows(), nullptr).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(AsyncTest, "calls of a silent server end by deadline and by Cancel", "[async]") {
  const std::unique_ptr<Graph> graph = Open();
  FallSilent();
  Answer<Rows> rows;
  Answer<SampledGraph> sampled;
  const AsyncCall fetching = Value(graph->FetchAsync(AllRows(), rows.Callback()));
  const AsyncCall sampling = Value(graph->SampleAsync(AllSeeds(*graph, 0), sampled.Callback()));
  Answer<SampledGraph> late;
  SampleRequest brief = AllSeeds(*graph, 0);
  brief.timeout = milliseconds(50);
  Value(graph->SampleAsync(brief, late.Callback()));
  CHECK(late.Code() == ErrorCode::kDeadlineExceeded);
  fetching.Cancel();
  CHECK(rows.Code() == ErrorCode::kCancelled);
  sampling.Cancel();
  CHECK(sampled.Code() == ErrorCode::kCancelled);
}

TEST_CASE_METHOD(AsyncTest, "calls end in line as well, and one too many is refused", "[async]") {
  options_.async_threads = 1;
  options_.max_async_calls = 3;
  const std::unique_ptr<Graph> graph = Open();
  FallSilent();
  Answer<Rows> working;
  Answer<Rows> late;
  Answer<Rows> cancelled;
  Answer<Rows> refused;
  const AsyncCall first = Value(graph->FetchAsync(AllRows(), working.Callback()));
  const AsyncCall second = Value(graph->FetchAsync(AllRows(), cancelled.Callback()));
  FetchRequest brief = AllRows();
  brief.timeout = milliseconds(50);
  CHECK(graph->FetchAsync(brief, late.Callback()).ok());
  CHECK(late.Code() == ErrorCode::kDeadlineExceeded);
  // It is out of line.
  Answer<Rows> third;
  const AsyncCall last = Value(graph->FetchAsync(AllRows(), third.Callback()));
  CHECK(graph->FetchAsync(AllRows(), refused.Callback()).error().code() ==
        ErrorCode::kResourceExhausted);
  second.Cancel();
  CHECK(cancelled.Code() == ErrorCode::kCancelled);
  last.Cancel();
  CHECK(third.Code() == ErrorCode::kCancelled);
  first.Cancel();
  CHECK(working.Code() == ErrorCode::kCancelled);
  proxy_->Heal();
  Answer<Rows> healed;
  Value(graph->FetchAsync(AllRows(), healed.Callback()));
  CHECK(Value(healed.Get()).num_rows == 300);
}

TEST_CASE_METHOD(AsyncTest, "a callback may ask the graph again, waiting or not", "[async]") {
  options_.async_threads = 1;
  options_.max_async_calls = 1;
  const std::unique_ptr<Graph> graph = Open();
  Answer<Rows> waited;
  Answer<Rows> chained;
  Value(graph->FetchAsync(AllRows(), [&](const Result<Rows>& /*rows*/) {
    waited.Callback()(graph->Fetch(0, "features", users_));
    const Result<AsyncCall> next = graph->FetchAsync(AllRows(), chained.Callback());
    if (!next.ok()) chained.Callback()(next.error());
  }));
  CHECK(Value(waited.Get()).bytes == Value(chained.Get()).bytes);
}

TEST_CASE_METHOD(AsyncTest, "a graph that goes ends its calls first", "[async]") {
  constexpr int kCalls = 40;
  options_.async_threads = 4;
  std::unique_ptr<Graph> graph = Open();
  const Graph* const asked = graph.get();
  FallSilent();
  std::array<ErrorCode, kCalls> told{};
  std::atomic<int> begun_in_callbacks{0};
  std::vector<AsyncCall> calls;
  for (int i = 0; i < kCalls; ++i) {
    calls.push_back(Value(graph->FetchAsync(AllRows(), [&, i](const Result<Rows>& rows) {
      told[i] = rows.error().code();
      // It is there for callbacks still, but begins no calls any more.
      const auto next = asked->FetchAsync(AllRows(), [](const Result<Rows>&) {});
      if (next.ok() || next.error().code() != ErrorCode::kCancelled) ++begun_in_callbacks;
    })));
  }
  graph.reset();
  for (const ErrorCode code : told) CHECK(code == ErrorCode::kCancelled);
  CHECK(begun_in_callbacks == 0);
  for (const AsyncCall& call : calls) call.Cancel();
}

}  // namespace
}  // namespace vicinity
