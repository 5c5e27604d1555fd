// Clusters with a bottleneck that was made on purpose, one of each kind: `vicinity why` names it.
//
// Each kind needs something of the machine that not every machine lets a test have: network
// namespaces for a slow link, control groups of version 1 for a slow disk, `taskset` and a second
// core for a server that is short of cores. Where it is missing the case says so and ends.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands/operate/why_command.h"
#include "client/graph.h"
#include "client/loader.h"
#include "partition/schema/sampling_spec.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/hosts/mounted_image.h"
#include "tests/testing/hosts/network_hosts.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using testing::RunningProgram;
using testing::Testbed;
using testing::TestbedOptions;

// A trainer in a thread, epoch after epoch, whose own step sleeps.
class Trainer {
 public:
  Trainer(GraphOptions where, LoaderOptions options, std::vector<int64_t> fanouts,
          milliseconds step = milliseconds(0))
      : step_(step) {
    where.metrics.listen = "127.0.0.1:0";
    where.connect_timeout = std::chrono::seconds(20);
    where.call_timeout = std::chrono::seconds(20);
    where.call_budget = std::chrono::seconds(60);
    auto graph = Graph::Open(where);
    INFO((graph.ok() ? "" : graph.error().message()));
    REQUIRE(graph.ok());
    graph_ = *std::move(graph);
    options.sampling = SamplingSpec::Uniform(graph_->schema(), fanouts);
    options.batch_timeout = std::chrono::seconds(120);
    auto loader = Loader::Create(graph_.get(), options);
    INFO((loader.ok() ? "" : loader.error().message()));
    REQUIRE(loader.ok());
    loader_ = *std::move(loader);
    thread_ = std::thread([this] { Run(); });
  }
  ~Trainer() {
    stop_ = true;
    thread_.join();
    CHECK(error_.empty());
  }

  std::string address() const { return "http://" + graph_->metrics_address(); }
  // Until so many batches have been trained on: what is read first is not what a trainer is like.
  void WaitFor(int64_t batches) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (batches_ < batches && std::chrono::steady_clock::now() < end && !ended_) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    CHECK(batches_ >= batches);
  }

 private:
  void Run() {
    for (int64_t epoch = 0; !stop_ && error_.empty(); ++epoch) Take(loader_->StartEpoch(epoch));
    ended_ = true;
  }
  void Take(const Error& started) {
    if (!started.ok()) error_ = started.message();
    while (!stop_ && error_.empty()) {
      auto batch = loader_->Next();
      if (!batch.ok()) error_ = batch.error().message();
      if (!batch.ok() || *batch == nullptr) return;
      ++batches_;
      std::this_thread::sleep_for(step_);
    }
  }

  const milliseconds step_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Loader> loader_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  std::atomic<int64_t> batches_{0};
  std::string error_;
  std::thread thread_;
};

nlohmann::json Why(const Trainer& trainer, const std::vector<std::string>& more, int seconds = 5) {
  std::vector<std::string> args = {trainer.address(), "--seconds", std::to_string(seconds)};
  args.insert(args.end(), {"--timeout", "20", "--format", "json"});
  args.insert(args.end(), more.begin(), more.end());
  const cli::Answer answer = cli::RunCommand(cli::kWhyCommand, args);
  INFO(answer.narration);
  REQUIRE(answer.code == cli::ExitCode::kOk);
  return nlohmann::json::parse(answer.out);
}

LoaderOptions Loading(int64_t batch_size) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.columns = {{"node", "features"}};
  options.cache = CachePolicy::kNone;
  return options;
}

GraphOptions Served(const Testbed& testbed) {
  GraphOptions where;
  where.cluster_file = testbed.cluster_file();
  return where;
}

// The first case: it takes this process to another network, before there are other threads.
TEST_CASE("a slow link is named", "[why]") {
  const auto network = testing::NetworkHosts::Make(1);
  if (absl::IsFailedPrecondition(network.status())) {
    WARN("skipped: " << network.status().message());
    return;
  }
  VICINITY_REQUIRE_OK(network);
  TestbedOptions options;
  options.graph.num_nodes = 20'000;
  options.graph.row_bytes = 1024;
  options.hosts = {{(*network)->RunThere(0), (*network)->address(0)}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  {
    const Trainer trainer(Served(*testbed), Loading(64), {5, 5});
    VICINITY_REQUIRE_OK((*network)->LimitRate(0, 40'000'000));
    trainer.WaitFor(12);
    const nlohmann::json verdict = Why(trainer, {"--cluster", testbed->cluster_file()});
    INFO(verdict.dump(1));
    CHECK(verdict["bound"] == "link");
    CHECK(verdict["stage"] == "fetch");
    // With the link's rate the trainer alone can tell.
    const nlohmann::json alone = Why(trainer, {"--link-gbps", "0.04"});
    INFO(alone.dump(1));
    CHECK(alone["bound"] == "link");
    VICINITY_CHECK_OK((*network)->LimitRate(0, 0));
  }
}

TEST_CASE("a trainer's own step is named", "[why]") {
  TestbedOptions options;
  options.graph.num_nodes = 4000;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  const Trainer trainer(Served(*testbed), Loading(32), {3, 3}, milliseconds(100));
  trainer.WaitFor(12);
  const nlohmann::json verdict = Why(trainer, {"--cluster", testbed->cluster_file()});
  INFO(verdict.dump(1));
  CHECK(verdict["bound"] == "device");
  CHECK(verdict["advice"][0]["speedup"] > 1.5);
}

TEST_CASE("sampling that takes all of its thread's time is named", "[why]") {
  TestbedOptions options;
  options.graph.num_nodes = 20'000;
  options.graph.row_bytes = 24;
  options.graph.max_degree = 64;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  GraphOptions files;
  files.directory = testbed->directory();
  const Trainer trainer(files, Loading(1024), {25, 20, 20});
  trainer.WaitFor(4);
  const nlohmann::json verdict = Why(trainer, {});
  INFO(verdict.dump(1));
  CHECK(verdict["bound"] == "sampling");
  CHECK(verdict["stage"] == "sample");
}

// This thread, and what it starts from now on, keeps off the first core while this exists.
class OffFirstCore {
 public:
  OffFirstCore() {
    CPU_ZERO(&before_);
    REQUIRE(sched_getaffinity(0, sizeof(before_), &before_) == 0);
    cpu_set_t others = before_;
    CPU_CLR(0, &others);
    made_ = CPU_ISSET(0, &before_) && CPU_COUNT(&others) > 0 &&
            sched_setaffinity(0, sizeof(others), &others) == 0;
  }
  ~OffFirstCore() { sched_setaffinity(0, sizeof(before_), &before_); }
  OffFirstCore(const OffFirstCore&) = delete;
  OffFirstCore& operator=(const OffFirstCore&) = delete;

  bool made() const { return made_; }

 private:
  cpu_set_t before_;
  bool made_ = false;
};

TEST_CASE("servers that lack cores are named", "[why]") {
  const OffFirstCore elsewhere;
  if (!elsewhere.made() || std::ifstream("/usr/bin/taskset").fail()) {
    WARN("skipped: it needs two cores and taskset");
    return;
  }
  TestbedOptions options;
  options.graph.num_nodes = 20'000;
  options.graph.row_bytes = 512;
  options.hosts = {{{"/usr/bin/nice", "-n", "15", "/usr/bin/taskset", "-c", "0"}, "127.0.0.1"}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  // Its one core has others' work, which goes first: the server needs far less than the trainer,
  // which must not be what is slow, and so has the other cores for itself.
  std::vector<std::unique_ptr<RunningProgram>> others;
  for (int i = 0; i < 6; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        auto other, RunningProgram::Start(
                        {"/usr/bin/taskset", "-c", "0", "/bin/sh", "-c", "while :; do :; done"}));
    others.push_back(std::move(other));
  }
  const Trainer trainer(Served(*testbed), Loading(128), {5, 5});
  trainer.WaitFor(12);
  const nlohmann::json verdict = Why(trainer, {"--cluster", testbed->cluster_file()});
  INFO(verdict.dump(1));
  CHECK(verdict["bound"] == "server-cpu");
}

// A control group whose processes read so many bytes a second from the disk of a folder.
class SlowDisk {
 public:
  SlowDisk() : folder_(absl::StrCat("/sys/fs/cgroup/blkio/vicinity-why-", getpid())) {
    made_ = mkdir(folder_.c_str(), 0755) == 0 &&
            std::ifstream(folder_ + "/blkio.throttle.read_bps_device").good();
  }
  ~SlowDisk() {
    for (int i = 0; i < 100 && rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;

  bool made() const { return made_; }
  // The beginning of a command that runs the rest in it.
  std::vector<std::string> RunThere() const {
    return {"/bin/sh", "-c",
            absl::StrCat("echo $$ > ", folder_, "/cgroup.procs && exec \"$0\" \"$@\"")};
  }
  bool Limit(const std::string& on, int64_t bytes_per_second) const {
    struct stat info {};
    if (stat(on.c_str(), &info) != 0) return false;
    std::ofstream out(folder_ + "/blkio.throttle.read_bps_device");
    out << major(info.st_dev) << ':' << minor(info.st_dev) << ' ' << bytes_per_second << std::flush;
    return out.good();
  }

 private:
  const std::string folder_;
  bool made_ = false;
};

// What is in memory of the files there, which nobody has mapped.
void DropFromMemory(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int file = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }
}

// A disk of its own, which reads ahead little: a page that is asked for brings few others.
//
// Run by hand alone: on some machines the limit slows nothing down, since the image's pages are in
// memory beneath it, and then there is no slow disk to be named. That the verdict is right where
// threads wait for a disk, tests/client/why/verdict_test.cc shows by numbers.
TEST_CASE("servers that read from a slow disk are named", "[.][why]") {
  const testing::TempDir scratch;
  const SlowDisk disk;
  const absl::Status made =
      testing::MakeImage(testing::ImageKind::kExt4, scratch.File("image"), int64_t{400} << 20);
  if (!made.ok() || !disk.made()) {
    WARN("skipped: it needs root, control groups of version 1 and mkfs.ext4");
    return;
  }
  const auto mounted = testing::MountedImage::Mount(scratch.File("image"), scratch.File("disk"));
  if (!mounted.ok()) {
    WARN("skipped: " << mounted.status().message());
    return;
  }
  TestbedOptions options;
  options.graph.num_nodes = 100'000;
  options.graph.row_bytes = 1024;
  options.hosts = {{disk.RunThere(), "127.0.0.1"}};
  options.server_flags = {"--check-rate", "1"};
  const char* const usual = std::getenv("TEST_TMPDIR");
  const std::string before = usual == nullptr ? "" : usual;
  setenv("TEST_TMPDIR", scratch.File("disk").c_str(), 1);
  const auto started = Testbed::Start(options);
  setenv("TEST_TMPDIR", before.c_str(), 1);
  if (before.empty()) unsetenv("TEST_TMPDIR");
  VICINITY_REQUIRE_OK(started);
  Testbed* const testbed = started->get();
  VICINITY_REQUIRE_OK(testbed->Kill(0));
  DropFromMemory(testbed->directory());
  VICINITY_REQUIRE_OK(testbed->Restart(0));
  REQUIRE(disk.Limit(testbed->directory(), 6 << 20));
  const Trainer trainer(Served(*testbed), Loading(8), {3});
  trainer.WaitFor(2);
  const nlohmann::json verdict = Why(trainer, {"--cluster", testbed->cluster_file()}, 8);
  INFO(verdict.dump(1));
  CHECK(verdict["bound"] == "disk");
}

}  // namespace
}  // namespace vicinity
