// Short histories of a live graph, drawn at random, very many of them: batches that are written,
// and sent again, also after a restart; versions that are pinned and read while others are written;
// changes that are repeated elsewhere; folds that the history goes on from. After every step the
// graph is the naive one of tests/testing/graphs/live_model.h.
//
// VICINITY_HISTORIES sets how many, VICINITY_HISTORY the number of the first one: of a failure that
// is to be seen again, its own.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/dataset/whole_read.h"
#include "partition/fold/fold.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

using testing::LiveGraph;
using testing::LiveModel;
using testing::MemoryGraph;
using testing::Placement;

constexpr int kHistories = 300;
constexpr int kKinds = 3;  // of graphs
constexpr int kMostShards = 3;
constexpr size_t kMostPins = 3;

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

MemoryGraph GraphOf(int kind) {
  if (kind == 0) return testing::TypedGraph(12, 9, 5, 1);
  testing::RandomGraphOptions options;
  options.num_nodes = 15;
  options.num_edges = 40;
  options.weights = true;
  if (kind == 1) return testing::RandomGraph(options);  // dense ids
  options.times = true;
  options.time_order = true;
  options.id_kind = IdKind::kString;
  return testing::RandomGraph(options);
}

// A dataset that histories begin with.
struct Origin {
  MemoryGraph graph;
  Placement placement;
  std::string data;
};

std::vector<Origin> WriteOrigins(const testing::TempDir& folder) {
  std::vector<Origin> origins;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int shards = 1; shards <= kMostShards; ++shards) {
      MemoryGraph graph = GraphOf(kind);
      Placement placement = testing::Shuffled(graph, shards, shards);
      const std::string data = folder.File(absl::StrCat("data-", kind, "-", shards));
      VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, data));
      origins.push_back({std::move(graph), std::move(placement), data});
    }
  }
  return origins;
}

class History {
 public:
  // `folder`: of its own, and empty.
  History(const Origin& origin, std::string folder, uint64_t seed)
      : folder_(std::move(folder)), data_(origin.data), random_(seed) {
    fs::create_directories(folder_);
    Begin(origin.graph, origin.placement);
  }

  // What it does is drawn; what is wrong ends the test.
  void Step() {
    switch (Below(20)) {
      case 0:
        return Restart();
      case 1:
        return Below(3) == 0 ? Fold() : Restart();
      case 2:
        return Repeat();
      case 3:
      case 4:
        return SendAgain();
      case 5:
      case 6:
      case 7:
        return Pin();
      case 8:
      case 9:
      case 10:
        return Look();
      default:
        return Write();
    }
  }
  void CheckAll() {
    for (int32_t s = 0; s < num_shards(); ++s) CheckAt(s, written_[s].size() - 1);
    for (const Pinned& pin : pins_) Check(pin);
  }

 private:
  // As it was at a version.
  struct Written {
    LiveModel model;
    proto::WriteBatch batch;
    AppliedBatch answer;
  };
  struct Pinned {
    int32_t shard;
    uint64_t version;
    std::shared_ptr<const LiveView> view;
  };

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  int32_t num_shards() const { return live_->dataset().book().num_shards(); }
  int32_t AnyShard() { return static_cast<int32_t>(Below(num_shards())); }
  uint64_t AnyVersion(int32_t shard) { return Below(written_[shard].size()); }
  auto Find(int32_t shard) {
    auto found = live_->live().Find({shard});
    VICINITY_REQUIRE_OK(found.status());
    return *std::move(found);
  }

  void Begin(const MemoryGraph& graph, const Placement& placement) {
    live_ = std::make_unique<LiveGraph>(
        graph, placement, data_, absl::StrCat(folder_, "/changes-", ++num_begun_), Below(-1));
    written_.clear();
    for (int32_t s = 0; s < num_shards(); ++s) {
      written_.emplace_back().push_back({live_->model(s), {}, {}});
    }
  }

  void Write() {
    const int32_t s = AnyShard();
    proto::WriteBatch batch = live_->batches(s).Batch();
    if (batch.ByteSizeLong() == 0) return;
    auto applied = live_->Apply(s, batch);
    VICINITY_REQUIRE_OK(applied.status());
    REQUIRE(applied->version == written_[s].size());
    REQUIRE_FALSE(applied->repeated);
    written_[s].push_back({live_->model(s), std::move(batch), *std::move(applied)});
    CheckAt(s, written_[s].size() - 1);
    if (Below(5) == 0) VICINITY_REQUIRE_OK(Find(s)->Sync());
  }

  // One of the last, of which the answer may have been lost.
  void SendAgain() {
    const int32_t s = AnyShard();
    const uint64_t last = written_[s].size() - 1;
    if (last == 0) return;
    const uint64_t version = last - Below(std::min<uint64_t>(last, 4));
    const Written& was = written_[s][version];
    proto::WriteSession session;
    session.set_id("writer");
    session.set_sequence(version);  // every batch made one
    const auto again = Find(s)->Apply(
        session, was.batch, Below(2) == 0 ? Durability::kSync : Durability::kBuffered, Soon());
    VICINITY_REQUIRE_OK(again.status());
    REQUIRE(again->repeated);
    REQUIRE(again->version == version);
    REQUIRE(again->first_nodes == was.answer.first_nodes);
    REQUIRE(again->first_edges == was.answer.first_edges);
    CheckAt(s, last);
  }

  void Pin() {
    const int32_t s = AnyShard();
    const uint64_t version = AnyVersion(s);
    VICINITY_ASSERT_OK_AND_ASSIGN(auto view, Find(s)->At(version));
    pins_.push_back({s, version, std::move(view)});
    if (pins_.size() > kMostPins) pins_.erase(pins_.begin());
  }

  void Look() {
    if (!pins_.empty() && Below(2) == 0) return Check(pins_[Below(pins_.size())]);
    const int32_t s = AnyShard();
    CheckAt(s, AnyVersion(s));
  }

  void Restart() {
    pins_.clear();
    live_->Reopen();
    CheckAll();
  }

  // What was written, in the order in which it was, makes the same shard in another place.
  void Repeat() {
    const int32_t s = AnyShard();
    const std::string elsewhere = absl::StrCat(folder_, "/elsewhere");
    {
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard,
                                    LiveShard::Open(live_->base(s), elsewhere, LiveShardOptions()));
      for (uint64_t version = 1; version < written_[s].size(); ++version) {
        VICINITY_ASSERT_OK_AND_ASSIGN(proto::Change change, Find(s)->ReadChange(version));
        VICINITY_REQUIRE_OK(shard->Repeat(std::move(change), Durability::kBuffered, Soon()));
      }
      Check({s, shard->version(), shard->Latest()});
      REQUIRE(shard->version() == written_[s].size() - 1);
    }
    fs::remove_all(elsewhere);
  }

  void Fold() {
    pins_.clear();
    live_->Close();
    const std::string next = absl::StrCat(folder_, "/data-", num_begun_);
    {
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, OpenForPasses(data_));
      VICINITY_REQUIRE_OK(FoldChanges(*dataset, live_->changes(), next, NoProgress()).status());
    }
    auto folded = std::make_unique<LiveGraph::Folded>(live_->Expected());
    live_.reset();
    data_ = next;
    folded_ = std::move(folded);
    Begin(folded_->graph, folded_->placement);
    REQUIRE(testing::Difference(folded_->graph, live_->dataset()) == "");
    CheckAll();
  }

  void CheckAt(int32_t shard, uint64_t version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(auto view, Find(shard)->At(version));
    Check({shard, version, std::move(view)});
    REQUIRE(Find(shard)->version() == written_[shard].size() - 1);
  }
  void Check(const Pinned& pin) const {
    CAPTURE(pin.shard, pin.version);
    const LiveBase& base = live_->base(pin.shard);
    REQUIRE(written_[pin.shard][pin.version].model.Difference(
                base, ShardReader(base.shard, pin.view.get())) == "");
  }

  const std::string folder_;
  std::string data_;
  std::mt19937_64 random_;
  int num_begun_ = 0;
  std::unique_ptr<LiveGraph::Folded> folded_;  // what it began with last; null: its origin
  std::unique_ptr<LiveGraph> live_;
  std::vector<std::vector<Written>> written_;  // by shard and version
  std::vector<Pinned> pins_;                   // of live_
};

TEST_CASE("every history of writes, reads, restarts and folds is that of a naive graph",
          "[history]") {
  const int first = testing::SizeFromEnvironment("VICINITY_HISTORY", 1);
  const int count = testing::SizeFromEnvironment("VICINITY_HISTORIES", kHistories);
  const testing::TempDir folder;
  const std::vector<Origin> origins = WriteOrigins(folder);
  int64_t steps = 0;
  for (int number = first; number < first + count; ++number) {
    CAPTURE(number);
    const std::string own = folder.File("history");
    {
      std::mt19937_64 random(number);
      History history(origins[number % origins.size()], own, random());
      for (uint64_t step = 4 + random() % 16; step > 0; --step, ++steps) {
        CAPTURE(step);
        history.Step();
      }
      history.CheckAll();
    }
    fs::remove_all(own);
  }
  std::cout << count << " histories, " << steps << " steps\n";
}

}  // namespace
}  // namespace vicinity
