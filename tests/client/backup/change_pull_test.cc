// Servers of one shard that have not come equally far, as where some are copied anew: what is known
// to be there is read from those that have it.
#include "client/backup/change_pull.h"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_values.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "server/server.h"
#include "server/server_options.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr ShardId kShard{0};
constexpr uint64_t kThere = 10;  // versions that there are, at whoever has all

class ChangePullTest {
 protected:
  ChangePullTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::InUserOrder(graph), data()));
  }
  std::string data() const { return folder_.File("graph"); }

  // Nobody brings a server what it has not; in turn each is asked first.
  void Serve(const std::vector<uint64_t>& versions) {
    std::string cluster = absl::StrCat("data: '", data(), "' num_shards: 1 changes: 'none'\n");
    for (const uint64_t count : versions) {
      ServerOptions options;
      options.data = data();
      options.changes = folder_.File(absl::StrCat("changes-", servers_.size()));
      Write(options.changes, count);
      VICINITY_ASSERT_OK_AND_ASSIGN(auto server, Server::Start(options));
      absl::StrAppend(&cluster, "servers { name: 's", servers_.size(), "' listen: '",
                      server->address().ToString(), "' shards: 0 }\n");
      servers_.push_back(std::move(server));
    }
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("cluster.textproto"), cluster));
    GraphOptions options;
    options.cluster_file = folder_.File("cluster.textproto");
    options.connect_timeout = std::chrono::seconds(60);
    options.call_timeout = std::chrono::seconds(60);
    options.call_budget = std::chrono::seconds(60);
    options.hedge = false;
    auto graph = Graph::Open(options);
    if (!graph.ok()) FAIL(graph.error().message());
    graph_ = *std::move(graph);
  }

  // Takes versions behind `after` up to `until`; they are those that were written.
  absl::Status Pull(uint64_t after, uint64_t until, Reach reach) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto files, Dataset::Open(data()));
    const LiveBase base = testing::BaseOf(*files);
    taken_ = after;
    return PullChanges(graph_->impl().router(), kShard, after, std::nullopt, until, reach,
                       [&](const proto::Change& change) {
                         CHECK(change.version() == ++taken_);
                         const proto::WriteBatch written = testing::NumberedBatch(base, taken_);
                         CHECK(change.batch().new_edges(0).SerializeAsString() ==
                               written.new_edges(0).SerializeAsString());
                         CHECK(change.batch().node_rows(0).values().rows().size() ==
                               written.node_rows(0).values().rows().size());
                         return absl::OkStatus();
                       });
  }

  const testing::TempDir folder_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<Graph> graph_;
  uint64_t taken_ = 0;  // the last version that Pull has taken

 private:
  // The first `count` versions, by batches that are everybody's.
  void Write(const std::string& changes, uint64_t count) const {
    Dataset::Options options;
    options.grows = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto files, Dataset::Open(data(), options));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto live, LiveDataset::Open(*files, changes, {}));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, live->Find(kShard));
    for (uint64_t n = 1; n <= count; ++n) {
      proto::WriteSession session;
      session.set_id("w");
      session.set_sequence(n);
      VICINITY_REQUIRE_OK(shard->Apply(session, testing::NumberedBatch(testing::BaseOf(*files), n),
                                       Durability::kBuffered, absl::Now() + absl::Minutes(1)));
    }
  }
};

TEST_CASE_METHOD(ChangePullTest,
                 "what is known to be there is read, though servers are asked that lack it",
                 "[change_pull]") {
  Serve(GENERATE(std::vector<uint64_t>{0, kThere}, std::vector<uint64_t>{kThere, 0},
                 std::vector<uint64_t>{0, 3, kThere}, std::vector<uint64_t>{3, 0, kThere},
                 std::vector<uint64_t>{3, 3, kThere}, std::vector<uint64_t>{9, 9, kThere}));
  for (const uint64_t after : std::array<uint64_t, 3>{0, 3, 9}) {
    VICINITY_CHECK_OK(Pull(after, kThere, Reach::kKnown));
    CHECK(taken_ == kThere);
  }
}

TEST_CASE_METHOD(ChangePullTest,
                 "what a reader asks for on the off chance ends where a server does",
                 "[change_pull]") {
  Serve({3});
  const absl::Status perhaps = Pull(0, kThere, Reach::kPerhaps);
  VICINITY_CHECK_CODE(perhaps, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(perhaps.message()), Catch::Contains("no version 4"));
  CHECK(taken_ == 3);
  // What is known and at no server is no page that is shorter.
  VICINITY_CHECK_CODE(Pull(0, kThere, Reach::kKnown), absl::StatusCode::kOutOfRange);
  CHECK(taken_ == 0);
  VICINITY_CHECK_OK(Pull(0, 3, Reach::kKnown));
  CHECK(taken_ == 3);
}

}  // namespace
}  // namespace vicinity
