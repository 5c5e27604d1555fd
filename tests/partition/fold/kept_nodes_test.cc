#include "partition/fold/kept_nodes.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/fold/fold_source.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_view.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr NodeTypeId kNode{0};
constexpr int32_t kShards = 3;

// Nodes with keys alone, 100 of them.
class KeptNodesTest {
 public:
  explicit KeptNodesTest(IdKind kind) : graph_(GraphOf(kind)) {
    const testing::Placement placement = testing::Shuffled(graph_, kShards, 1);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement, folder_.File("graph")));
    live_ = std::make_unique<testing::LiveGraph>(graph_, placement, folder_.File("graph"),
                                                 folder_.File("changes"), 1);
  }

  const Book& book() const { return live_->dataset().book(); }
  uint64_t KeyOf(int64_t node) const {
    const Book::Place place = book().PlaceOf(kNode, {node});
    return live_->dataset().shard(place.shard)->nodes(kNode).keys[place.row.value];
  }
  void Remove(int64_t node) {
    proto::WriteBatch batch;
    batch.add_gone_keys()->add_keys(KeyOf(node));
    Apply(KeyOf(node), batch);
  }
  // Another node with the key of one that was removed.
  void AddAgain(int64_t node) {
    proto::WriteBatch batch;
    batch.add_new_nodes()->add_keys(KeyOf(node));
    Apply(KeyOf(node), batch);
  }
  KeptNodes Find() {
    std::vector<std::shared_ptr<const LiveView>> views;
    for (int32_t s = 0; s < kShards; ++s) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<LiveShard> shard,
                                    live_->live().Find({s}));
      views.push_back(shard->Latest());
    }
    source_ = std::make_unique<FoldSource>(live_->dataset(), std::move(views));
    VICINITY_ASSERT_OK_AND_ASSIGN(KeptNodes kept, KeptNodes::Find(*source_, NoProgress()));
    return kept;
  }

 private:
  static testing::MemoryGraph GraphOf(IdKind kind) {
    testing::RandomGraphOptions options;
    options.feature_width = 0;
    options.num_classes = 0;
    options.splits = false;
    options.id_kind = kind;
    return testing::RandomGraph(options);
  }
  void Apply(uint64_t key, const proto::WriteBatch& batch) {
    VICINITY_REQUIRE_OK(live_->Apply(book().DirectoryShard(key).value, batch).status());
  }

  const testing::TempDir folder_;
  const testing::MemoryGraph graph_;
  std::unique_ptr<testing::LiveGraph> live_;
  std::unique_ptr<FoldSource> source_;
};

TEST_CASE("where no key has changed every node keeps its number", "[kept_nodes]") {
  KeptNodesTest test(IdKind::kDense);
  const KeptNodes kept = test.Find();
  for (uint64_t node = 0; node < 100; ++node) {
    CHECK(kept.NewId(kNode, node) == static_cast<int64_t>(node));
  }
  CHECK(kept.NewId(kNode, 100) == -1);
  CHECK(kept.NewId(kNode, ~uint64_t{0}) == -1);
  CHECK(kept.has_dense_keys(kNode));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, kept.NewBook());
  for (int32_t s = 0; s <= kShards; ++s) {
    CHECK(book.begins(kNode)[s] == test.book().begins(kNode)[s]);
  }
}

TEST_CASE("nodes whose key is gone or has another node leave, and the others close up",
          "[kept_nodes]") {
  KeptNodesTest test(GENERATE(IdKind::kDense, IdKind::kInt64));
  for (const int64_t node : {0, 40, 99}) test.Remove(node);
  test.AddAgain(40);
  const KeptNodes kept = test.Find();
  CHECK(kept.num_kept(kNode) == 98);
  const ShardId lists = test.book().DirectoryShard(test.KeyOf(40));
  CHECK(kept.NewId(kNode, 100 + lists.value) ==
        kept.NewRow(lists, kNode, test.book().num_nodes(kNode, lists)) +
            (*kept.NewBook()).First(kNode, lists).value);
  CHECK(kept.NewId(kNode, 100 + lists.value + kShards) == -1);
  int64_t next = 0;
  for (int64_t node = 0; node < 100; ++node) {
    const ShardId owner = test.book().OwnerOf(kNode, {node});
    const int64_t new_before = owner.value > lists.value ? 1 : 0;
    const bool gone = node == 0 || node == 40 || node == 99;
    CHECK(kept.NewId(kNode, static_cast<uint64_t>(node)) == (gone ? -1 : next + new_before));
    if (!gone) ++next;
  }
  CHECK_FALSE(kept.has_dense_keys(kNode));
  const ShardId shard{1};
  const int64_t rows = kept.num_rows(shard, kNode);
  const KeptNodes::Rows half = kept.RowsIn(shard, kNode, rows / 2, rows);
  for (size_t i = 0; i < half.rows.size(); ++i) {
    const auto row = static_cast<int64_t>(half.rows[i]);
    CHECK(kept.NewRow(shard, kNode, row) == half.first + static_cast<int64_t>(i));
  }
}

TEST_CASE("ids stay dense when the last ones go", "[kept_nodes]") {
  KeptNodesTest test(IdKind::kDense);
  for (int64_t node = 0; node < 100; ++node) {
    if (test.KeyOf(node) >= 90) test.Remove(node);
  }
  const KeptNodes kept = test.Find();
  CHECK(kept.num_kept(kNode) == 90);
  CHECK(kept.has_dense_keys(kNode));
}

}  // namespace
}  // namespace vicinity
