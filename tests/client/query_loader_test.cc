// Answers of a query through the public header: from a directory, and from servers.
#include "client/query_loader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "client/types/loader_values.h"
#include "tests/client/query/run_query.h"
#include "tests/client/routed_graph.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

using testing::Describe;
using testing::RoutedGraph;
using testing::SmallCluster;

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

constexpr const char* kText =
    "src = nodes(user, $seeds, columns=[features])\n"
    "friends = neighbors(src, knows, 4, edge_ids=true, columns=[features, label])\n"
    "theirs = neighbors(friends, knows, where=\"label >= 1\", order_by=id, limit=3, "
    "columns=[features])\n"
    "items = neighbors(friends, bought_by, 3, columns=[features])\n"
    "bought = neighbors(items, buys, 2, by=weight, edge_columns=[weight])\n"
    "way = walk(src, knows, 5, columns=[features])\n"
    "most = visited(src, knows, 4, length=3, num_walks=10, columns=[label])\n"
    "top = ppr(src, knows, 6, columns=[features])\n"
    "neg = negatives(src, buys, 3, columns=[features])\n"
    "drawn = layer(src, knows, 20, columns=[features])\n"
    "sub = induced([src, friends], knows, edge_ids=true, columns=[label])\n";

testing::MemoryGraph Typed() { return testing::TypedGraph(150, 90, 20, 6); }

LoaderOptions Options() {
  LoaderOptions options;
  options.split = Split::kNone;
  options.batch_size = 20;
  options.run_seed = 11;
  options.sample_threads = 2;
  return options;
}

// Of an epoch, each compared with what the query gives when it is asked once.
int64_t CheckEpoch(const Graph& graph, QueryLoader* loader, int64_t epoch) {
  const std::unique_ptr<PreparedQuery> query = Value(PreparedQuery::Make(&graph, loader->query()));
  CHECK(query->node_types() == loader->node_types());
  REQUIRE(loader->StartEpoch(epoch).ok());
  const std::vector<int64_t> all = Value(graph.NodesOf(0, Split::kNone));
  int64_t steps = 0;
  while (const std::unique_ptr<QueryBatch> batch = Value(loader->Next())) {
    CHECK(batch->step == steps++);
    CHECK(batch->epoch == epoch);
    CHECK(batch->batches_done == steps);
    CHECK(batch->draw.run_seed == 11);
    const std::vector<int64_t>& seeds = batch->inputs.at("seeds");
    REQUIRE(batch->input_positions.size() == seeds.size());
    REQUIRE(batch->labels.size() == seeds.size());
    for (size_t i = 0; i < seeds.size(); ++i) {
      CHECK(all[batch->input_positions[i]] == seeds[i]);
    }
    const QueryAnswer alone = Value(query->Run(batch->inputs, batch->draw));
    REQUIRE(Describe(batch->answer) == Describe(alone));
  }
  CHECK(steps == loader->steps_per_epoch());
  CHECK(Value(loader->Next()) == nullptr);  // it stays ended
  return steps;
}

TEST_CASE("batches are what the query gives for their seeds and draws", "[query_loader]") {
  const RoutedGraph on_disk(Typed(), 3);
  GraphOptions directory;
  directory.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(directory));
  const std::unique_ptr<QueryLoader> loader =
      Value(QueryLoader::Create(graph.get(), Value(Query::Parse(kText)), Options()));
  CHECK(loader->num_seeds() == 150);
  CHECK(loader->Next().error().code() == ErrorCode::kFailedPrecondition);
  for (int64_t epoch = 0; epoch < 2; ++epoch) CHECK(CheckEpoch(*graph, loader.get(), epoch) == 8);
  CHECK(loader->stats().rows_remote == 0);
}

TEST_CASE("from servers of any number of shards they are the same, and held rows do not come again",
          "[query_loader]") {
  const int32_t num_shards = GENERATE(1, 2, 4);
  const SmallCluster cluster(Typed(), num_shards, num_shards == 4 ? 2 : 1);
  GraphOptions served;
  served.cluster_file = cluster.cluster_file();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(served));
  const std::unique_ptr<QueryLoader> loader =
      Value(QueryLoader::Create(graph.get(), Value(Query::Parse(kText)), Options()));
  for (int64_t epoch = 0; epoch < 2; ++epoch) CheckEpoch(*graph, loader.get(), epoch);
  const LoaderStats stats = loader->stats();
  CHECK(stats.rows_local == 0);
  // All rows of users' two columns and of items' one, at most.
  CHECK(stats.rows_remote <= 2 * 150 + 90);
  CHECK(stats.rows_cached > 5 * stats.rows_remote);
}

TEST_CASE("a stopped server is an error of its batch, and the step goes on when it is there again",
          "[query_loader]") {
  SmallCluster cluster(Typed(), 2, 2);
  GraphOptions served;
  served.cluster_file = cluster.cluster_file();
  served.call_timeout = std::chrono::seconds(2);
  const std::unique_ptr<Graph> graph = Value(Graph::Open(served));
  LoaderOptions options = Options();
  options.batch_size = 5;
  options.fetch_ahead = 1;
  options.sample_ahead = 0;
  const std::unique_ptr<QueryLoader> loader =
      Value(QueryLoader::Create(graph.get(), Value(Query::Parse(kText)), options));
  REQUIRE(loader->StartEpoch(0).ok());
  int64_t step = 0;
  Error error;
  while (error.ok()) {
    if (step == 2) cluster.Stop(1);
    const Result<std::unique_ptr<QueryBatch>> next = loader->Next();
    error = next.error();
    if (next.ok()) REQUIRE((*next)->step == step++);
    REQUIRE(step < loader->steps_per_epoch());
  }
  CHECK((error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kDeadlineExceeded));
  CHECK_THAT(error.message(), Catch::Contains("batch " + std::to_string(step) + " of epoch 0"));
  cluster.Restart(1);
  const std::unique_ptr<PreparedQuery> query =
      Value(PreparedQuery::Make(graph.get(), loader->query()));
  REQUIRE(loader->StartEpoch(0, step).ok());
  while (const std::unique_ptr<QueryBatch> batch = Value(loader->Next())) {
    REQUIRE(batch->step == step++);
    const QueryAnswer alone = Value(query->Run(batch->inputs, batch->draw));
    REQUIRE(Describe(batch->answer) == Describe(alone));
  }
  CHECK(step == loader->steps_per_epoch());
}

TEST_CASE("errors of query loaders are those of the library", "[query_loader]") {
  const RoutedGraph on_disk(Typed(), 1);
  GraphOptions directory;
  directory.directory = on_disk.directory();
  const std::unique_ptr<Graph> graph = Value(Graph::Open(directory));
  const auto code = [&](const Graph* of, const std::string& text, const LoaderOptions& options) {
    return QueryLoader::Create(of, Value(Query::Parse(text)), options).error().code();
  };
  CHECK(code(nullptr, kText, Options()) == ErrorCode::kInvalidArgument);
  CHECK(code(graph.get(), "a = nodes(user)", Options()) == ErrorCode::kInvalidArgument);
  CHECK(code(graph.get(), "a = nodes(paper, $a)", Options()) == ErrorCode::kNotFound);
  LoaderOptions options = Options();
  options.columns = {{"user", "label"}};
  CHECK(code(graph.get(), kText, options) == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
