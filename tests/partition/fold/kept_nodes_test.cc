#include "partition/fold/kept_nodes.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/fold/fold_source.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr NodeTypeId kNode{0};

// Keys alone: some lead to another node, some to none.
class KeysOverlay final : public ShardOverlay {
 public:
  std::map<uint64_t, int64_t> keys;

  uint64_t version() const override { return 1; }
  bool Changes(const ShardPart&, absl::Span<const uint64_t>) const override { return false; }
  bool ChangesRange(const ShardPart&, int64_t, int64_t) const override { return false; }
  int64_t NumRows(const ShardPart&, int64_t in_files) const override { return in_files; }
  absl::Status ReadRows(const ShardPart&, absl::Span<const uint64_t>, ChangedRows*) const override {
    return absl::OkStatus();
  }
  std::optional<int64_t> Node(int32_t, uint64_t key) const override {
    const auto found = keys.find(key);
    return found == keys.end() ? std::nullopt : std::optional<int64_t>(found->second);
  }
  absl::StatusOr<ChangedListPtr> List(int32_t, uint64_t) const override { return nullptr; }
};

class KeptNodesTest {
 public:
  explicit KeptNodesTest(IdKind kind) {
    testing::RandomGraphOptions options;
    options.id_kind = kind;
    graph_ = testing::RandomGraph(options);
    const testing::Placement placement = testing::Shuffled(graph_, 3, 1);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement, folder_.File("graph")));
    auto dataset = Dataset::Open(folder_.File("graph"));
    VICINITY_REQUIRE_OK(dataset.status());
    dataset_ = *std::move(dataset);
    for (int s = 0; s < 3; ++s) overlays_.push_back(std::make_shared<KeysOverlay>());
  }

  uint64_t KeyOf(int64_t node) const {
    const Book::Place place = dataset_->book().PlaceOf(kNode, {node});
    return dataset_->shard(place.shard)->nodes(kNode).keys[place.row.value];
  }
  void Lead(int64_t node, int64_t to) {
    const uint64_t key = KeyOf(node);
    overlays_[dataset_->book().DirectoryShard(key).value]->keys[key] = to;
  }
  // FoldSource must outlive what is found.
  const FoldSource& source() {
    source_ = std::make_unique<FoldSource>(
        *dataset_,
        std::vector<std::shared_ptr<const ShardOverlay>>(overlays_.begin(), overlays_.end()));
    return *source_;
  }

  testing::TempDir folder_;
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
  std::vector<std::shared_ptr<KeysOverlay>> overlays_;
  std::unique_ptr<FoldSource> source_;
};

TEST_CASE("where no key has changed every node keeps its number", "[kept_nodes]") {
  KeptNodesTest test(IdKind::kDense);
  const auto kept = KeptNodes::Find(test.source(), NoProgress());
  VICINITY_REQUIRE_OK(kept.status());
  for (uint64_t node = 0; node < 100; ++node) {
    CHECK(kept->NewId(kNode, node) == static_cast<int64_t>(node));
  }
  CHECK(kept->NewId(kNode, 100) == -1);
  CHECK(kept->NewId(kNode, ~uint64_t{0}) == -1);
  CHECK(kept->has_dense_keys(kNode));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, kept->NewBook());
  for (int32_t s = 0; s <= 3; ++s) {
    CHECK(book.begins(kNode)[s] == test.dataset_->book().begins(kNode)[s]);
  }
}

TEST_CASE("nodes whose key is gone or leads elsewhere leave, and the others close up",
          "[kept_nodes]") {
  KeptNodesTest test(GENERATE(IdKind::kDense, IdKind::kInt64));
  test.Lead(0, -1);
  test.Lead(40, 200);
  test.Lead(41, 41);  // itself
  test.Lead(99, -1);
  const auto kept = KeptNodes::Find(test.source(), NoProgress());
  VICINITY_REQUIRE_OK(kept.status());
  CHECK(kept->num_kept(kNode) == 97);
  int64_t next = 0;
  for (uint64_t node = 0; node < 100; ++node) {
    const bool gone = node == 0 || node == 40 || node == 99;
    CHECK(kept->NewId(kNode, node) == (gone ? -1 : next++));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, kept->NewBook());
  CHECK(book.num_nodes(kNode) == 97);
  CHECK_FALSE(kept->has_dense_keys(kNode));
  const ShardId shard{1};
  const int64_t rows = test.dataset_->book().num_nodes(kNode, shard);
  const KeptNodes::Rows half = kept->RowsIn(shard, kNode, rows / 2, rows);
  for (size_t i = 0; i < half.rows.size(); ++i) {
    const auto row = static_cast<int64_t>(half.rows[i]);
    CHECK(kept->NewRow(shard, kNode, row) == half.first + static_cast<int64_t>(i));
  }
}

TEST_CASE("ids stay dense when the last ones go", "[kept_nodes]") {
  KeptNodesTest test(IdKind::kDense);
  for (int64_t node = 0; node < 100; ++node) {
    if (test.KeyOf(node) >= 90) test.Lead(node, -1);
  }
  const auto kept = KeptNodes::Find(test.source(), NoProgress());
  VICINITY_REQUIRE_OK(kept.status());
  CHECK(kept->num_kept(kNode) == 90);
  CHECK(kept->has_dense_keys(kNode));
}

}  // namespace
}  // namespace vicinity
