#include "partition/dataset/dataset.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;
using testing::TempDir;

// A small typed dataset of three shards, and what happens when it is opened.
class WrittenSet {
 public:
  WrittenSet() : graph_(testing::TypedGraph(40, 30, 7, 2)) {
    VICINITY_REQUIRE_OK(WriteGraph(graph_, Shuffled(graph_, 3, 4), path()));
    VICINITY_ASSERT_OK_AND_ASSIGN(manifest_, ReadManifest(path()));
  }
  std::string path() const { return dir_.File("set"); }
  std::string File(const std::string& name) const { return path() + "/" + name; }
  const proto::Manifest& manifest() const { return manifest_; }  // as it was written

  // Opened without checksums, a dataset must still notice what its headers and sizes tell.
  absl::Status OpenUnchecked() const {
    Dataset::Options options;
    options.check_bytes = 0;
    return Dataset::Open(path(), options).status();
  }

 private:
  TempDir dir_;
  const MemoryGraph graph_;
  proto::Manifest manifest_;
};

void CheckDataLossNaming(const absl::Status& status, const std::string& name) {
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains(name));
}

TEST_CASE("some shards of a dataset can be opened alone", "[partition]") {
  const WrittenSet set;
  Dataset::Options options;
  options.shards = {{2}, {0}, {2}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  REQUIRE(dataset->shards().size() == 2);
  CHECK_FALSE(dataset->whole());
  CHECK(dataset->shards()[0]->id() == ShardId{0});
  CHECK(dataset->shards()[1]->id() == ShardId{2});
  CHECK(dataset->shard({1}) == nullptr);
  CHECK(dataset->shard({-1}) == nullptr);
  CHECK(dataset->shard({3}) == nullptr);
  CHECK(dataset->shard({2}) == dataset->shards()[1].get());
  CHECK(dataset->book().num_shards() == 3);
  CHECK(dataset->fingerprint() == set.manifest().fingerprint());
  CHECK(dataset->directory() == set.path());
}

TEST_CASE("a shard that the dataset does not have is not found", "[partition]") {
  const WrittenSet set;
  Dataset::Options options;
  options.shards = {{GENERATE(-1, 3)}};
  VICINITY_CHECK_CODE(Dataset::Open(set.path(), options), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(Dataset::Open(set.File("none")), absl::StatusCode::kNotFound);
}

TEST_CASE("files are checked until the budget is used up, and the rest is listed", "[partition]") {
  const WrittenSet set;
  int64_t all_bytes = 0;
  for (const proto::ShardEntry& shard : set.manifest().shards()) {
    for (const proto::FileEntry& file : shard.files()) all_bytes += file.size();
  }
  Dataset::Options options;
  options.check_bytes = GENERATE_COPY(int64_t{0}, int64_t{500}, all_bytes - 1, all_bytes);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  int64_t unchecked_bytes = 0;
  for (const proto::FileEntry& file : dataset->unchecked()) {
    unchecked_bytes += file.size();
    VICINITY_CHECK_OK(CheckFile(set.path(), file));
  }
  CHECK(dataset->checked_bytes() <= options.check_bytes);
  CHECK(dataset->checked_bytes() + unchecked_bytes == all_bytes);
  CHECK(dataset->unchecked().empty() == (options.check_bytes == all_bytes));
}

TEST_CASE("the mapped bytes of shards are those of their files", "[partition]") {
  const WrittenSet set;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset, Dataset::Open(set.path()));
  for (const std::unique_ptr<Shard>& shard : dataset->shards()) {
    int64_t bytes = 0;
    for (const auto& file : set.manifest().shards(shard->id().value).files()) bytes += file.size();
    CHECK(shard->mapped_bytes() == bytes);
    CHECK(static_cast<int>(shard->files().size()) ==
          set.manifest().shards(shard->id().value).files_size());
  }
}

TEST_CASE("any file missing, cut, longer or with a flipped header is noticed without checksums",
          "[partition]") {
  const WrittenSet set;
  for (const proto::FileEntry& file : set.manifest().shards(1).files()) {
    const std::string path = set.File(file.path());
    std::filesystem::rename(path, path + ".away");
    CheckDataLossNaming(set.OpenUnchecked(), path);
    std::filesystem::copy_file(path + ".away", path);
    testing::CutTo(path, static_cast<int64_t>(file.size()) - 1);
    CheckDataLossNaming(set.OpenUnchecked(), path);
    testing::CutTo(path, static_cast<int64_t>(file.size()) + 1);
    CheckDataLossNaming(set.OpenUnchecked(), path);
    testing::CutTo(path, 0);
    CheckDataLossNaming(set.OpenUnchecked(), path);
    std::filesystem::rename(path + ".away", path);
    testing::FlipBit(path, 16);
    CheckDataLossNaming(set.OpenUnchecked(), path);
    testing::FlipBit(path, 16);
    VICINITY_REQUIRE_OK(set.OpenUnchecked());
  }
}

TEST_CASE("a flipped bit in any file's data is noticed by its checksum", "[partition]") {
  const WrittenSet set;
  for (const proto::FileEntry& file : set.manifest().shards(1).files()) {
    if (file.size() == sizeof(FileHeader)) continue;
    const std::string path = set.File(file.path());
    const int64_t at = static_cast<int64_t>(sizeof(FileHeader) + (file.size() - 64) / 2);
    testing::FlipBit(path, at, 5);
    CheckDataLossNaming(Dataset::Open(set.path()).status(), path);
    CheckDataLossNaming(CheckFile(set.path(), file), path);
    testing::FlipBit(path, at, 5);
  }
  VICINITY_CHECK_OK(Dataset::Open(set.path()));
}

TEST_CASE("a damaged shard is left out where that is wanted, and opened once it is sound",
          "[partition]") {
  const WrittenSet set;
  const std::string path = set.File("shard-00001/nodes.user.keys");
  Dataset::Options options;
  options.verify_at_touch = true;
  options.leave_out_damaged = true;
  testing::FlipBit(path, 16);
  VICINITY_CHECK_CODE(Dataset::Open(set.path()), absl::StatusCode::kDataLoss);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  CHECK(dataset->wanted().size() == 3);
  CHECK(dataset->shards().size() == 2);
  CHECK(dataset->shard({1}) == nullptr);
  CheckDataLossNaming(dataset->fault({1}), path);
  VICINITY_CHECK_OK(dataset->fault({0}));
  CheckDataLossNaming(dataset->OpenAgain({1}), path);
  testing::FlipBit(path, 16);
  VICINITY_CHECK_OK(dataset->OpenAgain({1}));
  REQUIRE(dataset->shard({1}) != nullptr);
  CHECK(dataset->shard({1})->id() == ShardId{1});
  VICINITY_CHECK_OK(dataset->fault({1}));
}

TEST_CASE("a dataset none of whose shards is sound does not open", "[partition]") {
  const WrittenSet set;
  Dataset::Options options;
  options.leave_out_damaged = true;
  options.shards = {{1}};
  std::filesystem::remove(set.File("shard-00001/nodes.user.keys"));
  CheckDataLossNaming(Dataset::Open(set.path(), options).status(), "nodes.user.keys");
}

TEST_CASE("who verifies at touch opens whatever the pages hold", "[partition]") {
  const WrittenSet set;
  const std::string path = set.File("shard-00001/nodes.user.column.features");
  testing::FlipBit(path, 100);
  Dataset::Options options;
  options.verify_at_touch = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  CHECK(dataset->checked_bytes() == 0);
  const ShardReader reader(*dataset->shard({1}));
  const ShardColumn column = reader.NodeColumn(NodeTypeId{0}, 0);
  CheckDataLossNaming(reader.ReadRange(column, 0, 1, [](const char*) {}), path);
  CheckDataLossNaming(dataset->fault({1}), path);
}

TEST_CASE("a dataset of format version 1 opens, and is checked as a whole", "[partition]") {
  const WrittenSet set;
  VICINITY_REQUIRE_OK(testing::MakeVersion1(set.path()));
  Dataset::Options options;
  options.verify_at_touch = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  CHECK(dataset->manifest().format_version() == 1);
  CHECK(dataset->checked_bytes() > 0);
  CHECK(dataset->unchecked().empty());
  const ShardReader reader(*dataset->shard({1}));
  VICINITY_CHECK_OK(
      reader.ReadRange(reader.NodeColumn(NodeTypeId{0}, 0), 0, 1, [](const char*) {}));
  const std::string path = set.File("shard-00001/nodes.user.column.features");
  testing::FlipBit(path, 100);
  CheckDataLossNaming(Dataset::Open(set.path(), options).status(), path);
}

TEST_CASE("a newer data file is refused as newer", "[partition]") {
  const WrittenSet set;
  const std::string path = set.File("shard-00002/edges.user.knows.user.sources");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, MappedFile::Open(path));
  VICINITY_ASSERT_OK_AND_ASSIGN(FileHeader header,
                                ReadHeader(path, file->bytes(), FileKind::kSources));
  header.format_version = kFormatVersion + 1;
  header.checksum = Checksum({reinterpret_cast<const char*>(&header), 56});
  testing::OverwriteValue(path, 0, header);
  const absl::Status status = set.OpenUnchecked();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains(path));
}

TEST_CASE("files of another type or shard in a file's place are noticed", "[partition]") {
  const WrittenSet set;
  const auto [from, to] = GENERATE(table<std::string, std::string>({
      {"shard-00000/nodes.user.column.label", "shard-00000/nodes.user.keys"},
      {"shard-00001/nodes.user.keys", "shard-00000/nodes.user.keys"},
      {"shard-00001/edges.user.knows.user.offsets", "shard-00000/edges.user.knows.user.offsets"},
      {"shard-00000/edges.user.knows.user.sources", "shard-00000/edges.user.buys.item.sources"},
      {"shard-00000/edges.user.knows.user.ids", "shard-00000/edges.user.knows.user.sources"},
      {"shard-00000/nodes.item.directory.keys", "shard-00000/nodes.user.directory.keys"},
      {"shard-00000/nodes.item.names.bytes", "shard-00001/nodes.item.names.bytes"},
  }));
  std::filesystem::copy_file(set.File(from), set.File(to),
                             std::filesystem::copy_options::overwrite_existing);
  VICINITY_REQUIRE_OK(testing::Reseal(set.path()));
  CheckDataLossNaming(set.OpenUnchecked(), set.path());
}

TEST_CASE("a book or schema that does not fit its files is noticed", "[partition]") {
  const WrittenSet set;
  const proto::Manifest& good = set.manifest();
  const auto opened_with = [&](const proto::Manifest& manifest) {
    VICINITY_REQUIRE_OK(WriteManifest(set.path(), manifest));
    return set.OpenUnchecked();
  };
  VICINITY_CHECK_OK(opened_with(good));

  proto::Manifest bad = good;  // a node moves to another shard
  auto* begins = bad.mutable_book()->mutable_node_types(0)->mutable_begins();
  begins->Set(1, begins->Get(1) + 1);
  CheckDataLossNaming(opened_with(bad), "nodes.user.");
  bad = good;  // a node more than there is
  begins = bad.mutable_book()->mutable_node_types(2)->mutable_begins();
  begins->Set(3, begins->Get(3) + 1);
  CheckDataLossNaming(opened_with(bad), "nodes.tag.");
  bad = good;
  bad.mutable_book()->mutable_node_types(1)->set_begins(0, 5);
  CheckDataLossNaming(opened_with(bad), "manifest.textproto");
  bad = good;
  bad.mutable_book()->mutable_node_types()->RemoveLast();
  CheckDataLossNaming(opened_with(bad), "manifest.textproto");
  bad = good;
  bad.mutable_shards()->RemoveLast();
  CheckDataLossNaming(opened_with(bad), "manifest.textproto");
  bad = good;
  bad.mutable_shards(0)->mutable_files()->RemoveLast();
  CheckDataLossNaming(opened_with(bad), "manifest.textproto");
  bad = good;
  bad.mutable_shards(0)->mutable_files(0)->set_path("shard-00000/other");
  CheckDataLossNaming(opened_with(bad), "shard-00000/nodes.user.keys");
  bad = good;
  bad.mutable_schema()->mutable_node_types(0)->mutable_columns(0)->set_shape(0, 6);
  CheckDataLossNaming(opened_with(bad), "nodes.user.column.features");
  bad = good;
  bad.mutable_schema()->mutable_node_types(0)->set_name("../user");
  CheckDataLossNaming(opened_with(bad), "manifest.textproto");
}

TEST_CASE("offsets that do not end where their list ends are noticed without checksums",
          "[partition]") {
  const WrittenSet set;
  const std::string name = GENERATE(std::string("shard-00001/edges.user.knows.user.offsets"),
                                    std::string("shard-00001/nodes.item.names.offsets"));
  testing::OverwriteValue(set.File(name), 64, uint64_t{1});
  CheckDataLossNaming(set.OpenUnchecked(), set.File(name));
}

// Where the last of a file's 8-byte values is.
int64_t LastValue(const std::string& path, FileKind kind) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, MappedFile::Open(path));
  VICINITY_ASSERT_OK_AND_ASSIGN(const FileHeader header, ReadHeader(path, file->bytes(), kind));
  return static_cast<int64_t>(sizeof(FileHeader) + 8 * (header.num_rows - 1));
}

// A file that nobody has checked yet may hold anything: readers must survive it.
TEST_CASE("unchecked files with wild offsets and sources are read without a crash", "[partition]") {
  const WrittenSet set;
  const std::string offsets = set.File("shard-00001/edges.user.knows.user.offsets");
  const std::string sources = set.File("shard-00001/edges.user.knows.user.sources");
  const std::string names = set.File("shard-00001/nodes.item.names.offsets");
  const int64_t last = LastValue(offsets, FileKind::kOffsets);
  for (int64_t at = 72; at < last; at += 8) {
    testing::OverwriteValue(offsets, at, at % 16 == 0 ? UINT64_MAX : uint64_t{1} << 40);
  }
  const int64_t last_name = LastValue(names, FileKind::kRaggedOffsets);
  for (int64_t at = 72; at < last_name; at += 8) testing::OverwriteValue(names, at, ~at);
  testing::OverwriteValue(sources, 64, UINT32_MAX);
  Dataset::Options options;
  options.check_bytes = 0;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  const EdgeTable& edges = dataset->shard({1})->edges(EdgeTypeId{3});
  int64_t sum = 0;
  for (int64_t row = 0; row < edges.num_targets(); ++row) {
    for (int64_t i = 0; i < edges.degree(row); ++i) sum += edges.sources[edges.begin(row) + i];
  }
  CHECK(sum >= 0);
  CHECK_FALSE(dataset->book().Contains(NodeTypeId{0}, {edges.sources[0]}));
  const NodeTable& items = dataset->shard({1})->nodes(NodeTypeId{1});
  for (int64_t row = 0; row < items.num_nodes(); ++row) {
    CHECK(items.names.row(row).size() <= items.names.bytes.size());
  }
}

}  // namespace
}  // namespace vicinity
