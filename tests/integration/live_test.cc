// A live graph behind servers: what was written is what is read, by whoever reads, at any version.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/loader.h"
#include "client/query/query.h"
#include "client/query_loader.h"
#include "client/shards/fan_out.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "client/shards/traffic.h"
#include "client/types/result.h"
#include "client/types/version_name.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "sampler/rules/draw_spec.h"
#include "tests/contract/shard_access_contract.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/random_batches.h"
#include "tests/testing/graphs/shard_answers.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int32_t kUser = 0;
constexpr int32_t kKnows = 3;

template <typename Request>
absl::Status Ask(ShardAccess& shard, const Request& request) {
  FanOut calls;
  shard.Ask(request, nullptr, calls.Add());
  return calls.Wait();
}

std::unique_ptr<Graph> OpenGraph(const std::string& cluster_file) {
  GraphOptions options;
  options.cluster_file = cluster_file;
  options.call_timeout = std::chrono::seconds(60);
  options.call_budget = std::chrono::seconds(120);
  auto graph = Graph::Open(options);
  if (!graph.ok()) FAIL(graph.error().message());
  return *std::move(graph);
}

// A live cluster of 3 shards on 2 servers; and of each shard the same changes in this process, as
// another live shard and as a model.
class LiveSite {
 public:
  explicit LiveSite(uint64_t seed)
      : cluster_(testing::TypedGraph(40, 30, 12, seed), 3, 2, testing::SmallCluster::Kind::kLive),
        graph_(OpenGraph(cluster_.cluster_file())) {
    Dataset::Options options;
    options.verify_at_touch = true;
    options.grows = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(cluster_.directory(), options));
    for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
      auto here = std::make_unique<Here>(
          LiveBase{dataset_->schema(), dataset_->book(), *shard, dataset_->fingerprint()},
          cluster_.graph(), cluster_.placement(), seed + shard->id().value);
      VICINITY_ASSERT_OK_AND_ASSIGN(
          here->shard, LiveShard::Open(here->base, folder_.File(absl::StrCat(shard->id().value)),
                                       LiveShardOptions()));
      here_.push_back(std::move(here));
    }
  }

  // The same batch there and here.
  void Write(int32_t shard) {
    Here& here = *here_[shard];
    const proto::WriteBatch batch = here.batches.Batch();
    if (batch.ByteSizeLong() == 0) return;
    proto::WriteSession session;
    session.set_id("test");
    session.set_sequence(++here.sequence);
    AppliedBatch there;
    VICINITY_REQUIRE_OK(Ask(graph_->impl().router().shard({shard}),
                            ShardWrite{&session, &batch, Durability::kBuffered, &there}));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const AppliedBatch applied,
        here.shard->Apply(session, batch, Durability::kBuffered, absl::Now() + absl::Minutes(1)));
    here.model.Apply(here.base, batch);
    CHECK(there.version == applied.version);
    CHECK(there.first_nodes == applied.first_nodes);
    CHECK(there.first_edges == applied.first_edges);
    if (here.sequence % 7 != 0) return;
    AppliedBatch again;
    VICINITY_REQUIRE_OK(Ask(graph_->impl().router().shard({shard}),
                            ShardWrite{&session, &batch, Durability::kSync, &again}));
    CHECK(again.repeated);
    CHECK(again.version == applied.version);
    CHECK(again.first_edges == applied.first_edges);
  }

  // What a shard of `graph` says otherwise than the one here at this version; "" nothing.
  std::string Difference(const Graph& graph, int32_t shard, uint64_t version) {
    Here& here = *here_[shard];
    const auto view = here.shard->At(version);
    if (!view.ok()) return view.status().ToString();
    const auto mapped = MakeMappedShard(*dataset_, here.base.shard, &traffic_, view->get());
    std::vector<std::vector<uint64_t>> keys;
    for (size_t type = 0; type < dataset_->schema().node_types.size(); ++type) {
      keys.emplace_back();
      for (const auto& [key, node] : here.model.nodes(static_cast<int32_t>(type)).directory) {
        keys.back().push_back(key);
      }
    }
    return testing::Difference(
        testing::AnswersOf(dataset_->schema(), &graph.impl().router().shard({shard}), keys),
        testing::AnswersOf(dataset_->schema(), mapped.get(), keys));
  }

  int32_t num_shards() const { return static_cast<int32_t>(here_.size()); }
  uint64_t version(int32_t shard) const { return here_[shard]->shard->version(); }
  const testing::LiveModel& model(int32_t shard) const { return here_[shard]->model; }
  const Graph& graph() const { return *graph_; }
  testing::SmallCluster& cluster() { return cluster_; }
  void Reopen() { graph_ = OpenGraph(cluster_.cluster_file()); }

 private:
  struct Here {
    Here(LiveBase live_base, const testing::MemoryGraph& graph, const testing::Placement& placement,
         uint64_t seed)
        : base(std::move(live_base)), model(graph, placement, base), batches(base, model, seed) {}
    const LiveBase base;
    testing::LiveModel model;
    testing::RandomBatches batches;
    std::unique_ptr<LiveShard> shard;
    uint64_t sequence = 0;
  };

  testing::SmallCluster cluster_;
  const testing::TempDir folder_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Dataset> dataset_;
  TrafficCounters traffic_;
  std::vector<std::unique_ptr<Here>> here_;
};

TEST_CASE("a served shard with changes answers as the same changes do here, at every version",
          "[live]") {
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) {
    CAPTURE(seed);
    LiveSite site(seed);
    std::mt19937_64 random(seed);
    const VersionName files(0, 0);
    std::vector<std::vector<VersionName>> moments = {{files, files, files}};
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      site.Write(static_cast<int32_t>(random() % 3));
      moments.push_back({{site.version(0), 0}, {site.version(1), 0}, {site.version(2), 0}});
      if (step % 20 != 19) continue;
      for (int32_t shard = 0; shard < 3; ++shard) {
        REQUIRE(site.Difference(site.graph(), shard, site.version(shard)) == "");
      }
      const std::vector<VersionName> moment = moments[random() % moments.size()];
      auto then = site.graph().At(moment);
      REQUIRE(then.ok());
      for (int32_t shard = 0; shard < 3; ++shard) {
        REQUIRE(site.Difference(**then, shard, moment[shard].version) == "");
      }
    }
    // The servers end and begin again: there are the same versions, with the same answers.
    site.cluster().Restart(0);
    site.cluster().Restart(1);
    site.Reopen();
    const auto versions = site.graph().Versions();
    REQUIRE(versions.ok());
    CHECK(*versions == moments.back());
    for (const size_t at : {size_t{0}, moments.size() / 2, moments.size() - 1}) {
      CAPTURE(at);
      auto then = site.graph().At(moments[at]);
      REQUIRE(then.ok());
      for (int32_t shard = 0; shard < 3; ++shard) {
        REQUIRE(site.Difference(**then, shard, moments[at][shard].version) == "");
      }
    }
  }
}

TEST_CASE("a version that a shard has not come to is refused, naming both", "[live]") {
  LiveSite site(3);
  while (site.version(1) < 4) site.Write(1);
  const auto early = site.graph().At({0, 99, 0});
  REQUIRE_FALSE(early.ok());
  CHECK(early.error().code() == ErrorCode::kOutOfRange);
  CHECK_THAT(early.error().message(), Catch::Contains("4") && Catch::Contains("99"));
  const auto few = site.graph().At({0, 1});
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().code() == ErrorCode::kInvalidArgument);
  CHECK(site.graph().At({0, 4, 0}).ok());
}

TEST_CASE("lists of nodes have new ones and not those that are gone", "[live]") {
  LiveSite site(4);
  for (int step = 0; step < 150; ++step) site.Write(step % 3);
  bool any_gone = false;
  for (int32_t type = 0; type < 3; ++type) {
    CAPTURE(type);
    std::set<int64_t> there;
    for (int32_t shard = 0; shard < 3; ++shard) {
      for (const auto& [key, node] : site.model(shard).nodes(type).directory) {
        if (node >= 0) there.insert(node);
        any_gone |= node < 0;
      }
    }
    CHECK(*there.rbegin() >= site.graph().num_nodes(type));
    const auto nodes = site.graph().NodesOf(type, Split::kNone);
    REQUIRE(nodes.ok());
    CHECK(std::set<int64_t>(nodes->begin(), nodes->end()) == there);
    CHECK(nodes->size() == there.size());
  }
  CHECK(any_gone);
}

proto::WriteBatch NewUser(const Schema& schema, uint64_t key) {
  const NodeTypeSpec& user = schema.node_types[kUser];
  proto::WriteBatch batch;
  proto::NewNodes& nodes = *batch.add_new_nodes();
  nodes.set_node_type(kUser);
  nodes.add_keys(key);
  for (const ColumnSpec& column : user.columns) {
    nodes.add_columns()->set_rows(std::string(column.row_bytes(), '\1'));
  }
  for (size_t i = 0; i < user.ragged.size(); ++i) nodes.add_ragged()->add_sizes(0);
  return batch;
}

TEST_CASE("new nodes are sampled and read like others, the same for one shard and three",
          "[live]") {
  std::vector<std::vector<int64_t>> found;  // by user ids
  for (const int32_t num_shards : {1, 3}) {
    testing::SmallCluster cluster(testing::TypedGraph(40, 30, 12, 9), num_shards, 1,
                                  testing::SmallCluster::Kind::kLive);
    const auto graph = OpenGraph(cluster.cluster_file());
    const ShardRouter& router = graph->impl().router();
    std::vector<uint64_t> sequence(num_shards, 0);
    const auto write = [&](ShardId shard, const proto::WriteBatch& batch) {
      proto::WriteSession session;
      session.set_id("w");
      session.set_sequence(++sequence[shard.value]);
      AppliedBatch applied;
      VICINITY_REQUIRE_OK(
          Ask(router.shard(shard), ShardWrite{&session, &batch, Durability::kBuffered, &applied}));
      return applied;
    };
    std::vector<int64_t> users;
    for (uint64_t key = 1'000'000; key < 1'000'020; ++key) {
      const auto applied = write(router.book().DirectoryShard(key), NewUser(graph->schema(), key));
      REQUIRE(applied.first_nodes.size() == 1);
      users.push_back(applied.first_nodes[0]);
      CHECK(router.book().OwnerOf({kUser}, {users.back()}) == router.book().DirectoryShard(key));
    }
    // Each is known by all that came before it, and by two that are in the files.
    const auto old = graph->NodesOf(kUser, Split::kTrain);
    REQUIRE(old.ok());
    for (size_t i = 1; i < users.size(); ++i) {
      proto::WriteBatch batch;
      proto::NewEdges& edges = *batch.add_new_edges();
      edges.set_edge_type(kKnows);
      for (size_t k = 0; k < i; ++k) edges.add_sources(users[k]);
      for (size_t k = 0; k < 2; ++k) edges.add_sources((*old)[(i + k) % old->size()]);
      while (edges.targets_size() < edges.sources_size()) edges.add_targets(users[i]);
      write(router.book().OwnerOf({kUser}, {users[i]}), batch);
    }
    std::vector<int64_t> keys;
    for (int64_t key = 1'000'000; key < 1'000'020; ++key) keys.push_back(key);
    const auto resolved = graph->Resolve(kUser, keys);
    REQUIRE(resolved.ok());
    CHECK(*resolved == users);
    const auto labels = graph->Fetch(kUser, "label", users);
    REQUIRE(labels.ok());
    CHECK(labels->bytes.size() == 80);
    CHECK(std::all_of(labels->bytes.begin(), labels->bytes.end(), [](char c) { return c == 1; }));
    const SamplingSpec spec = SamplingSpec::Uniform(graph->schema(), {3, 2});
    const auto sampled = graph->Sample(kUser, users, spec, DrawId{7, 0, 3});
    REQUIRE(sampled.ok());
    const auto names = graph->UserIds(kUser, sampled->nodes[kUser].ids);
    REQUIRE(names.ok());
    CHECK(names->size() > users.size());
    found.push_back(*names);
    const auto degrees = graph->Degrees(kKnows, users);
    REQUIRE(degrees.ok());
    CHECK((*degrees)[0] == 0);
    for (size_t i = 1; i < users.size(); ++i) CHECK((*degrees)[i] == static_cast<int64_t>(i + 2));
    WalkSpec walk;
    walk.metapath = {kKnows};
    walk.length = 3;
    const auto walks = graph->Walk(users, walk, DrawId{});
    REQUIRE(walks.ok());
    // Beyond what there is nothing is, whoever says so.
    const int64_t far = users.back() + 3 * 100;
    for (const Error& error : {graph->Fetch(kUser, "label", {far}).error(),
                               graph->Sample(kUser, {far}, spec, DrawId{}).error()}) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      CHECK_THAT(error.message(), Catch::Contains("does not exist"));
    }
  }
  CHECK(found[0] == found[1]);
}

// That what is drawn over the changes here is right, tests/sampler/filtered_lists_test.cc says.
TEST_CASE(
    "draws by time, on conditions and by LABOR are those of the same changes here, also once "
    "conditions are remembered",
    "[live]") {
  testing::RandomGraphOptions shape;
  shape.num_nodes = 90;
  shape.num_edges = 2000;
  shape.weights = true;
  shape.times = true;
  shape.time_order = GENERATE(false, true);
  testing::SmallCluster cluster(testing::RandomGraph(shape), 1, 1,
                                testing::SmallCluster::Kind::kLive);
  const auto graph = OpenGraph(cluster.cluster_file());
  ShardAccess& there = graph->impl().router().shard({0});
  const testing::TempDir folder;
  const LiveBase base = testing::BaseOf(cluster.dataset());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto here,
                                LiveShard::Open(base, folder.File("changes"), LiveShardOptions()));
  proto::WriteSession session;
  session.set_id("test");
  TrafficCounters traffic;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto where,
                                ResolveByEdgeType(graph->schema(), "weight < 0.5 or time = 2"));
  std::vector<DrawSpec> rules(6);
  rules[0].where = where[0];
  rules[1].where = where[0];
  rules[1].time_column = 1;
  rules[2].time_column = 1;
  rules[2].last = true;
  rules[3].labor = true;
  rules[3].where = where[0];
  rules[4].time_column = 1;
  rules[4].weighted = true;
  for (uint64_t round = 0; round < 12; ++round) {
    CAPTURE(shape.time_order, round);
    const std::shared_ptr<const LiveView> view = here->Latest();
    const auto mapped = MakeMappedShard(cluster.dataset(), base.shard, &traffic, view.get());
    REQUIRE(
        testing::Difference(
            testing::SampleByRules({&cluster.graph(), &cluster.placement(), {mapped.get()}}, rules),
            testing::SampleByRules({&cluster.graph(), &cluster.placement(), {&there}}, rules)) ==
        "");
    for (int i = 0; i < 10; ++i) {
      session.set_sequence(session.sequence() + 1);
      const proto::WriteBatch batch = testing::NumberedBatch(base, session.sequence());
      AppliedBatch applied;
      VICINITY_REQUIRE_OK(
          Ask(there, ShardWrite{&session, &batch, Durability::kBuffered, &applied}));
      VICINITY_REQUIRE_OK(
          here->Apply(session, batch, Durability::kBuffered, absl::Now() + absl::Minutes(1))
              .status());
    }
  }
}

TEST_CASE("a loader stays at its versions whatever is written", "[live]") {
  LiveSite site(5);
  for (int step = 0; step < 30; ++step) site.Write(step % 3);
  LoaderOptions options;
  options.split = Split::kTrain;
  options.batch_size = 4;
  options.sampling = SamplingSpec::Uniform(site.graph().schema(), {4, 3});
  options.columns = {{"user", "features"}};
  const auto read = [](Loader& loader) {
    std::vector<std::string> batches;
    REQUIRE(loader.StartEpoch(0).ok());
    for (;;) {
      auto batch = loader.Next();
      if (!batch.ok()) FAIL(batch.error().message());
      if (*batch == nullptr) return batches;
      std::string bytes;
      for (const SampledNodes& nodes : (*batch)->graph.nodes) {
        bytes.append(reinterpret_cast<const char*>(nodes.ids.data()),
                     nodes.ids.size() * sizeof(int64_t));
      }
      const auto& rows = (*batch)->columns[0].bytes;
      batches.push_back(bytes + std::string(rows.data(), rows.data() + rows.size()));
    }
  };
  auto loader = Loader::Create(&site.graph(), options);
  if (!loader.ok()) FAIL(loader.error().message());
  const std::vector<std::string> before = read(**loader);
  CHECK(before.size() > 2);
  for (int step = 0; step < 60; ++step) site.Write(step % 3);
  CHECK(read(**loader) == before);
  auto another = Loader::Create(&site.graph(), options);
  REQUIRE(another.ok());
  CHECK(read(**another) != before);
}

TEST_CASE("a query's loader stays at its versions, what its steps draw from included", "[live]") {
  LiveSite site(5);
  for (int step = 0; step < 30; ++step) site.Write(step % 3);
  const auto query = Query::Parse(
      "src = nodes(user, $seeds, columns=[features])\n"
      "near = neighbors(src, knows, 4, columns=[features])\n"
      "neg = negatives(src, knows, 3, columns=[features])\n"
      "any = nodes(user, count=5, columns=[features])\n");
  if (!query.ok()) FAIL(query.error().message());
  LoaderOptions options;
  options.split = Split::kTrain;
  options.batch_size = 4;
  const auto read = [](QueryLoader& loader) {
    std::vector<std::string> batches;
    REQUIRE(loader.StartEpoch(0).ok());
    for (;;) {
      auto batch = loader.Next();
      if (!batch.ok()) FAIL(batch.error().message());
      if (*batch == nullptr) return batches;
      std::string& bytes = batches.emplace_back();
      for (const StepAnswer& step : (*batch)->answer.steps) {
        bytes.append(reinterpret_cast<const char*>(step.nodes.data()),
                     step.nodes.size() * sizeof(int64_t));
        bytes.append(step.columns[0].bytes.begin(), step.columns[0].bytes.end());
      }
    }
  };
  auto loader = QueryLoader::Create(&site.graph(), *query, options);
  if (!loader.ok()) FAIL(loader.error().message());
  const std::vector<std::string> before = read(**loader);
  CHECK(before.size() > 2);
  for (int step = 0; step < 60; ++step) site.Write(step % 3);
  CHECK(read(**loader) == before);
  auto another = QueryLoader::Create(&site.graph(), *query, options);
  REQUIRE(another.ok());
  CHECK(read(**another) != before);
}

TEST_CASE("a shard whose changes are damaged is out of service with its file, others go on",
          "[live]") {
  LiveSite site(6);
  for (int step = 0; step < 30; ++step) site.Write(step % 3);
  site.cluster().Stop(0);
  // Shard 0 is of server 0, as is shard 2.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(site.cluster().changes() +
                                                                         "/shard-00000/db")) {
    if (entry.path().extension() != ".log") continue;
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  // What was cut off had been on disk: its number is known.
  site.cluster().Restart(0);
  site.Reopen();
  ShardVersion version;
  const absl::Status lost = Ask(site.graph().impl().router().shard({0}), ShardBarrier{&version});
  CHECK(lost.code() == absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(lost.message()), Catch::Contains("shard-00000"));
  for (const int32_t shard : {1, 2}) {
    CHECK(site.Difference(site.graph(), shard, site.version(shard)) == "");
  }
}

TEST_CASE("what a read-only server is asked for changes says how it would take them", "[live]") {
  testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 1, 1);
  const auto graph = OpenGraph(cluster.cluster_file());
  CHECK_FALSE(graph->is_live());
  proto::WriteSession session;
  session.set_id("w");
  session.set_sequence(1);
  const proto::WriteBatch batch = NewUser(graph->schema(), 77);
  AppliedBatch applied;
  const absl::Status refused = Ask(graph->impl().router().shard({0}),
                                   ShardWrite{&session, &batch, Durability::kSync, &applied});
  CHECK(refused.code() == absl::StatusCode::kUnimplemented);
  CHECK_THAT(std::string(refused.message()), Catch::Contains("--changes"));
  const auto versions = graph->Versions();
  REQUIRE(versions.ok());
  CHECK(*versions == std::vector<VersionName>{VersionName(0, 0)});
}

}  // namespace
}  // namespace vicinity
