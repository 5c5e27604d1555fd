// A disk that fails one call, anywhere, while a shard is written, read and opened: a write that
// failed is told, nothing that failed is tried again as if it had not, and nothing that was
// acknowledged is lost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

constexpr char kFolderVariable[] = "VICINITY_FAILING_DISK_FOLDER";
constexpr uint64_t kBatches = 60;
constexpr uint64_t kAfterwards = 3;
constexpr auto kLong = absl::Minutes(1);

testing::MemoryGraph Graph() {
  testing::RandomGraphOptions options;
  options.weights = true;
  return testing::RandomGraph(options);
}

// So that RocksDB writes files, and reads them, all the time.
LiveShardOptions SmallMemory() {
  LiveShardOptions options;
  options.store.buffer_bytes = 64 << 10;
  options.row_cache_bytes = 0;
  return options;
}

std::unique_ptr<Dataset> Opened(const std::string& directory) {
  auto dataset = Dataset::Open(directory);
  VICINITY_REQUIRE_OK(dataset.status());
  return *std::move(dataset);
}

// A shard of it, below a folder that the test and the other process know.
struct Changed {
  explicit Changed(const std::string& folder)
      : dataset(Opened(folder + "/graph")),
        base(testing::BaseOf(*dataset)),
        model(Graph(), testing::InUserOrder(Graph()), base) {}

  void ApplyUpTo(uint64_t version) {
    while (applied < version) model.Apply(base, testing::NumberedBatch(base, ++applied));
  }
  // What readers see otherwise, or "".
  std::string Difference(const LiveShard& shard) {
    ApplyUpTo(shard.version());
    const auto view = shard.Latest();
    return model.Difference(base, ShardReader(base.shard, view.get()));
  }

  const std::unique_ptr<Dataset> dataset;
  const LiveBase base;
  testing::LiveModel model;
  uint64_t applied = 0;
};

absl::Status Apply(const LiveBase& base, uint64_t n, LiveShard* shard) {
  proto::WriteSession session;
  session.set_id("failing disk");
  session.set_sequence(n);
  return shard
      ->Apply(session, testing::NumberedBatch(base, n), testing::NumberedDurability(n),
              absl::Now() + kLong)
      .status();
}

// Every row, as a reader asks for them: as the model has it, or an error.
bool RowsAreRightOrRefused(const Changed& changed, const LiveShard& shard) {
  const auto view = shard.Latest();
  const ShardReader reader(changed.base.shard, view.get());
  const std::vector<std::string>& rows = changed.model.nodes(0).columns[0];
  for (uint64_t row = 0; row < rows.size(); ++row) {
    std::string read;
    const absl::Status status = reader.ReadRows(
        reader.NodeColumn(NodeTypeId{0}, 0), {row}, [&] { read.clear(); },
        [&](size_t, const char* bytes) { read.assign(bytes, rows[row].size()); });
    if (status.ok() && read != rows[row]) return false;
    if (!status.ok()) std::cout << "not read: " << status << '\n';
  }
  return true;
}

// What the other process does, line by line on its output.
TEST_CASE("writes on a disk that fails", "[.writer]") {
  const std::string folder = std::getenv(kFolderVariable);
  Changed changed(folder);
  auto shard = LiveShard::Open(changed.base, folder + "/changes", SmallMemory());
  if (!shard.ok()) {
    std::cout << "not opened: " << shard.status() << '\n';
    return;
  }
  uint64_t n = (*shard)->version() + 1;
  const uint64_t end = n + kBatches;
  for (; n < end; ++n) {
    const absl::Status status = Apply(changed.base, n, shard->get());
    if (!status.ok()) {
      std::cout << "refused " << n << ": " << status << '\n';
      break;
    }
    std::cout << "applied " << n << '\n';
  }
  // A store that has failed once takes nothing more, whatever the disk does meanwhile.
  for (uint64_t more = n; n < end && more < n + kAfterwards; ++more) {
    if (Apply(changed.base, more, shard->get()).ok()) std::cout << "applied all the same\n";
  }
  changed.ApplyUpTo((*shard)->version());
  for (int time = 0; time < 2; ++time) {
    if (!RowsAreRightOrRefused(changed, **shard)) std::cout << "read something else\n";
  }
}

class FailingDisk {
 public:
  explicit FailingDisk(std::string call) : call_(std::move(call)), changed_(Written()) {}

  // Runs the other process, whose at-th call fails; 0: none. It must end by itself, and well.
  std::string Run(int at) {
    fs::remove(told());
    auto program = testing::RunningProgram::Start(
        {"/usr/bin/env", "LD_PRELOAD=tests/testing/hosts/libdisk_shim.so",
         absl::StrCat("VICINITY_DISK_BELOW=", folder_.path(), "/changes"),
         absl::StrCat("VICINITY_DISK_CALL=", call_), absl::StrCat("VICINITY_DISK_AT=", at),
         absl::StrCat("VICINITY_DISK_TOLD=", told()),
         absl::StrCat(kFolderVariable, "=", folder_.path()), fs::read_symlink("/proc/self/exe"),
         "[.writer]"});
    VICINITY_REQUIRE_OK(program);
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, (*program)->WaitForExit(kLong));
    CAPTURE((*program)->output());
    REQUIRE(code == 0);
    return (*program)->output();
  }
  int num_calls() const {
    const std::string all = ReadFile(told()).value_or("");
    return static_cast<int>(std::count(all.begin(), all.end(), '\n'));
  }
  bool has_failed() const { return absl::StrContains(ReadFile(told()).value_or(""), "failed"); }

  // Opens what the other process left, on a disk that works.
  void CheckWhole(uint64_t acknowledged) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto shard,
        LiveShard::Open(changed_.base, folder_.File("changes"), LiveShardOptions()));
    CHECK(shard->version() >= acknowledged);
    CHECK(changed_.Difference(*shard) == "");
  }

 private:
  std::string Written() const {
    const testing::MemoryGraph graph = Graph();
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder_.File("graph")));
    return folder_.path();
  }
  std::string told() const { return folder_.File("told"); }

  const std::string call_;
  const testing::TempDir folder_;
  Changed changed_;
};

// The last batch that it said was applied, or 0.
uint64_t LastApplied(const std::string& output) {
  uint64_t last = 0;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    uint64_t number = 0;
    if (absl::StartsWith(line, "applied ") && absl::SimpleAtoi(line.substr(8), &number)) {
      last = number;
    }
  }
  return last;
}

TEST_CASE("a disk that fails once costs nothing that was acknowledged", "[failing_disk]") {
  const int failures = testing::SizeFromEnvironment("VICINITY_DISK_FAILURES", 70);
  const std::string call = GENERATE("write", "sync", "read");
  CAPTURE(call);
  FailingDisk disk(call);
  uint64_t acknowledged = LastApplied(disk.Run(0));
  REQUIRE(acknowledged == kBatches);
  disk.CheckWhole(acknowledged);
  // The first opening made the store; from now on it is opened with what is in it.
  disk.Run(0);
  acknowledged += kBatches;
  const int calls = disk.num_calls();
  REQUIRE(calls > 0);
  int seen = 0;
  int refused = 0;
  for (int i = 0; i < failures; ++i) {
    const int at = 1 + static_cast<int>(int64_t{i} * calls / failures);
    CAPTURE(at);
    const std::string output = disk.Run(at);
    CAPTURE(output);
    CHECK_FALSE(absl::StrContains(output, "all the same"));
    CHECK_FALSE(absl::StrContains(output, "something else"));
    acknowledged = std::max(acknowledged, LastApplied(output));
    disk.CheckWhole(acknowledged);
    seen += disk.has_failed() ? 1 : 0;
    refused += absl::StrContains(output, "refused") || absl::StrContains(output, "not ") ? 1 : 0;
  }
  CHECK(seen > failures / 2);  // background work does not always make as many calls
  CHECK(refused > 0);
}

}  // namespace
}  // namespace vicinity
