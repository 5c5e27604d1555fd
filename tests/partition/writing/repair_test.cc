#include "partition/writing/repair.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/ranking.h"
#include "partition/writing/audit.h"
#include "proto/common/folder_lock.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
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
    RepairOptions options;
    options.dry_run = dry_run;
    options.wait.limit = absl::ZeroDuration();
    return RepairDataset(Here(), options, &source_, NoProgress());
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
  RepairOptions options;
  options.shards = {ShardId{1}};
  VICINITY_CHECK_OK(RepairDataset(Here(), options, &source_, NoProgress()));
  VICINITY_CHECK_OK(VerifyDataset(Here(), NoProgress()));
  options.shards = {ShardId{3}};
  VICINITY_CHECK_CODE(RepairDataset(Here(), options, &source_, NoProgress()),
                      absl::StatusCode::kNotFound);
}

// A replica during whose reading something else happens.
class BusySource final : public FileSource {
 public:
  BusySource(FileSource* source, std::function<void()> meanwhile)
      : source_(source), meanwhile_(std::move(meanwhile)) {}
  absl::Status Read(const proto::FileEntry& file, const Take& take) override {
    meanwhile_();
    return source_->Read(file, take);
  }

 private:
  FileSource* const source_;
  const std::function<void()> meanwhile_;
};

TEST_CASE_METHOD(RepairTest, "of two repairs at once one waits, and is told who has the lock",
                 "[repair]") {
  testing::FlipBit(Here() + "/" + Victim(), 100);
  absl::Status second;
  BusySource busy(&source_, [&] { second = Repair().status(); });
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport first,
                                RepairDataset(Here(), {}, &busy, NoProgress()));
  CHECK(first.damaged.size() == 1);
  VICINITY_CHECK_CODE(second, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(second.message()),
             Catch::Contains(absl::StrCat("process ", getpid())) && Catch::Contains(Here()));
  VICINITY_CHECK_OK(VerifyDataset(Here(), NoProgress()));
}

TEST_CASE_METHOD(RepairTest, "what another writer has mended while it was waited for is left",
                 "[repair]") {
  testing::FlipBit(Here() + "/" + Victim(), 100);
  VICINITY_ASSERT_OK_AND_ASSIGN(FolderLock other, FolderLock::Take(Here()));
  RepairOptions options;
  options.wait.told = [&](const std::string&) {
    testing::FlipBit(Here() + "/" + Victim(), 100);
    other.Release();
  };
  VICINITY_ASSERT_OK_AND_ASSIGN(const RepairReport report,
                                RepairDataset(Here(), options, &source_, NoProgress()));
  CHECK(report.damaged.empty());
}

TEST_CASE_METHOD(RepairTest, "a ranking that was replaced while it was waited for stays replaced",
                 "[repair]") {
  const auto rank = [&](const std::string& directory, float probability) {
    proto::Ranking ranking;
    ranking.set_name("r");
    ranking.add_homes()->add_shards(1);
    const std::vector<RankedNodes> orders(3, RankedNodes{{0}, {probability}});
    VICINITY_REQUIRE_OK(WriteRanking(directory, ranking, {orders}));
  };
  const auto rankings = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Here() + "/shard-00001")) {
      const std::string name = entry.path().filename();
      if (absl::StartsWith(name, "ranking")) names.insert(name);
    }
    return names;
  };
  rank(Here(), 0.5F);
  rank(folder_.File("replica"), 0.5F);
  REQUIRE(rankings().size() == 3);
  for (const std::string& name : rankings()) testing::FlipBit(Here() + "/shard-00001/" + name, 70);
  VICINITY_ASSERT_OK_AND_ASSIGN(FolderLock other, FolderLock::Take(Here()));
  RepairOptions options;
  std::set<std::string> replaced;
  options.wait.told = [&](const std::string&) {
    other.Release();
    rank(Here(), 0.25F);
    replaced = rankings();
  };
  VICINITY_CHECK_OK(RepairDataset(Here(), options, &source_, NoProgress()));
  CHECK(rankings() == replaced);
  VICINITY_CHECK_OK(VerifyDataset(Here(), NoProgress()));
}

TEST_CASE_METHOD(RepairTest, "a damaged manifest is not repaired, and the error says what to do",
                 "[repair]") {
  testing::FlipBit(ManifestPath(Here()), 100);
  const absl::Status status = Repair().status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains(ManifestPath(Here())) && Catch::Contains("copy it from a replica"));
  std::filesystem::copy(ManifestPath(folder_.File("replica")), ManifestPath(Here()),
                        std::filesystem::copy_options::overwrite_existing);
  VICINITY_CHECK_OK(Repair());
}

}  // namespace
}  // namespace vicinity
