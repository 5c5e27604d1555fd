#include "partition/dataset/ranking.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "partition/dataset/manifest.h"
#include "partition/schema/sampling_spec.h"
#include "partition/writing/audit.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;
using Orders = std::vector<std::vector<RankedNodes>>;
using Home = std::vector<int32_t>;

proto::Ranking Description(const std::string& name, const std::vector<Home>& homes) {
  proto::Ranking description;
  description.set_name(name);
  description.set_seeds("train");
  description.set_batch_size(32);
  for (const Home& home : homes) {
    description.add_homes()->mutable_shards()->Add(home.begin(), home.end());
  }
  return description;
}

// Homes {0}, {0, 2} and {1}, over the three types of a typed graph.
const std::vector<Home> kHomes = {{0}, {0, 2}, {1}};

Orders ThreeHomes() {
  return {{{{3, 1}, {0.5f, 0.25f}}, {{}, {}}, {{0}, {1.0f}}},
          {{{9, 8, 7}, {0.5f, 0.5f, 0.125f}}, {{4}, {0.1f}}, {{}, {}}},
          {{{0}, {1e-30f}}, {{1, 2}, {1.0f, 1.0f}}, {{2, 1, 0}, {0.3f, 0.2f, 0.1f}}}};
}

class WrittenSet {
 public:
  WrittenSet() {
    const testing::MemoryGraph graph = testing::TypedGraph(20, 10, 5, 1);
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 1), path()));
  }
  std::string path() const { return dir_.File("set"); }
  std::unique_ptr<Dataset> Open() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Dataset> dataset, Dataset::Open(path()));
    return dataset;
  }

 private:
  TempDir dir_;
};

TEST_CASE("rankings read back for every home and type", "[partition]") {
  const WrittenSet set;
  const uint64_t fingerprint = set.Open()->fingerprint();
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("default", kHomes), ThreeHomes()));
  VICINITY_CHECK_OK(VerifyDataset(set.path(), NoProgress()));
  const std::unique_ptr<Dataset> dataset = set.Open();
  CHECK(dataset->fingerprint() == fingerprint);
  REQUIRE(dataset->manifest().rankings_size() == 1);
  CHECK(dataset->manifest().rankings(0).batch_size() == 32);
  const Orders orders = ThreeHomes();
  for (size_t h = 0; h < kHomes.size(); ++h) {
    for (int32_t t = 0; t < 3; ++t) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> ranking,
                                    Ranking::Open(*dataset, kDefaultRanking, kHomes[h], {t}));
      REQUIRE(ranking->size() == static_cast<int64_t>(orders[h][t].nodes.size()));
      for (int64_t i = 0; i < ranking->size(); ++i) {
        CHECK(ranking->node(i).value == orders[h][t].nodes[i]);
        CHECK(ranking->probability(i) == orders[h][t].probabilities[i]);
      }
    }
  }
}

TEST_CASE("what was not ranked is not found, and the text says what was", "[partition]") {
  const WrittenSet set;
  VICINITY_CHECK_CODE(Ranking::Open(*set.Open(), "default", Home{0}, {0}),
                      absl::StatusCode::kNotFound);
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("mine", kHomes), ThreeHomes()));
  const std::unique_ptr<Dataset> dataset = set.Open();
  const absl::Status name = Ranking::Open(*dataset, "default", Home{0}, {0}).status();
  VICINITY_CHECK_CODE(name, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(name.message()), Catch::Contains("mine"));
  for (const Home& home : {Home{2}, Home{0, 1}, Home{}, Home{2, 0}}) {
    const absl::Status status = Ranking::Open(*dataset, "mine", home, {0}).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kNotFound);
    CHECK_THAT(std::string(status.message()), Catch::Contains("{0, 2}"));
  }
  for (const int32_t type : {-1, 3}) {
    VICINITY_CHECK_CODE(Ranking::Open(*dataset, "mine", Home{0}, {type}),
                        absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a ranking tells which draws it was made for", "[partition]") {
  google::protobuf::RepeatedPtrField<proto::Ranking> rankings;
  *rankings.Add() = Description("plain", kHomes);
  proto::Ranking* ranking = rankings.Add();
  *ranking = Description("timed", {{1}});
  ranking->add_fanouts(7);
  ranking->add_fanouts(-1);
  ranking->set_replace(true);
  ranking->set_new_nodes_only(true);
  ranking->set_weighted_by("weight");
  ranking->set_where("year >= 2010");
  ranking->set_disjoint(true);
  ranking->set_time_column("year");
  ranking->set_time_window(0);
  ranking->set_time_follows_path(true);
  ranking->set_latest_edges(true);
  ranking = rankings.Add();
  *ranking = Description("labor", {{1}});
  ranking->set_labor(true);
  ranking->set_layer_dependency(true);
  ranking->set_batch_dependency(3);
  const std::vector<RankingHomes> found = HomesOfRankings(rankings);
  REQUIRE(found.size() == 3);
  CHECK(found[0].homes == kHomes);
  CHECK(found[0].draws.where.empty());
  CHECK(found[0].draws.time_window == -1);
  CHECK(found[0].draws.draws == Draws::kIndependent);
  CHECK(found[0].draws.batch_dependency == 1);
  CHECK(found[1].name == "timed");
  CHECK(found[1].draws.fanouts == std::vector<std::vector<int64_t>>{{7}, {-1}});
  CHECK(found[1].draws.replace);
  CHECK(found[1].draws.expansion == Expansion::kNewNodes);
  CHECK(found[1].draws.weighted_by == "weight");
  CHECK(found[1].draws.where == "year >= 2010");
  CHECK(found[1].draws.disjoint);
  CHECK(found[1].draws.time_column == "year");
  CHECK(found[1].draws.time_window == 0);
  CHECK(found[1].draws.time_follows == TimeFollows::kPath);
  CHECK(found[1].draws.temporal_strategy == TemporalStrategy::kLast);
  CHECK(found[2].draws.draws == Draws::kLabor);
  CHECK(found[2].draws.layer_dependency);
  CHECK(found[2].draws.batch_dependency == 3);
}

TEST_CASE("a ranking replaces the one of its name and leaves no file behind", "[partition]") {
  const WrittenSet set;
  const auto num_files = [&] {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(set.path())) {
      files += entry.is_regular_file() ? 1 : 0;
    }
    return files;
  };
  const int before = num_files();
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("a", kHomes), ThreeHomes()));
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("b", kHomes), ThreeHomes()));
  CHECK(num_files() == before + 18);
  const std::unique_ptr<Dataset> old = set.Open();
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> open,
                                Ranking::Open(*old, "a", Home{0}, {0}));
  const Orders one = {{{{7}, {0.5f}}, {{}, {}}, {{}, {}}}};
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("a", {{0}}), one));
  CHECK(num_files() == before + 12);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> fresh,
                                Ranking::Open(*set.Open(), "a", Home{0}, {0}));
  CHECK(fresh->node(0).value == 7);
  VICINITY_CHECK_OK(Ranking::Open(*set.Open(), "b", Home{0, 2}, {0}));
  CHECK(open->node(0).value == 3);  // who has the old one open keeps it
  VICINITY_CHECK_CODE(Ranking::Open(*old, "a", Home{0}, {0}), absl::StatusCode::kDataLoss);
  VICINITY_CHECK_OK(VerifyDataset(set.path(), NoProgress()));
}

// Runs `work` in a process of its own, which ends without Catch's reports: 0 if it returned OK.
pid_t InProcess(const std::function<absl::Status()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work().ok() ? 0 : 1);
  REQUIRE(pid > 0);
  return pid;
}

int ExitCodeOf(pid_t pid) {
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_CASE("of rankings that processes write at once each is kept", "[partition]") {
  const WrittenSet set;
  constexpr int kNumWriters = 8;
  std::vector<pid_t> writers;
  for (int i = 0; i < kNumWriters; ++i) {
    writers.push_back(InProcess([&set, i]() -> absl::Status {
      for (int round = 0; round < 3; ++round) {
        const absl::Status written =
            WriteRanking(set.path(), Description("r" + std::to_string(i), kHomes), ThreeHomes());
        if (!written.ok()) return written;
      }
      return absl::OkStatus();
    }));
  }
  for (const pid_t writer : writers) CHECK(ExitCodeOf(writer) == 0);
  CHECK(set.Open()->manifest().rankings_size() == kNumWriters);
  VICINITY_CHECK_OK(VerifyDataset(set.path(), NoProgress()));
}

TEST_CASE("files that a killed writer left are removed by the next", "[partition]") {
  const WrittenSet set;
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("a", kHomes), ThreeHomes()));
  const std::vector<std::string> leftovers = {"/manifest.textproto.tmp.123",
                                              "/shard-00001/ranking.a.0.user.0123456789abcdef",
                                              "/shard-00000/ranking.b.0.user.0.tmp.123"};
  for (const std::string& leftover : leftovers) {
    VICINITY_REQUIRE_OK(WriteFileAtomically(set.path() + leftover, "left"));
  }
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("b", kHomes), ThreeHomes()));
  for (const std::string& leftover : leftovers) {
    CHECK_FALSE(std::filesystem::exists(set.path() + leftover));
  }
  VICINITY_CHECK_OK(VerifyDataset(set.path(), NoProgress()));
}

TEST_CASE("a ranking that makes no sense is refused and changes nothing", "[partition]") {
  const WrittenSet set;
  const auto refused = [&](const proto::Ranking& description, const Orders& orders) {
    VICINITY_CHECK_CODE(WriteRanking(set.path(), description, orders),
                        absl::StatusCode::kInvalidArgument);
  };
  refused(Description("", kHomes), ThreeHomes());
  refused(Description("../up", kHomes), ThreeHomes());
  refused(Description("a", {{0}, {}, {1}}), ThreeHomes());
  refused(Description("a", {{0}, {2, 0}, {1}}), ThreeHomes());
  refused(Description("a", {{0}, {1, 1}, {2}}), ThreeHomes());
  refused(Description("a", {{0}, {1, 3}, {2}}), ThreeHomes());
  refused(Description("a", {{0}, {-1}, {2}}), ThreeHomes());
  refused(Description("a", {{0}, {0}, {2}}), ThreeHomes());
  refused(Description("a", {{0}, {1}}), ThreeHomes());
  const std::vector<std::function<void(Orders*)>> spoilers = {
      [](Orders* orders) { orders->at(1).pop_back(); },
      [](Orders* orders) { orders->at(1)[0].nodes.pop_back(); },
      [](Orders* orders) { orders->at(1)[0].nodes[0] = 20; },
      [](Orders* orders) { orders->at(1)[0].nodes[0] = -1; },
      [](Orders* orders) { orders->at(1)[0].probabilities[2] = 0.6f; },
      [](Orders* orders) { orders->at(1)[0].probabilities[2] = 0; },
      [](Orders* orders) { orders->at(1)[0].probabilities[2] = std::nanf(""); },
  };
  for (const auto& spoil : spoilers) {
    Orders orders = ThreeHomes();
    spoil(&orders);
    refused(Description("a", kHomes), orders);
  }
  CHECK(set.Open()->manifest().rankings().empty());
  VICINITY_CHECK_OK(VerifyDataset(set.path(), NoProgress()));
}

TEST_CASE("a damaged ranking file is named", "[partition]") {
  const WrittenSet set;
  VICINITY_REQUIRE_OK(WriteRanking(set.path(), Description("a", kHomes), ThreeHomes()));
  const std::unique_ptr<Dataset> dataset = set.Open();
  // Home 1, the first type: its files are listed by home, then by type.
  const std::string path = set.path() + "/" + dataset->manifest().rankings(0).files(3).path();
  const auto check_named = [&] {
    const auto ranking = Ranking::Open(*dataset, "a", Home{0, 2}, {0});
    std::vector<int64_t> nodes;
    std::vector<float> probabilities;
    const absl::Status status =
        ranking.ok() ? (*ranking)->Read(0, (*ranking)->size(), &nodes, &probabilities)
                     : ranking.status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(status.message()), Catch::Contains(path));
  };
  testing::FlipBit(path, 66);
  check_named();
  testing::FlipBit(path, 66);
  testing::FlipBit(path, 16);
  check_named();
  VICINITY_CHECK_CODE(VerifyDataset(set.path(), NoProgress()), absl::StatusCode::kDataLoss);
  testing::FlipBit(path, 16);
  VICINITY_CHECK_OK(Ranking::Open(*dataset, "a", Home{0, 2}, {0}));
  testing::CutTo(path, 70);
  check_named();
  std::filesystem::remove(path);
  check_named();
  VICINITY_CHECK_OK(Dataset::Open(set.path()));  // the dataset itself is whole
}

}  // namespace
}  // namespace vicinity
