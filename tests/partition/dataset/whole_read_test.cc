#include "partition/dataset/whole_read.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

absl::Status Nothing() { return absl::OkStatus(); }

class CountingProgress final : public Progress {
 public:
  void Begin(std::string_view, int64_t total, std::string_view) override {
    ++num_phases;
    bytes = total;
  }
  void Update(int64_t done) override { last = done; }
  void End() override {}
  void Note(std::string_view) override {}

  int num_phases = 0;
  int64_t bytes = 0;
  int64_t last = 0;
};

// Two shards with every kind of file.
class WholeReadTest {
 public:
  WholeReadTest() {
    const testing::MemoryGraph graph = testing::TypedGraph(900, 600, 70, 3);
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 4), path()));
  }

 protected:
  std::string path() const { return folder_.File("d"); }
  std::unique_ptr<Dataset> Open() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Dataset> dataset, OpenForPasses(path()));
    CHECK(dataset->checked_bytes() == 0);
    return dataset;
  }
  // The middle of the rows.
  static int64_t MiddleOf(const VerifiedFile& file) {
    return static_cast<int64_t>(sizeof(FileHeader) + file.rows().size() / 2);
  }

  const testing::TempDir folder_;
};

void CheckNaming(const absl::Status& status, absl::StatusCode code, const std::string& what) {
  VICINITY_CHECK_CODE(status, code);
  CHECK_THAT(std::string(status.message()), Catch::Contains(what));
}

TEST_CASE_METHOD(WholeReadTest, "what is sound is verified once, and then read as it lies",
                 "[whole_read]") {
  const std::unique_ptr<Dataset> dataset = Open();
  CountingProgress progress;
  int num_passes = 0;
  const auto count = [&] {
    for (const VerifiedFile* file : AllFiles(*dataset)) CHECK(file->whole());
    ++num_passes;
    return absl::OkStatus();
  };
  VICINITY_CHECK_OK(ReadWhole(AllFiles(*dataset), &progress, count));
  CHECK(progress.num_phases == 1);
  CHECK(progress.bytes > 50'000);
  CHECK(progress.last == progress.bytes);
  VICINITY_CHECK_OK(ReadWhole(AllFiles(*dataset), &progress, count));
  CHECK(progress.num_phases == 1);
  CHECK(num_passes == 2);
  VICINITY_CHECK_CODE(
      ReadWhole(AllFiles(*dataset), NoProgress(), [] { return absl::NotFoundError("no seeds"); }),
      absl::StatusCode::kNotFound);
  VICINITY_CHECK_OK(ReadWhole({}, NoProgress(), Nothing));
}

TEST_CASE_METHOD(WholeReadTest, "damage of any file is told before the pass, with its page",
                 "[whole_read]") {
  const std::unique_ptr<Dataset> sound = Open();
  int num_files = 0;
  for (const VerifiedFile* file : AllFiles(*sound)) {
    if (file->rows().empty()) continue;
    testing::FlipBit(file->path(), MiddleOf(*file));
    const std::unique_ptr<Dataset> damaged = Open();
    bool read = false;
    const absl::Status status = ReadWhole(AllFiles(*damaged), NoProgress(), [&] {
      read = true;
      return absl::OkStatus();
    });
    CheckNaming(status, absl::StatusCode::kDataLoss, file->path() + ": the page at byte");
    CHECK_FALSE(read);
    testing::FlipBit(file->path(), MiddleOf(*file));
    ++num_files;
  }
  CHECK(num_files > 30);
}

TEST_CASE_METHOD(WholeReadTest, "a pass waits for the files that it names, and for no others",
                 "[whole_read]") {
  const std::unique_ptr<Dataset> sound = Open();
  const auto paths = [](const std::vector<VerifiedFile*>& files) {
    std::set<std::string> names;
    for (const VerifiedFile* file : files) names.insert(file->path());
    return names;
  };
  const EdgeTable& buys = sound->shard({1})->edges({0});
  const NodeTable& users = sound->shard({1})->nodes({0});
  const std::set<std::string> lists = paths(ListFiles(*sound));
  for (const VerifiedFile* file :
       {buys.offsets_file, buys.sources_file, buys.columns[0].file, users.keys_file}) {
    CHECK(lists.count(file->path()) == 1);
  }
  CHECK(lists.count(users.columns[0].file->path()) == 0);
  const int splits = sound->schema().node_types[0].FindColumn("split");
  REQUIRE(splits >= 0);
  CHECK(paths(SplitFiles(*sound)).count(users.columns[splits].file->path()) == 1);
  CHECK(SplitFiles(*sound).size() == 2);  // users of two shards

  testing::FlipBit(users.columns[0].file->path(), MiddleOf(*users.columns[0].file));
  const std::unique_ptr<Dataset> damaged = Open();
  VICINITY_CHECK_OK(ReadWhole(ListFiles(*damaged), NoProgress(), Nothing));
  VICINITY_CHECK_OK(ReadWhole(SplitFiles(*damaged), NoProgress(), Nothing));
  VICINITY_CHECK_CODE(ReadWhole(AllFiles(*damaged), NoProgress(), Nothing),
                      absl::StatusCode::kDataLoss);
}

TEST_CASE_METHOD(WholeReadTest, "what changes under a pass is not believed", "[whole_read]") {
  const std::unique_ptr<Dataset> dataset = Open();
  const VerifiedFile* const victim = dataset->shard({1})->edges({0}).sources_file;
  const auto flip = [&] { testing::FlipBit(victim->path(), MiddleOf(*victim)); };
  absl::Status pass = absl::OkStatus();
  SECTION("whatever the pass says of it") { pass = absl::InternalError("that makes no sense"); }
  const absl::Status damaged = ReadWhole(ListFiles(*dataset), NoProgress(), [&] {
    flip();
    return pass;
  });
  CheckNaming(damaged, absl::StatusCode::kDataLoss, victim->path() + ": the page at byte");
}

TEST_CASE_METHOD(WholeReadTest, "what was changed and is sound again is not believed either",
                 "[whole_read]") {
  const std::unique_ptr<Dataset> dataset = Open();
  const VerifiedFile* const victim = dataset->shard({1})->edges({0}).sources_file;
  const absl::Status changed = ReadWhole(ListFiles(*dataset), NoProgress(), [&] {
    testing::FlipBit(victim->path(), MiddleOf(*victim));
    testing::FlipBit(victim->path(), MiddleOf(*victim));
    return absl::OkStatus();
  });
  CheckNaming(changed, absl::StatusCode::kUnavailable, victim->path());
  VICINITY_CHECK_OK(ReadWhole(ListFiles(*dataset), NoProgress(), Nothing));
}

TEST_CASE_METHOD(WholeReadTest, "a file that is cut off under a pass is an error, not its end",
                 "[whole_read]") {
  const std::unique_ptr<Dataset> dataset = Open();
  const VerifiedFile* const victim = dataset->shard({0})->nodes({0}).columns[0].file;
  int64_t sum = -1;
  const absl::Status cut = ReadWhole(AllFiles(*dataset), NoProgress(), [&] {
    testing::CutTo(victim->path(), 64);
    sum = 0;
    for (const char byte : victim->rows()) sum += byte;
    return absl::OkStatus();
  });
  CheckNaming(cut, absl::StatusCode::kDataLoss, victim->path());
  CHECK(sum == 0);  // zeros instead of a SIGBUS
}

TEST_CASE_METHOD(WholeReadTest, "files without checksums of pages are checked whole",
                 "[whole_read]") {
  VICINITY_REQUIRE_OK(testing::MakeVersion1(path()));
  Dataset::Options unchecked;
  unchecked.check_bytes = 0;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(path(), unchecked));
  VICINITY_CHECK_OK(ReadWhole(AllFiles(*dataset), NoProgress(), Nothing));
  const VerifiedFile* const victim = dataset->shard({1})->edges({0}).sources_file;
  testing::FlipBit(victim->path(), MiddleOf(*victim));
  const absl::Status damaged = ReadWhole(ListFiles(*dataset), NoProgress(), Nothing);
  CheckNaming(damaged, absl::StatusCode::kDataLoss, victim->path());
}

TEST_CASE("files of several blocks are verified to their end", "[whole_read]") {
  const testing::TempDir folder;
  testing::RandomGraphOptions shape;
  shape.num_nodes = 150'000;  // 4.6 MiB of features
  shape.num_edges = 10;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::RandomGraph(shape), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto sound, OpenForPasses(folder.File("d")));
  VICINITY_CHECK_OK(ReadWhole(AllFiles(*sound), NoProgress(), Nothing));
  const VerifiedFile* const features = sound->shard({0})->nodes({0}).columns[0].file;
  REQUIRE(features->num_roots() == 3);
  CHECK(features->whole());
  const auto last = static_cast<int64_t>(sizeof(FileHeader) + features->rows().size()) - 1;
  testing::FlipBit(features->path(), last);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto damaged, OpenForPasses(folder.File("d")));
  CheckNaming(ReadWhole(AllFiles(*damaged), NoProgress(), Nothing), absl::StatusCode::kDataLoss,
              features->path());
}

}  // namespace
}  // namespace vicinity
