// A daemon of a live graph whose disk, a real file system of its own, is filled to the last block
// while it is written and read, and emptied again: reads go on, writes are refused at once and with
// the code that says so, and are taken again without a restart; nothing acknowledged is lost. So it
// is where the daemon looks before it writes, and where RocksDB is what meets the end of the disk.
//
// VICINITY_DISK_CYCLES (20) sets how often.
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/mounted_image.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using testing::CertifiedGraph;
using testing::CertifiedShape;
using testing::kSlower;
using testing::MountedImage;
using testing::Testbed;
using testing::TestbedOptions;

// RocksDB takes 70 MiB for a log before it writes any of it.
constexpr int64_t kDiskBytes = int64_t{512} << 20;
constexpr int64_t kReserveBytes = int64_t{96} << 20;
// Where RocksDB is to fill what it took before it meets the end: that much is written each time.
constexpr int64_t kLargerDiskBytes = int64_t{1} << 30;
constexpr int kCyclesOfLarger = 3;
constexpr int64_t kNodesOfWriter = 40;
constexpr int64_t kRowsOfBatch = 4;
constexpr int kWriters = 2;
const absl::Duration kRefusedWithin = absl::Seconds(1) * kSlower;
const absl::Duration kTakenWithin = absl::Seconds(10) * kSlower;

std::unique_ptr<Graph> Open(const Testbed& testbed) {
  GraphOptions options;
  options.cluster_file = testbed.cluster_file();
  options.connect_timeout = milliseconds(60'000);
  options.call_timeout = milliseconds(5'000 * kSlower);
  // Whoever is refused asks again for so long.
  options.call_budget = milliseconds(500 * kSlower);
  auto graph = Graph::Open(options);
  if (!graph.ok()) FAIL(graph.error().message());
  return *std::move(graph);
}

// 0: it is no row of the node.
uint64_t WritingOf(const CertifiedShape& shape, int64_t id, std::string_view row) {
  CertifiedShape written = shape;
  if (row.size() < 16) return 0;
  std::memcpy(&written.version, row.data() + 8, sizeof(written.version));
  return CertifiedGraph(written).CheckRow(id, row) == testing::RowFault::kNone ? written.version
                                                                               : 0;
}

// Rewrites rows of nodes of its own, each with the next number, one batch after the other: what is
// refused is sent again as it was. And reads them: a row is one that was written, and none older
// than what was acknowledged before.
//
// Threads: Write from one, Read from one; the rest from any.
class Site {
 public:
  Site(const CertifiedGraph& graph, int number)
      : shape_(graph.shape()),
        first_(graph.FirstOf(0) + number * kNodesOfWriter),
        random_(number),
        begun_(kNodesOfWriter),
        acknowledged_(kNodesOfWriter) {
    session_.set_id(absl::StrCat("writer ", number));
    for (int64_t i = 0; i < kNodesOfWriter; ++i) {
      ids_.push_back(graph.IdOf(first_ + i));
      begun_[i] = 1;
      acknowledged_[i] = 1;
    }
  }

  absl::Status Write(const Graph& graph) {
    if (pending_.empty()) Begin();
    AppliedBatch applied;
    FanOut calls;
    graph.impl().router().shard({0}).Ask(
        ShardWrite{&session_, &batch_,
                   session_.sequence() % 4 == 0 ? Durability::kSync : Durability::kBuffered,
                   &applied},
        nullptr, calls.Add());
    if (absl::Status status = calls.Wait(); !status.ok()) return status;
    for (const int64_t i : pending_) acknowledged_[i] = begun_[i].load();
    pending_.clear();
    ++num_batches_;
    return absl::OkStatus();
  }

  // What is wrong with a row that is read; "" nothing.
  std::string Read(const Graph& graph, int64_t i) {
    const uint64_t least = acknowledged_[i];
    const auto row = graph.Fetch(0, "features", {first_ + i});
    const uint64_t most = begun_[i];
    if (!row.ok()) return row.error().message();
    const uint64_t writing = WritingOf(shape_, ids_[i], {row->bytes.data(), row->bytes.size()});
    if (writing >= least && writing <= most) return "";
    return absl::StrCat("node ", ids_[i], " has writing ", writing, ", acknowledged is ", least,
                        ", begun ", most);
  }

  int64_t num_batches() const { return num_batches_; }

 private:
  void Begin() {
    session_.set_sequence(session_.sequence() + 1);
    batch_.Clear();
    proto::NodeRows& part = *batch_.add_node_rows();
    const auto from = static_cast<int64_t>(random_() % kNodesOfWriter);
    for (int64_t n = 0; n < kRowsOfBatch; ++n) {
      const int64_t i = (from + n) % kNodesOfWriter;
      pending_.push_back(i);
      CertifiedShape written = shape_;
      written.version = ++begun_[i];
      part.add_nodes(static_cast<uint64_t>(first_ + i));
      part.mutable_values()->mutable_rows()->append(CertifiedGraph(written).Row(ids_[i]));
    }
  }

  const CertifiedShape shape_;
  const int64_t first_;  // global
  std::mt19937_64 random_;
  std::vector<int64_t> ids_;
  std::vector<std::atomic<uint64_t>> begun_;
  std::vector<std::atomic<uint64_t>> acknowledged_;
  proto::WriteSession session_;
  proto::WriteBatch batch_;
  std::vector<int64_t> pending_;  // of the batch that has no answer yet
  std::atomic<int64_t> num_batches_{0};
};

// Writers and readers that go on until they are told to stop.
class Load {
 public:
  explicit Load(const Testbed& testbed) : graph_(Open(testbed)) {
    for (int number = 0; number < kWriters; ++number) {
      sites_.push_back(std::make_unique<Site>(testbed.graph(), number));
    }
    for (const auto& site : sites_) {
      threads_.emplace_back([this, site = site.get()] { WriteOn(site); });
      threads_.emplace_back([this, site = site.get()] { ReadOn(site); });
    }
  }
  ~Load() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // Until so many more writes are taken, or refused. False: not in time.
  bool WaitForTaken(int64_t more, absl::Duration limit) const {
    return WaitFor(num_taken_, more, limit);
  }
  bool WaitForRefused(int64_t more, absl::Duration limit) const {
    return WaitFor(num_refused_, more, limit);
  }

  const std::vector<std::unique_ptr<Site>>& sites() const { return sites_; }
  int64_t num_taken() const { return num_taken_; }
  int64_t num_refused() const { return num_refused_; }
  int64_t num_read() const { return num_read_; }
  absl::Duration longest_refusal() const { return absl::Nanoseconds(longest_refusal_.load()); }
  // What should not have been; "" nothing.
  std::string wrong() const {
    const MutexLock lock(&mu_);
    return wrong_;
  }

 private:
  void WriteOn(Site* site) {
    while (!stop_) {
      const absl::Time begun = absl::Now();
      const absl::Status status = site->Write(*graph_);
      const int64_t took = absl::ToInt64Nanoseconds(absl::Now() - begun);
      if (status.ok()) {
        ++num_taken_;
        std::this_thread::sleep_for(milliseconds(1));  // the disk is to be filled by another
      } else if (absl::IsResourceExhausted(status)) {
        ++num_refused_;
        if (took > longest_refusal_) longest_refusal_ = took;
      } else {
        Wrong(absl::StrCat("a write: ", status.ToString()));
      }
    }
  }
  void ReadOn(Site* site) {
    for (int64_t i = 0; !stop_; i = (i + 1) % kNodesOfWriter) {
      const std::string wrong = site->Read(*graph_, i);
      if (!wrong.empty()) Wrong(absl::StrCat("a read: ", wrong));
      ++num_read_;
    }
  }
  void Wrong(std::string what) {
    const MutexLock lock(&mu_);
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  static bool WaitFor(const std::atomic<int64_t>& count, int64_t more, absl::Duration limit) {
    const int64_t until = count + more;
    const absl::Time end = absl::Now() + limit;
    while (count < until && absl::Now() < end) std::this_thread::sleep_for(milliseconds(1));
    return count >= until;
  }

  const std::unique_ptr<Graph> graph_;
  std::vector<std::unique_ptr<Site>> sites_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> num_taken_{0};
  std::atomic<int64_t> num_refused_{0};
  std::atomic<int64_t> num_read_{0};
  std::atomic<int64_t> longest_refusal_{0};
  mutable Mutex mu_;
  std::string wrong_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

// Where a daemon keeps changes: a small disk, which is filled to its last block. Where nobody may
// mount one it is the disk that all share, of which the daemon is to leave three quarters of what
// is free. (It writes again when there is a quarter more than that.)
class Disk {
 public:
  explicit Disk(const testing::TempDir& folder, int64_t bytes = kDiskBytes)
      : folder_(folder.File("disk")) {
    const absl::Status made = Make(folder.File("image"), bytes);
    if (made.ok()) return;
    WARN("may not mount here, so no disk is filled to its last block: " << made);
    std::filesystem::create_directories(folder_);
    free_ = Free();
  }

  const std::string& folder() const { return folder_; }
  bool is_shared() const { return mounted_ == nullptr; }
  // What the daemon is to leave free.
  int64_t reserve_bytes() const { return mounted_ != nullptr ? kReserveBytes : free_ / 4 * 3; }

  // False: files cannot be given room here before they are written.
  bool Fill() {
    const int file = open(filler().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    bool filled = true;
    if (mounted_ == nullptr) {
      filled = fallocate(file, 0, 0, free_ / 10 * 3) == 0;
    } else {
      FillMounted(file);
    }
    close(file);
    return filled;
  }
  void Empty() { std::filesystem::remove(filler()); }

 private:
  absl::Status Make(const std::string& image, int64_t bytes) {
    VICINITY_RETURN_IF_ERROR(testing::MakeImage(testing::ImageKind::kExt4, image, bytes));
    VICINITY_ASSIGN_OR_RETURN(mounted_, MountedImage::Mount(image, folder_));
    return absl::OkStatus();
  }
  std::string filler() const { return folder_ + "/filler"; }
  int64_t Free() const {
    struct statvfs room {};
    REQUIRE(statvfs(folder_.c_str(), &room) == 0);
    return static_cast<int64_t>(room.f_bavail * room.f_frsize);
  }
  void FillMounted(int file) const {
    for (int time = 0; time < 3 && Free() > 0; ++time) {
      static_cast<void>(posix_fallocate(file, lseek(file, 0, SEEK_END), Free()));
    }
    const std::string block(4096, 'x');
    lseek(file, 0, SEEK_END);
    for (int blocks = 0; blocks < 100'000; ++blocks) {
      if (write(file, block.data(), block.size()) != static_cast<ssize_t>(block.size())) break;
    }
  }

  const std::string folder_;
  std::unique_ptr<MountedImage> mounted_;  // null: it is shared
  int64_t free_ = 0;                       // of a shared one at first
};

// What was acknowledged is there, and is when the daemon has been killed.
void CheckNothingIsLost(const Load& load, Testbed* testbed) {
  for (int life = 0; life < 2; ++life) {
    const auto graph = Open(*testbed);
    for (const auto& site : load.sites()) {
      for (int64_t i = 0; i < kNodesOfWriter; ++i) CHECK(site->Read(*graph, i) == "");
    }
    if (life == 0) VICINITY_REQUIRE_OK(testbed->Restart(0));
  }
}

bool WaitUntil(const std::function<bool()>& is_so, absl::Duration limit) {
  const absl::Time end = absl::Now() + limit;
  while (!is_so() && absl::Now() < end) std::this_thread::sleep_for(milliseconds(10));
  return is_so();
}

TEST_CASE(
    "a daemon whose disk is full reads on, refuses writes and takes them again once it is not",
    "[live_disk]") {
  const int cycles = testing::SizeFromEnvironment("VICINITY_DISK_CYCLES", 20);
  const testing::TempDir folder;
  Disk disk(folder);
  const bool can_be_filled = disk.Fill();
  disk.Empty();
  if (!can_be_filled) {
    WARN("nor can the disk that all share be filled without writing that much");
    return;
  }
  TestbedOptions options;
  options.graph.num_nodes = 500;
  options.graph.row_bytes = 4096;
  options.live = true;
  options.changes_below = disk.folder();
  options.server_flags = {"--changes-free-mib", absl::StrCat(disk.reserve_bytes() >> 20)};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  Load load(*testbed);
  std::mt19937 random(1);
  absl::Duration longest_until_refused;
  absl::Duration longest_until_taken;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    CAPTURE(cycle);
    REQUIRE(load.WaitForTaken(50 + static_cast<int64_t>(random() % 200), absl::Seconds(60)));
    REQUIRE(disk.Fill());
    absl::Time since = absl::Now();
    INFO(load.wrong());
    REQUIRE(load.WaitForRefused(1, kRefusedWithin));
    longest_until_refused = std::max(longest_until_refused, absl::Now() - since);
    const int64_t taken = load.num_taken();
    REQUIRE(load.WaitForRefused(2 * kWriters, absl::Seconds(60)));
    CHECK(load.num_taken() <= taken + kWriters);  // those that were on their way
    disk.Empty();
    since = absl::Now();
    REQUIRE(load.WaitForTaken(2 * kWriters, kTakenWithin));
    longest_until_taken = std::max(longest_until_taken, absl::Now() - since);
  }
  load.Stop();
  CHECK(load.wrong() == "");
  CHECK(load.longest_refusal() < kRefusedWithin);
  CheckNothingIsLost(load, testbed.get());
  std::cout << cycles << " times full: " << load.num_taken() << " batches taken, "
            << load.num_refused() << " refused, the first after at most "
            << absl::FormatDuration(longest_until_refused) << ", taken again after at most "
            << absl::FormatDuration(longest_until_taken) << ", " << load.num_read() << " reads\n";
}

TEST_CASE(
    "RocksDB meets a full disk, gets the reserve, and writes are taken again without a restart",
    "[live_disk]") {
  const testing::TempDir folder;
  Disk disk(folder, kLargerDiskBytes);
  if (disk.is_shared()) return;  // which nobody may fill to its last block
  TestbedOptions options;
  options.graph.num_nodes = 500;
  options.graph.row_bytes = 4096;
  options.live = true;
  options.changes_below = disk.folder();
  options.server_flags = {"--changes-free-mib", "0", "--changes-warn-mib", "256"};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  const std::string reserve = testbed->changes(0) + "/reserve-00000";
  const auto has_reserve = [&] { return std::filesystem::exists(reserve); };
  CHECK(has_reserve());
  Load load(*testbed);
  for (int cycle = 0; cycle < kCyclesOfLarger; ++cycle) {
    CAPTURE(cycle);
    REQUIRE(load.WaitForTaken(50, absl::Seconds(60)));
    REQUIRE(disk.Fill());
    INFO(load.wrong());
    REQUIRE(load.WaitForRefused(2 * kWriters, absl::Seconds(120) * kSlower));
    const int64_t read = load.num_read();
    CHECK_FALSE(has_reserve());
    // RocksDB has the room that leads out, and nobody else takes it.
    REQUIRE(load.WaitForRefused(4 * kWriters, absl::Seconds(60)));
    CHECK(load.num_read() > read);
    disk.Empty();
    const absl::Time since = absl::Now();
    REQUIRE(load.WaitForTaken(2 * kWriters, kTakenWithin));
    std::cout << "taken again after " << absl::FormatDuration(absl::Now() - since) << '\n';
    CHECK(WaitUntil(has_reserve, kTakenWithin));
  }
  load.Stop();
  CHECK(load.wrong() == "");
  CHECK(load.longest_refusal() < kRefusedWithin);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string log, testbed->Log(0));
  CHECK_THAT(log, Catch::Contains("nearly full") && Catch::Contains("was given up") &&
                      Catch::Contains("has room again"));
  CheckNothingIsLost(load, testbed.get());
  std::cout << load.num_taken() << " batches taken, " << load.num_refused() << " refused, "
            << load.num_read() << " reads\n";
}

}  // namespace
}  // namespace vicinity
