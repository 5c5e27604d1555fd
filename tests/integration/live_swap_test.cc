// A live graph whose fold is put in its place, with real daemons and the tool, while it is written
// and read.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/graph/fold_command.h"
#include "client/cli/commands/graph/write_command.h"
#include "client/cli/commands/live/promote_command.h"
#include "client/cli/commands/live/swap_command.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/writes/array_change_file.h"
#include "client/cli/writes/change_file.h"
#include "client/cli/writes/file_writing.h"
#include "client/graph.h"
#include "partition/dataset/manifest.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/progress.h"
#include "sampler/sampled_graph.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/live_load.h"
#include "tests/integration/fixtures/live_registers.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using cli::ExitCode;
using cli::RunCommand;
using std::chrono::milliseconds;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int32_t kNumShards = 2;
constexpr int kNumServers = 2;

std::unique_ptr<Graph> Open(const std::string& cluster_file) {
  GraphOptions options;
  options.cluster_file = cluster_file;
  options.connect_timeout = milliseconds(60'000);
  options.call_timeout = milliseconds(10'000);
  options.call_budget = milliseconds(15'000);
  auto graph = Graph::Open(options);
  if (!graph.ok()) FAIL(graph.error().message());
  return *std::move(graph);
}

struct SwapBed {
  SwapBed() {
    TestbedOptions options;
    options.graph.num_nodes = 1000;
    options.graph.num_shards = kNumShards;
    options.num_servers = kNumServers;
    options.replicas = kNumServers;
    options.live = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed, Testbed::Start(options));
    for (int number = 0; number < 3; ++number) {
      // The last is not replicated.
      const Durability durability = number < 2 ? Durability::kReplicated : Durability::kSync;
      writers.push_back(std::make_unique<RegisterWriter>(
          testbed->graph(), number, number % kNumShards, std::vector<Durability>{durability}));
    }
  }

  std::string next() const { return folder.File("next"); }
  cli::Answer Fold() const {
    return RunCommand(cli::kFoldCommand, {"--cluster", testbed->cluster_file(), "--data",
                                          testbed->directory(), "--out", next()});
  }
  cli::Answer Swap(const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> all = {
        "--cluster", testbed->cluster_file(), "--data", testbed->directory(), "--to", next()};
    all.insert(all.end(), flags.begin(), flags.end());
    return RunCommand(cli::kSwapCommand, all);
  }
  // Of all nodes, at the graph's versions.
  std::string ContentOf(const Graph& graph) const {
    std::vector<int64_t> nodes;
    for (int64_t node = 0; node < testbed->graph().shape().num_nodes; ++node) nodes.push_back(node);
    const auto rows = graph.Fetch(0, "features", nodes);
    INFO(rows.error().message());
    REQUIRE(rows.ok());
    std::string content(rows->bytes.begin(), rows->bytes.end());
    const auto sampled =
        graph.Sample(0, nodes, SamplingSpec::Uniform(graph.schema(), {5, 5}), DrawId());
    REQUIRE(sampled.ok());
    for (const int64_t node : sampled->nodes[0].ids) absl::StrAppend(&content, node, ",");
    return content;
  }

  const testing::TempDir folder;
  std::unique_ptr<Testbed> testbed;
  std::vector<std::unique_ptr<RegisterWriter>> writers;
};

TEST_CASE("a fold takes the place of a graph that is written and read meanwhile", "[live_swap]") {
  SwapBed bed;
  const auto graph = Open(bed.testbed->cluster_file());
  for (const auto& writer : bed.writers) {
    for (int i = 0; i < 10; ++i) VICINITY_REQUIRE_OK(writer->Write(*graph, nullptr));
  }
  std::vector<RegisterWriter*> writers;
  for (const auto& writer : bed.writers) writers.push_back(writer.get());
  LiveLoad load([&] { return Open(bed.testbed->cluster_file()); }, writers, 2);
  const auto versions = graph->Versions();
  REQUIRE(versions.ok());
  const auto pinned = graph->At(*versions);
  REQUIRE(pinned.ok());
  const std::string before = bed.ContentOf(**pinned);
  const cli::Answer folded = bed.Fold();
  std::this_thread::sleep_for(milliseconds(200));
  cli::Answer swapped;
  CHECK(load.DuringSwap([&] { swapped = bed.Swap(); }));
  std::this_thread::sleep_for(milliseconds(300));
  const std::string after = bed.ContentOf(**pinned);
  load.Stop();
  INFO(folded.narration);
  REQUIRE(folded.code == ExitCode::kOk);
  INFO(swapped.narration);
  REQUIRE(swapped.code == ExitCode::kOk);
  CHECK(load.wrong() == "");
  CHECK(load.num_failed() == 0);
  CHECK(load.num_read() > 20);
  CHECK(load.num_over() == 3);
  CHECK(before == after);
  const auto next = Open(bed.testbed->cluster_file());
  for (const auto& writer : bed.writers) {
    // What had no answer when the load stopped is asked once more.
    VICINITY_REQUIRE_OK(writer->Write(*next, nullptr));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest manifest, ReadManifest(bed.next()));
  CHECK(next->fingerprint() == manifest.fingerprint());
  for (const auto& writer : bed.writers) CHECK(writer->WrongIn(*next) == "");
  const cli::Answer again = bed.Swap({"--format", "json"});
  REQUIRE(again.code == ExitCode::kOk);
  CHECK(nlohmann::json::parse(again.out)["was_done"] == true);
  CHECK(bed.Swap({"--abort"}).code == ExitCode::kPrecondition);

  // Servers that start again have it, and write it on.
  for (int server = 0; server < kNumServers; ++server) {
    VICINITY_REQUIRE_OK(bed.testbed->Kill(server));
    VICINITY_REQUIRE_OK(bed.testbed->Restart(server));
  }
  const auto later = Open(bed.testbed->cluster_file());
  CHECK(later->fingerprint() == manifest.fingerprint());
  for (const auto& writer : bed.writers) {
    absl::Status written;
    for (const absl::Time until = absl::Now() + absl::Seconds(60); absl::Now() < until;) {
      written = writer->Write(*later, nullptr);
      if (written.ok()) break;
      absl::SleepFor(absl::Milliseconds(20));
    }
    VICINITY_REQUIRE_OK(written);
    CHECK(writer->WrongIn(*later) == "");
  }
  // The old one went with the processes that had it.
  const auto gone = graph->Fetch(0, "features", {1});
  REQUIRE_FALSE(gone.ok());
  CHECK_THAT(gone.error().message(), Catch::Contains("open the graph anew"));
}

TEST_CASE("a server that is lost right after a swap is followed by another", "[live_swap]") {
  SwapBed bed;
  const auto graph = Open(bed.testbed->cluster_file());
  VICINITY_REQUIRE_OK(bed.writers[0]->Write(*graph, nullptr));
  const cli::Answer folded = bed.Fold();
  INFO(folded.narration);
  REQUIRE(folded.code == ExitCode::kOk);
  const cli::Answer swapped = bed.Swap();
  INFO(swapped.narration);
  REQUIRE(swapped.code == ExitCode::kOk);
  VICINITY_REQUIRE_OK(bed.testbed->Kill(0));
  const cli::Answer promoted =
      RunCommand(cli::kPromoteCommand, {"--cluster", bed.testbed->cluster_file(), "--from", "s0"});
  INFO(promoted.narration);
  CHECK(promoted.code == ExitCode::kOk);
}

TEST_CASE("what the tool writes while a fold takes its place is all written, each once",
          "[live_swap]") {
  SwapBed bed;
  constexpr int64_t kHalf = 70'000;  // more than the tool keeps before it writes
  const auto graph = Open(bed.testbed->cluster_file());
  const auto count_edges = [](const Graph& of) {
    std::vector<int64_t> nodes(1000);
    std::iota(nodes.begin(), nodes.end(), 0);
    const auto degrees = of.Degrees(0, nodes);
    REQUIRE(degrees.ok());
    return std::accumulate(degrees->begin(), degrees->end(), int64_t{0});
  };
  const int64_t before = count_edges(*graph);
  const std::string pipe = bed.folder.File("edges.csv");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  cli::Answer written;
  std::thread tool([&] {
    written = RunCommand(cli::kWriteCommand,
                         {"--cluster", bed.testbed->cluster_file(), "--edges", "links", pipe});
  });
  const auto write_half = [&](std::ofstream* out) {
    for (int64_t i = 0; i < kHalf; ++i) *out << i % 1000 << ',' << i * 7 % 1000 << '\n';
    out->flush();
  };
  std::ofstream out(pipe);
  out << "source,target\n";
  write_half(&out);
  const cli::Answer folded = bed.Fold();
  const cli::Answer swapped = bed.Swap();
  write_half(&out);
  out.close();
  tool.join();
  INFO(folded.narration << swapped.narration << written.narration);
  REQUIRE(folded.code == ExitCode::kOk);
  REQUIRE(swapped.code == ExitCode::kOk);
  REQUIRE(written.code == ExitCode::kOk);
  CHECK_THAT(written.narration, Catch::Contains("taken the graph's place"));
  CHECK_THAT(written.out, Catch::Contains("140,000 edges"));
  const auto next = Open(bed.testbed->cluster_file());
  CHECK(count_edges(*next) == before + 2 * kHalf);
}

// A file that does something before one of its rows is read.
class InterruptedFile : public cli::ChangeFile {
 public:
  InterruptedFile(std::unique_ptr<cli::ChangeFile> file, int64_t at, std::function<void()> act)
      : ChangeFile(file->unit()), file_(std::move(file)), at_(at), act_(std::move(act)) {
    names_ = file_->names();
  }
  int64_t num_rows() const override { return file_->num_rows(); }
  std::optional<std::vector<int64_t>> RowShape(size_t field) const override {
    return file_->RowShape(field);
  }
  absl::StatusOr<Found> Next() override {
    if (num_read_++ == at_) act_();
    return file_->Next();
  }
  const cli::FileRow& row() const override { return file_->row(); }
  int64_t number() const override { return file_->number(); }
  std::string Place(int64_t number) const override { return file_->Place(number); }
  void Keep() override { file_->Keep(); }
  const cli::FileRow& Kept(int64_t i) override { return file_->Kept(i); }
  void Forget() override { file_->Forget(); }

 private:
  const std::unique_ptr<cli::ChangeFile> file_;
  const int64_t at_;
  const std::function<void()> act_;
  int64_t num_read_ = 0;
};

TEST_CASE("rows of arrays go over to the fold that has taken the graph's place", "[live_swap]") {
  SwapBed bed;
  constexpr int64_t kRows = 100'000;
  std::vector<int64_t> pairs;
  for (int64_t i = 0; i < kRows; ++i) pairs.insert(pairs.end(), {i % 1000, i * 7 % 1000});
  testing::WriteInput(bed.folder.File("edges.npy"),
                      testing::NpyBytes("<i8", "(100000, 2)", testing::Bytes(pairs)));
  const auto graph = Open(bed.testbed->cluster_file());
  std::vector<int64_t> nodes(1000);
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto before = graph->Degrees(0, nodes);
  REQUIRE(before.ok());
  auto array = cli::ArrayChangeFile::OpenNpy(bed.folder.File("edges.npy"), {"source", "target"});
  VICINITY_REQUIRE_OK(array);
  InterruptedFile file(*std::move(array), 80'000, [&] {
    const cli::Answer folded = bed.Fold();
    const cli::Answer swapped = bed.Swap();
    INFO(folded.narration << swapped.narration);
    REQUIRE(swapped.code == ExitCode::kOk);
  });
  cli::FileWritingOptions options;
  options.subject.of_edges = true;
  options.reopen = [&] { return Open(bed.testbed->cluster_file()); };
  auto writing =
      cli::FileWriting::Create(options, Open(bed.testbed->cluster_file()), &file, NoProgress());
  VICINITY_REQUIRE_OK(writing);
  VICINITY_REQUIRE_OK((*writing)->Run());
  CHECK((*writing)->num_written() == kRows);
  const auto next = Open(bed.testbed->cluster_file());
  CHECK(next->fingerprint() != graph->fingerprint());
  const auto after = next->Degrees(0, nodes);
  REQUIRE(after.ok());
  CHECK(std::accumulate(after->begin(), after->end(), int64_t{0}) ==
        std::accumulate(before->begin(), before->end(), int64_t{0}) + kRows);
}

TEST_CASE("a swap wants all servers, and leaves the graph as it was without", "[live_swap]") {
  SwapBed bed;
  const auto graph = Open(bed.testbed->cluster_file());
  for (const auto& writer : bed.writers) VICINITY_REQUIRE_OK(writer->Write(*graph, nullptr));
  const cli::Answer folded = bed.Fold();
  INFO(folded.narration);
  REQUIRE(folded.code == ExitCode::kOk);
  VICINITY_REQUIRE_OK(bed.testbed->Kill(1));
  const cli::Answer one = bed.Swap();
  CHECK(one.code == ExitCode::kNotConnected);
  CHECK_THAT(one.narration, Catch::Contains("s1"));
  VICINITY_REQUIRE_OK(bed.writers[2]->Write(*graph, nullptr));
  VICINITY_REQUIRE_OK(bed.testbed->Restart(1));
  CHECK(bed.Swap({"--at-servers", bed.folder.File("elsewhere")}).code != ExitCode::kOk);
  VICINITY_REQUIRE_OK(bed.writers[2]->Write(*graph, nullptr));
  const cli::Answer swapped = bed.Swap();
  INFO(swapped.narration);
  REQUIRE(swapped.code == ExitCode::kOk);
  const auto next = Open(bed.testbed->cluster_file());
  for (const auto& writer : bed.writers) {
    writer->GoOver();
    CHECK(writer->WrongIn(*next) == "");
  }
}

}  // namespace
}  // namespace vicinity
