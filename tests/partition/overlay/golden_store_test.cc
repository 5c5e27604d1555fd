// Changes as earlier builds left them on the disk, one archive for each version of what lies there
// (tests/data/live): they open, are at every version what they were then, are written on, and what
// was kept of them is restored. Archives are never made anew.
//
// A new one, when the format changes: VICINITY_GOLDEN_FOLDER=live-N golden_store_test "[.make]",
// and tar.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/change_file.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/random_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::BaseOf;

constexpr const char* kArchives[] = {"live-1"};
constexpr uint64_t kVersions = 60;
constexpr uint64_t kVersionsOfLife = 20;
const WriterTerm kWriter = {3, "a"};

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

// What one archive holds.
struct Places {
  std::string folder;

  std::string graph() const { return folder + "/graph"; }
  std::string changes() const { return folder + "/shard-00000"; }
  std::string kept() const { return folder + "/shard-00000.changes"; }
  // A line for each version: it, the sum of all that a reader sees, and that of the change.
  std::string sums() const { return folder + "/sums"; }
};

void Add(int64_t number, std::string* all) { absl::StrAppend(all, number, ";"); }
void Add(std::string_view bytes, std::string* all) {
  absl::StrAppend(all, bytes.size(), ":");
  all->append(bytes);
}

std::vector<uint64_t> Rows(int64_t count) {
  std::vector<uint64_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

absl::Status AddColumn(const ShardReader& reader, const ShardColumn& column, int64_t count,
                       std::string* all) {
  const std::vector<uint64_t> rows = Rows(count);
  std::vector<std::string> values(count);
  VICINITY_RETURN_IF_ERROR(reader.ReadRows(
      column, rows, [] {},
      [&](size_t i, const char* row) { values[i].assign(row, column.row_bytes()); }));
  for (const std::string& value : values) Add(value, all);
  return absl::OkStatus();
}

absl::Status AddRagged(const ShardReader& reader, int32_t type, int32_t column, std::string* all) {
  const std::vector<uint64_t> rows = Rows(reader.num_nodes({type}));
  std::vector<std::string> values(rows.size());
  VICINITY_RETURN_IF_ERROR(reader.ReadRagged(
      {type}, column, rows, [] {},
      [&](size_t i, std::string_view row) {
        values[i] = std::string(row);
        return true;
      }));
  for (const std::string& value : values) Add(value, all);
  return absl::OkStatus();
}

absl::Status AddNodes(const LiveBase& base, const ShardReader& reader, int32_t type,
                      std::string* all) {
  const NodeTypeSpec& spec = base.schema.node_types[type];
  const int64_t count = reader.num_nodes({type});
  Add(count, all);
  VICINITY_RETURN_IF_ERROR(AddColumn(reader, reader.KeysColumn({type}), count, all));
  for (size_t c = 0; c < spec.columns.size(); ++c) {
    VICINITY_RETURN_IF_ERROR(
        AddColumn(reader, reader.NodeColumn({type}, static_cast<int32_t>(c)), count, all));
  }
  for (size_t c = 0; c < spec.ragged.size(); ++c) {
    VICINITY_RETURN_IF_ERROR(AddRagged(reader, type, static_cast<int32_t>(c), all));
  }
  if (spec.id_kind != IdKind::kString) return absl::OkStatus();
  return AddRagged(reader, type, kNamesColumn, all);
}

absl::Status AddEdges(const LiveBase& base, const ShardReader& reader, int32_t type,
                      std::string* all) {
  const EdgeTypeSpec& spec = base.schema.edge_types[type];
  Add(reader.num_edges({type}), all);
  for (const uint64_t row : Rows(reader.num_nodes({spec.target_type}))) {
    VICINITY_RETURN_IF_ERROR(reader.ReadList({type}, row, 0, std::numeric_limits<int64_t>::max(),
                                             [&](const ListPart& list) {
                                               Add(list.size(), all);
                                               for (int64_t i = 0; i < list.size(); ++i) {
                                                 Add(list.source(i), all);
                                                 Add(list.edge_id(i), all);
                                                 Add(list.position(i), all);
                                               }
                                             }));
  }
  for (size_t c = 0; c < spec.columns.size(); ++c) {
    VICINITY_RETURN_IF_ERROR(AddColumn(reader, reader.EdgeColumn({type}, static_cast<int32_t>(c)),
                                       reader.num_edges({type}), all));
  }
  return absl::OkStatus();
}

// Of all that a reader sees at a version.
absl::StatusOr<uint64_t> SumOfView(const LiveBase& base, const LiveShard& shard, uint64_t version) {
  VICINITY_ASSIGN_OR_RETURN(const auto view, shard.At(version));
  const ShardReader reader(base.shard, view.get());
  std::string all;
  for (size_t t = 0; t < base.schema.node_types.size(); ++t) {
    VICINITY_RETURN_IF_ERROR(AddNodes(base, reader, static_cast<int32_t>(t), &all));
  }
  for (size_t e = 0; e < base.schema.edge_types.size(); ++e) {
    VICINITY_RETURN_IF_ERROR(AddEdges(base, reader, static_cast<int32_t>(e), &all));
  }
  return Checksum(all);
}

uint64_t SumOfChange(const proto::Change& change) { return Checksum(change.SerializeAsString()); }

absl::StatusOr<std::string> LineOf(const LiveBase& base, const LiveShard& shard, uint64_t version) {
  VICINITY_ASSIGN_OR_RETURN(const uint64_t view, SumOfView(base, shard, version));
  if (version == 0) return absl::StrCat(version, " ", absl::Hex(view), " 0");
  VICINITY_ASSIGN_OR_RETURN(const proto::Change change, shard.ReadChange(version));
  return absl::StrCat(version, " ", absl::Hex(view), " ", absl::Hex(SumOfChange(change)));
}

absl::StatusOr<std::unique_ptr<LiveShard>> Open(const LiveBase& base, const std::string& folder) {
  LiveShardOptions options;
  options.servers = {"a", "a", 2};
  return LiveShard::Open(base, folder, options);
}

void WriteSums(const LiveBase& base, const LiveShard& shard, const std::string& path) {
  std::ofstream sums(path);
  for (uint64_t version = 0; version <= kVersions; ++version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string line, LineOf(base, shard, version));
    sums << line << "\n";
  }
}

// A file of changes has them all.
void Keep(const LiveBase& base, const LiveShard& shard, const std::string& path) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, ChangeFile::Open(path, base.Identity()));
  for (uint64_t version = 1; version <= shard.version(); ++version) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change change, shard.ReadChange(version));
    VICINITY_REQUIRE_OK(file->Append(change));
  }
  VICINITY_REQUIRE_OK(file->Sync());
}

TEST_CASE("makes what a later build is to open", "[.make]") {
  const char* const folder = std::getenv("VICINITY_GOLDEN_FOLDER");
  REQUIRE(folder != nullptr);
  const Places places{folder};
  std::filesystem::create_directories(folder);
  const testing::MemoryGraph graph = testing::TypedGraph(12, 9, 5, 1);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, places.graph()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(places.graph()));
  const LiveBase base = BaseOf(*dataset);
  testing::LiveModel model(graph, testing::InUserOrder(graph), base);
  testing::RandomBatches batches(base, model, 1);
  proto::WriteSession session;
  session.set_id("writer");
  for (uint64_t version = 0; version < kVersions;) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, Open(base, places.changes()));
    if (version == kVersionsOfLife) VICINITY_REQUIRE_OK(shard->Appoint(kWriter));
    for (uint64_t end = version + kVersionsOfLife; version < end;) {
      const proto::WriteBatch batch = batches.Batch();
      if (batch.ByteSizeLong() == 0) continue;
      session.set_sequence(++version);
      VICINITY_REQUIRE_OK(shard->Apply(session, batch, Durability::kSync, Soon()).status());
      model.Apply(base, batch);
    }
    const auto view = shard->Latest();
    REQUIRE(model.Difference(base, ShardReader(base.shard, view.get())) == "");
    if (version < kVersions) continue;
    // Not by one that was opened again, which has nothing in RocksDB's log.
    WriteSums(base, *shard, places.sums());
    Keep(base, *shard, places.kept());
  }
}

// The batch of a change before the shard had taken it.
proto::WriteBatch AsSent(const proto::Change& change) {
  proto::WriteBatch batch = change.batch();
  for (proto::EdgeRows& part : *batch.mutable_edge_rows()) part.mutable_edges()->clear_positions();
  for (proto::EdgeNames& part : *batch.mutable_gone_edges()) part.clear_positions();
  return batch;
}

// An archive in a folder of its own.
class Golden {
 public:
  explicit Golden(const std::string& archive) : places_{folder_.File(archive)} {
    const auto tar = testing::RunningProgram::Start(
        {"/bin/tar", "-xzf", absl::StrCat("tests/data/live/", archive, ".tar.gz"), "-C",
         folder_.path()});
    VICINITY_REQUIRE_OK(tar.status());
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, (*tar)->WaitForExit(absl::Seconds(60)));
    INFO((*tar)->output());
    REQUIRE(code == 0);
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(places_.graph()));
    base_ = std::make_unique<LiveBase>(BaseOf(*dataset_));
    std::ifstream sums(places_.sums());
    for (std::string line; std::getline(sums, line);) lines_.push_back(line);
    REQUIRE(lines_.size() == kVersions + 1);
  }

  const Places& places() const { return places_; }
  const LiveBase& base() const { return *base_; }
  void Check(const LiveShard& shard) const {
    for (uint64_t version = 0; version <= kVersions; ++version) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::string line, LineOf(*base_, shard, version));
      CHECK(line == lines_[version]);
    }
  }

 private:
  const testing::TempDir folder_;
  const Places places_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::vector<std::string> lines_;  // by version
};

TEST_CASE("changes that an earlier build wrote are what they were, and are written on",
          "[golden_store]") {
  for (const char* const archive : kArchives) {
    CAPTURE(archive);
    const Golden golden(archive);
    for (int life = 0; life < 2; ++life) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard,
                                    Open(golden.base(), golden.places().changes()));
      REQUIRE(shard->version() == kVersions + life);
      CHECK(shard->writer() == kWriter);
      CHECK(shard->TermOf(kVersionsOfLife) == 0);
      CHECK(shard->TermOf(kVersionsOfLife + 1) == kWriter.term);
      golden.Check(*shard);
      // A batch that is sent again is known, and the next one is taken.
      VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change last, shard->ReadChange(kVersions));
      proto::WriteSession session = last.session();
      VICINITY_ASSERT_OK_AND_ASSIGN(const AppliedBatch again,
                                    shard->Apply(session, AsSent(last), Durability::kSync, Soon()));
      CHECK(again.repeated);
      CHECK(again.version == kVersions);
      session.set_sequence(session.sequence() + 1 + life);
      proto::WriteBatch batch;
      batch.add_gone_nodes()->add_nodes(0);
      VICINITY_REQUIRE_OK(shard->Apply(session, batch, Durability::kSync, Soon()).status());
      CHECK(shard->version() == kVersions + 1 + life);
    }
  }
}

TEST_CASE("changes that an earlier build kept are restored, and kept on", "[golden_store]") {
  for (const char* const archive : kArchives) {
    CAPTURE(archive);
    const Golden golden(archive);
    const testing::TempDir folder;
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, Open(golden.base(), folder.File("restored")));
    VICINITY_ASSERT_OK_AND_ASSIGN(const ChangeFileFacts facts,
                                  ReadChangeFile(golden.places().kept(), [&](proto::Change change) {
                                    return shard->Repeat(std::move(change), Durability::kBuffered,
                                                         Soon());
                                  }));
    CHECK(facts.last_version == kVersions);
    CHECK_FALSE(facts.half_written);
    golden.Check(*shard);
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto file, ChangeFile::Open(golden.places().kept(), golden.base().Identity()));
    CHECK(file->last_version() == kVersions);
  }
}

}  // namespace
}  // namespace vicinity
