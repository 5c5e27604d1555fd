// Processes that are ended at every named moment of what is kept of changes, between one step on
// the disk and the next: while they write a shard, keep a backup, restore one and fold. Ended again
// in what they do then to recover, twice, they lose nothing that was acknowledged, show nothing
// that was not written, and the next one opens it and goes on.
//
// The moments are those of partition/overlay/failpoint.h, and RocksDB's calls of its file system
// (tests/testing/power/watched_fs.h). One that none of the work comes by fails the test.
//
// VICINITY_FAILPOINT_ROUNDS (5) sets how often each ends a process.
#include "partition/overlay/failpoint.h"

#include <fcntl.h>
#include <rocksdb/env.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/backup/live_backup.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/dataset/whole_read.h"
#include "partition/fold/fold.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "partition/writing/audit.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/power/watched_fs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

constexpr char kServer[] = "a";
constexpr int kLives = 6;  // RocksDB puts four sorted files together, and each life leaves one
constexpr uint64_t kBatchesOfLife = 12;
constexpr unsigned kLimitSeconds = 60;  // of a process
constexpr uint64_t kBatches = 30;       // that are kept, restored and folded

// RocksDB's calls that the work comes by, beside our own failpoints.
constexpr const char* kRocksCalls[] = {
    "current.rename",   "folder.sync",    "identity.rename", "log.append",      "log.delete",
    "log.make",         "log.sync",       "log.torn",        "manifest.append", "manifest.delete",
    "manifest.make",    "manifest.sync",  "manifest.torn",   "options.delete",  "options.rename",
    "sst.append",       "sst.delete",     "sst.make",        "sst.sync",        "sst.torn",
    "temporary.append", "temporary.make", "temporary.sync",  "temporary.torn",
};

// The folders of the work, in one that the test owns.
struct Places {
  std::string folder;

  std::string graph() const { return folder + "/graph"; }
  std::string changes() const { return folder + "/changes"; }  // of whoever writes
  std::string shard() const { return changes() + "/shard-00000"; }
  std::string written() const { return folder + "/written"; }  // kBatches, for the others
  std::string kept() const { return folder + "/kept"; }
  std::string backup() const { return folder + "/backup"; }  // whole, for who restores
  std::string restored() const { return folder + "/restored"; }
  std::string folded() const { return folder + "/folded"; }
  std::string over() const { return folder + "/over"; }  // as written, of who starts over
  std::string told() const { return folder + "/told"; }  // the last batch acknowledged
  std::string failure() const { return folder + "/failure"; }
  std::string counts() const { return folder + "/counts"; }  // of who came to his end
};

// Of the other process: counts what it is told of, and ends the process the n-th time that it is
// `point`, or anything.
class Watch {
 public:
  Watch(std::string point, int pass) : point_(std::move(point)), left_(pass) {}

  void Pass(const std::string& point) {
    const std::lock_guard<std::mutex> lock(mu_);
    ++counts_[point];
    if (!point_.empty() && point != point_) return;
    if (--left_ == 0) kill(getpid(), SIGKILL);
  }
  std::map<std::string, int> counts() {
    const std::lock_guard<std::mutex> lock(mu_);
    return counts_;
  }

 private:
  const std::string point_;
  std::mutex mu_;
  int left_;
  std::map<std::string, int> counts_;
};

Watch* the_watch = nullptr;

struct Acknowledged {
  uint64_t batch = 0;
  uint64_t term = 0;  // in which the shard has its writer
};

// It stays when the process is killed, as all that the kernel has.
void Tell(const Places& places, const Acknowledged& last) {
  const int file = open(places.told().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool written = pwrite(file, &last, sizeof(last), 0) == sizeof(last);
  close(file);
  if (!written) std::abort();
}

absl::Status WriteShard(const LiveBase& base, LiveShard* shard, uint64_t count,
                        const std::function<void(uint64_t)>& tell) {
  proto::WriteSession session;
  session.set_id("failpoint test");
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t n = shard->version() + 1;
    session.set_sequence(n);
    VICINITY_RETURN_IF_ERROR(shard
                                 ->Apply(session, testing::NumberedBatch(base, n),
                                         testing::NumberedDurability(n),
                                         absl::Now() + absl::Minutes(1))
                                 .status());
    tell(n);
  }
  return shard->Sync();
}

// Each life in a term of its own.
absl::Status Write(const Places& places, const Dataset& dataset) {
  const LiveBase base = testing::BaseOf(dataset);
  const auto watched =
      std::make_shared<testing::WatchedFs>([](const std::string& call) { the_watch->Pass(call); });
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(watched);
  LiveShardOptions options;
  options.store.env = env.get();
  options.servers.self = options.servers.first = kServer;
  fs::create_directories(places.changes());
  for (int life = 0; life < kLives; ++life) {
    VICINITY_ASSIGN_OR_RETURN(const auto shard, LiveShard::Open(base, places.shard(), options));
    const WriterTerm writer = {shard->writer().term + 1, kServer};
    VICINITY_RETURN_IF_ERROR(shard->Appoint(writer));
    Tell(places, {shard->version(), writer.term});
    VICINITY_RETURN_IF_ERROR(WriteShard(base, shard.get(), kBatchesOfLife, [&](uint64_t n) {
      Tell(places, {n, writer.term});
    }));
  }
  return absl::OkStatus();
}

// A copy that differs from the writer's is set aside, and the writer's comes in its place.
absl::Status StartOver(const Places& places, const Dataset& dataset) {
  VICINITY_ASSIGN_OR_RETURN(const auto live,
                            LiveDataset::Open(dataset, places.over(), LiveDatasetOptions()));
  VICINITY_RETURN_IF_ERROR(live->StartOver({0}, {1, kServer}, absl::Now() + absl::Minutes(1)));
  VICINITY_ASSIGN_OR_RETURN(const auto shard, live->Find({0}));
  return WriteShard(testing::BaseOf(dataset), shard.get(), kBatchesOfLife, [](uint64_t) {});
}

// What a backup asks a shard for.
class KeptShardAccess final : public AnswersAlike<KeptShardAccess> {
 public:
  explicit KeptShardAccess(const LiveShard* shard) : shard_(*shard) {}
  bool remote() const override { return false; }

  template <typename Request>
  void AskAny(const Request& /*request*/, const CallContext& /*context*/, const Done& done) {
    done(absl::UnimplementedError(Request::kMethod));
  }
  void AskAny(const ShardBarrier& request, const CallContext& /*context*/, const Done& done) {
    *request.out = shard_.SizesAt(shard_.version());
    done(absl::OkStatus());
  }
  void AskAny(const ShardChanges& request, const CallContext& /*context*/, const Done& done) {
    const uint64_t last = std::min(request.after + request.count, shard_.version());
    for (uint64_t version = request.after + 1; version <= last; ++version) {
      absl::StatusOr<proto::Change> change = shard_.ReadChange(version);
      if (!change.ok()) return done(change.status());
      request.out->push_back(*std::move(change));
    }
    done(absl::OkStatus());
  }

 private:
  const LiveShard& shard_;
};

absl::Status Keep(const Places& places, const Dataset& dataset) {
  VICINITY_ASSIGN_OR_RETURN(const auto live,
                            LiveDataset::Open(dataset, places.written(), LiveDatasetOptions()));
  VICINITY_ASSIGN_OR_RETURN(const auto shard, live->Find({0}));
  std::vector<std::unique_ptr<ShardAccess>> shards;
  shards.push_back(std::make_unique<KeptShardAccess>(shard.get()));
  const ShardRouter router(dataset.schema(), dataset.book(), std::move(shards));
  return KeepChanges(router, dataset.fingerprint(), places.kept(), NoProgress()).status();
}

absl::Status Restore(const Places& places, const Dataset& dataset) {
  return RestoreChanges(places.backup(), dataset, places.restored(), NoProgress()).status();
}

absl::Status Fold(const Places& places, const Dataset& /*dataset*/) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> whole, OpenForPasses(places.graph()));
  return FoldChanges(*whole, places.written(), places.folded(), NoProgress()).status();
}

using Work = absl::Status (*)(const Places& places, const Dataset& dataset);
const std::map<std::string, Work> kWorks = {{"fold", Fold},
                                            {"keep", Keep},
                                            {"restore", Restore},
                                            {"start over", StartOver},
                                            {"write", Write}};

absl::StatusOr<std::unique_ptr<Dataset>> OpenGraph(const Places& places) {
  Dataset::Options options;
  options.grows = true;
  return Dataset::Open(places.graph(), options);
}

// What a process does, and when it ends: the given time that it comes to `point`; "": to any.
// 0: at the end of its work.
struct Order {
  char work[16] = {};
  char point[48] = {};
  int pass = 0;
};

absl::Status WorkUntilEnded(const Order& order, const Places& places) {
  Watch watch(order.point, order.pass);
  the_watch = &watch;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenGraph(places));
  failpoint_listener = [](Failpoint point) {
    the_watch->Pass(kFailpointNames[static_cast<size_t>(point)]);
  };
  VICINITY_RETURN_IF_ERROR(kWorks.at(order.work)(places, *dataset));
  failpoint_listener = nullptr;
  std::ofstream counts(places.counts());
  for (const auto& [point, count] : watch.counts()) counts << point << " " << count << "\n";
  return absl::OkStatus();
}

// A process that is forked before this one has any thread, and forks another one for each order: to
// start the program anew each time takes longer than its work.
//
// Lifetime: make it before anything that has threads.
class Victims {
 public:
  explicit Victims(const Places& places) {
    int sockets[2] = {};
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    socket_ = sockets[0];
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      close(socket_);
      Serve(sockets[1], places);
    }
    close(sockets[1]);
  }
  ~Victims() {
    close(socket_);
    waitpid(process_, nullptr, 0);
  }
  Victims(const Victims&) = delete;
  Victims& operator=(const Victims&) = delete;

  // How it ended, as waitpid says.
  int Run(const Order& order) const {
    int status = 0;
    REQUIRE(send(socket_, &order, sizeof(order), MSG_NOSIGNAL) == sizeof(order));
    REQUIRE(recv(socket_, &status, sizeof(status), 0) == sizeof(status));
    return status;
  }

 private:
  [[noreturn]] static void Serve(int socket, const Places& places) {
    Order order;
    while (recv(socket, &order, sizeof(order), 0) == sizeof(order)) {
      const pid_t victim = fork();
      if (victim == 0) {
        alarm(kLimitSeconds);
        const absl::Status done = WorkUntilEnded(order, places);
        if (!done.ok()) std::ofstream(places.failure()) << done;
        _exit(done.ok() ? 0 : 1);
      }
      int status = 0;
      if (victim < 0 || waitpid(victim, &status, 0) != victim) _exit(1);
      if (send(socket, &status, sizeof(status), MSG_NOSIGNAL) != sizeof(status)) _exit(1);
    }
    _exit(0);
  }

  int socket_ = -1;
  pid_t process_ = -1;
};

class FailpointTest {
 public:
  FailpointTest() {
    testing::RandomGraphOptions options;
    options.num_nodes = 40;
    options.num_edges = 120;
    options.weights = true;
    graph_ = testing::RandomGraph(options);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, places_.graph()));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, OpenGraph(places_));
    base_ = std::make_unique<LiveBase>(testing::BaseOf(*dataset_));
    {
      VICINITY_ASSERT_OK_AND_ASSIGN(
          const auto live, LiveDataset::Open(*dataset_, places_.written(), LiveDatasetOptions()));
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, live->Find({0}));
      VICINITY_REQUIRE_OK(WriteShard(*base_, shard.get(), kBatches, [](uint64_t) {}));
    }
    for (uint64_t n = 0; n <= kLives * kBatchesOfLife * 4; ++n) {
      if (n == 0) {
        models_.emplace_back(graph_, testing::InUserOrder(graph_), *base_);
        continue;
      }
      models_.push_back(models_.back());
      models_.back().Apply(*base_, testing::NumberedBatch(*base_, n));
    }
    VICINITY_REQUIRE_OK(Keep(places_, *dataset_));
    fs::rename(places_.kept(), places_.backup());
    VICINITY_REQUIRE_OK(Fold(places_, *dataset_));
    folded_ = FingerprintOf(places_.folded());
  }

  void Reset(const std::string& work) const {
    for (const std::string& path :
         {places_.changes(), places_.kept(), places_.restored(), places_.folded(), places_.over(),
          places_.told(), places_.counts()}) {
      fs::remove_all(path);
    }
    if (work == "start over") {
      fs::copy(places_.written(), places_.over(), fs::copy_options::recursive);
    }
  }

  // Whether a process was ended at its work, as Order says.
  bool Ended(const std::string& work, const std::string& point, int pass) const {
    Order order;
    REQUIRE(work.copy(order.work, sizeof(order.work) - 1) == work.size());
    REQUIRE(point.copy(order.point, sizeof(order.point) - 1) == point.size());
    order.pass = pass;
    const int status = victims_.Run(order);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    INFO(ReadFile(places_.failure()).value_or(absl::StrCat("it ended with status ", status)));
    REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return false;
  }

  // How often each kind of work comes by each point when nothing ends it.
  std::map<std::string, std::map<std::string, int>> CountAll() const {
    std::map<std::string, std::map<std::string, int>> all;
    for (const auto& [work, function] : kWorks) {
      Reset(work);
      REQUIRE_FALSE(Ended(work, "", 0));
      std::ifstream counts(places_.counts());
      int count = 0;
      for (std::string point; counts >> point >> count;) all[work][point] = count;
      Check(work);
    }
    return all;
  }

  // That what the work has left is right, and that it can be gone on with.
  void Check(const std::string& work) const {
    if (work == "write") CheckWritten();
    if (work == "keep") CheckKeptChanges();
    if (work == "restore") CheckRestored();
    if (work == "start over") CheckStartedOver();
    if (work == "fold") CheckFolded();
  }

  Acknowledged Told() const {
    Acknowledged told;
    std::ifstream(places_.told(), std::ios::binary)
        .read(reinterpret_cast<char*>(&told), sizeof(told));
    return told;
  }

 private:
  static uint64_t FingerprintOf(const std::string& directory) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(directory));
    return dataset->fingerprint();
  }

  std::string Difference(const LiveShard& shard) const {
    const auto view = shard.Latest();
    REQUIRE(shard.version() < models_.size());
    return models_[shard.version()].Difference(*base_, ShardReader(base_->shard, view.get()));
  }

  void CheckWritten() const {
    fs::create_directories(places_.changes());
    auto shard = LiveShard::Open(*base_, places_.shard(), LiveShardOptions());
    VICINITY_REQUIRE_OK(shard.status());
    REQUIRE((*shard)->version() >= Told().batch);
    REQUIRE((*shard)->writer().term >= Told().term);
    REQUIRE(Difference(**shard) == "");
    VICINITY_REQUIRE_OK(WriteShard(*base_, shard->get(), 1, [](uint64_t) {}));
    REQUIRE(Difference(**shard) == "");
  }

  void CheckKeptChanges() const {
    VICINITY_REQUIRE_OK(Keep(places_, *dataset_));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string kept,
                                  ReadFile(places_.kept() + "/shard-00000.changes"));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string wanted,
                                  ReadFile(places_.backup() + "/shard-00000.changes"));
    REQUIRE((kept == wanted));
  }

  void CheckRestored() const {
    VICINITY_REQUIRE_OK(Restore(places_, *dataset_));
    const std::string folder = places_.restored() + "/shard-00000";
    auto shard = LiveShard::Open(*base_, folder, LiveShardOptions());
    VICINITY_REQUIRE_OK(shard.status());
    REQUIRE((*shard)->version() == kBatches);
    REQUIRE(Difference(**shard) == "");
  }

  void CheckFolded() const {
    if (!fs::exists(places_.folded())) VICINITY_REQUIRE_OK(Fold(places_, *dataset_));
    VICINITY_REQUIRE_OK(VerifyDataset(places_.folded(), NoProgress()));
    REQUIRE(FingerprintOf(places_.folded()) == folded_);
    REQUIRE_FALSE(fs::exists(places_.folded() + ".partial"));
  }

  // What was written is there still, and all that was set aside reads.
  void CheckStartedOver() const {
    bool found = false;
    for (const auto& entry : fs::directory_iterator(places_.over())) {
      auto shard = LiveShard::Open(*base_, entry.path(), LiveShardOptions());
      VICINITY_REQUIRE_OK(shard.status());
      REQUIRE(Difference(**shard) == "");
      found = found || (*shard)->version() == kBatches;
    }
    REQUIRE(found);
  }

  const testing::TempDir folder_;
  const Places places_{folder_.path()};
  const Victims victims_{places_};
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::vector<testing::LiveModel> models_;  // after so many batches
  uint64_t folded_ = 0;
};

TEST_CASE_METHOD(FailpointTest,
                 "a process ended at any named moment, and twice while it recovers, loses nothing",
                 "[failpoint]") {
  const int rounds = testing::SizeFromEnvironment("VICINITY_FAILPOINT_ROUNDS", 5);
  const auto counts = CountAll();
  std::set<std::string> points(std::begin(kRocksCalls), std::end(kRocksCalls));
  points.insert(kFailpointNames.begin(), kFailpointNames.end());
  for (const auto& [work, of_work] : counts) {
    for (const auto& [point, count] : of_work) {
      CAPTURE(work, count);
      CHECK((points.count(point) == 1 ? "" : point) == "");  // else it is not in the list above
    }
  }

  std::mt19937 random(1);
  int ended = 0;
  int recovering = 0;
  for (const std::string& point : points) {
    std::vector<std::string> works;
    for (const auto& [work, of_work] : counts) {
      if (of_work.count(point) > 0) works.push_back(work);
    }
    CAPTURE(point);
    CHECK_FALSE(works.empty());
    if (works.empty()) continue;
    int of_point = 0;
    // What is done in the background is not done as often each time.
    for (int attempt = 0; attempt < 4 * rounds && of_point < rounds; ++attempt) {
      const std::string& work = works[attempt % works.size()];
      CAPTURE(work, attempt);
      Reset(work);
      if (!Ended(work, point, 1 + static_cast<int>(random() % counts.at(work).at(point)))) continue;
      ++of_point;
      for (int again = 0; again < 2; ++again) {
        const uint64_t told = Told().batch;
        if (!Ended(work, "", 1 + static_cast<int>(random() % 40))) continue;
        if (Told().batch == told) ++recovering;
      }
      Check(work);
    }
    CHECK(of_point == rounds);
    ended += of_point;
  }
  CHECK(recovering >= ended);
  std::cout << points.size() << " points, " << ended << " processes ended there, " << recovering
            << " more while they recovered\n";
}

}  // namespace
}  // namespace vicinity
