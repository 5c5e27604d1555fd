// Writers that are killed at any moment: nothing that was acknowledged is lost, nothing is there by
// half, and the shard opens again every time.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

constexpr char kGraphVariable[] = "VICINITY_CRASH_TEST_GRAPH";
constexpr char kChangesVariable[] = "VICINITY_CRASH_TEST_CHANGES";

// What the other process does: writes batches from the shard's version on until it is killed, and
// tells the number of each on standard output once it is acknowledged.
TEST_CASE("writes until it is killed", "[.writer]") {
  const char* const graph = std::getenv(kGraphVariable);
  const char* const changes = std::getenv(kChangesVariable);
  REQUIRE(graph != nullptr);
  REQUIRE(changes != nullptr);
  auto dataset = Dataset::Open(graph);
  VICINITY_REQUIRE_OK(dataset.status());
  const LiveBase base = testing::BaseOf(**dataset);
  LiveShardOptions options;
  options.store.buffer_bytes = 64 << 10;  // so that it is killed while RocksDB sorts, too
  auto shard = LiveShard::Open(base, changes, options);
  VICINITY_REQUIRE_OK(shard.status());
  proto::WriteSession session;
  session.set_id("crash test");
  const absl::Time end = absl::Now() + absl::Seconds(20);
  for (uint64_t n = (*shard)->version() + 1; absl::Now() < end; ++n) {
    session.set_sequence(n);
    const auto applied = (*shard)->Apply(session, testing::NumberedBatch(base, n),
                                         testing::NumberedDurability(n), end);
    VICINITY_REQUIRE_OK(applied.status());
    REQUIRE(applied->version == n);
    REQUIRE(write(STDOUT_FILENO, &n, sizeof(n)) == sizeof(n));
  }
}

// Waits for the first number that is told, for some seconds at most.
uint64_t FirstTold(int from) {
  pollfd told = {from, POLLIN, 0};
  uint64_t first = 0;
  if (poll(&told, 1, 10'000) <= 0) return 0;
  return read(from, &first, sizeof(first)) == sizeof(first) ? first : 0;
}

// Runs this program's writer, for so long from its first batch on, or from its start; gives the
// last number that it told, or 0.
uint64_t WriteUntilKilled(bool wait_for_first, std::chrono::microseconds time) {
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t writer = fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {  // nothing but system calls up to exec
    dup2(ends[1], STDOUT_FILENO);
    execl("/proc/self/exe", "crash_test", "[.writer]", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  uint64_t last = wait_for_first ? FirstTold(ends[0]) : 0;
  std::this_thread::sleep_for(time);
  kill(writer, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(writer, &status, 0) == writer);
  CHECK(WIFSIGNALED(status));  // else it ended by itself: something was wrong
  uint64_t told = 0;
  while (read(ends[0], &told, sizeof(told)) == sizeof(told)) last = told;
  close(ends[0]);
  return last;
}

TEST_CASE("a writer that is killed again and again loses nothing that was acknowledged",
          "[crash]") {
  const int num_cycles = testing::SizeFromEnvironment("VICINITY_CRASH_CYCLES", 200);
  const testing::TempDir folder;
  testing::RandomGraphOptions options;
  options.weights = true;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder.File("graph")));
  auto dataset = Dataset::Open(folder.File("graph"));
  VICINITY_REQUIRE_OK(dataset.status());
  const LiveBase base = testing::BaseOf(**dataset);
  testing::LiveModel model(graph, testing::InUserOrder(graph), base);
  REQUIRE(setenv(kGraphVariable, folder.File("graph").c_str(), 1) == 0);
  REQUIRE(setenv(kChangesVariable, folder.File("changes").c_str(), 1) == 0);

  std::mt19937_64 random(1);
  uint64_t applied = 0;
  int with_writes = 0;
  for (int cycle = 0; cycle < num_cycles; ++cycle) {
    CAPTURE(cycle);
    const uint64_t acknowledged =
        WriteUntilKilled(cycle % 4 > 0, std::chrono::microseconds(random() % 20'000));
    if (acknowledged > 0) ++with_writes;
    if (cycle % 10 != 9 && acknowledged == 0) continue;
    auto shard = LiveShard::Open(base, folder.File("changes"), LiveShardOptions());
    VICINITY_REQUIRE_OK(shard.status());
    REQUIRE((*shard)->version() >= std::max(acknowledged, applied));
    while (applied < (*shard)->version())
      model.Apply(base, testing::NumberedBatch(base, ++applied));
    if (cycle % 10 != 9) continue;
    const auto view = (*shard)->Latest();
    REQUIRE(model.Difference(base, ShardReader(base.shard, view.get())) == "");
  }
  CHECK(with_writes >= num_cycles / 2);
  CHECK(applied > static_cast<uint64_t>(num_cycles));
}

}  // namespace
}  // namespace vicinity
