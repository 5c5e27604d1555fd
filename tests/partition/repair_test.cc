#include "partition/repair.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "partition/audit.h"
#include "partition/progress.h"
#include "proto/common/ids.h"
#include "tests/testing/damage.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// Two copies of one dataset of three shards.
class RepairTest {
 public:
  RepairTest() : source_(folder_.File("replica")) {
    const testing::MemoryGraph graph = testing::TypedGraph(40, 30, 7, 2);
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 4), Here()));
    std::filesystem::copy(Here(), folder_.File("replica"),
                          std::filesystem::copy_options::recursive);
  }

 protected:
  std::string Here() const { return folder_.File("here"); }
  static std::string Victim() { return "shard-00001/nodes.user.column.features"; }
  absl::StatusOr<RepairReport> Repair(bool dry_run = false) {
    return RepairDataset(Here(), {}, &source_, dry_run, NoProgress());
  }

  const testing::TempDir folder_;
  DirectorySource source_;
};

TEST_CASE_METHOD(RepairTest, "a sound dataset is left as it is", "[repair]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair());
  CHECK(report.damaged.empty());
  CHECK(report.num_files > 0);
}

TEST_CASE_METHOD(RepairTest, "damaged and missing files come back, and nothing else changes",
                 "[repair]") {
  testing::FlipBit(Here() + "/" + Victim(), 100);
  std::filesystem::remove(Here() + "/shard-00002/nodes.item.keys");
  testing::CutTo(Here() + "/shard-00000/nodes.tag.keys", 10);
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair());
  CHECK(report.damaged.size() == 3);
  VICINITY_CHECK_OK(VerifyDataset(Here(), NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport again, Repair());
  CHECK(again.damaged.empty());
}

TEST_CASE_METHOD(RepairTest, "a dry run says what is damaged and leaves it", "[repair]") {
  testing::FlipBit(Here() + "/" + Victim(), 100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(true));
  REQUIRE(report.damaged.size() == 1);
  CHECK(report.damaged[0].path == Victim());
  VICINITY_CHECK_CODE(VerifyDataset(Here(), NoProgress()), absl::StatusCode::kDataLoss);
}

TEST_CASE_METHOD(RepairTest, "a copy that is damaged, too, takes no place", "[repair]") {
  testing::FlipBit(Here() + "/" + Victim(), 100);
  testing::FlipBit(folder_.File("replica") + "/" + Victim(), 200);
  const absl::Status status = Repair().status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains(Victim()));
  testing::FlipBit(Here() + "/" + Victim(), 100);
  VICINITY_CHECK_OK(VerifyDataset(Here(), NoProgress()));
  // Nothing is left behind.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Here())) {
    CHECK_THAT(entry.path().string(), !Catch::Contains(".repair."));
  }
}

TEST_CASE_METHOD(RepairTest, "a shard whose folder has gone is made anew if it is asked for",
                 "[repair]") {
  std::filesystem::remove_all(Here() + "/shard-00001");
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport others, Repair());
  CHECK(others.damaged.empty());
  VICINITY_CHECK_OK(RepairDataset(Here(), {ShardId{1}}, &source_, false, NoProgress()));
  VICINITY_CHECK_OK(VerifyDataset(Here(), NoProgress()));
  VICINITY_CHECK_CODE(RepairDataset(Here(), {ShardId{3}}, &source_, false, NoProgress()),
                      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
