// What a caller waits for who asks for one node at a time: a sample of two hops around it, and the
// rows of all nodes met, over loopback; alone, and beside as many others as keep the server half
// busy.
//
// Baseline: a textbook service, asked the same in the same three calls, hop, hop and rows.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/generate_command.h"
#include "client/cli/tool.h"
#include "client/graph.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "server/handlers/limits.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/baselines/plain_service.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
using Call = std::function<void(int64_t node, uint64_t draw)>;

constexpr int kCallers = 4;
const std::vector<int64_t> kFanouts = {10, 5};

[[noreturn]] void Fail(const std::string& why) {
  std::cerr << "online: " << why << '\n';
  std::exit(1);
}

// A graph of one shard with rows of 512 bytes, kept for the next run.
std::string DatasetWithRows(const BenchOptions& options) {
  const std::string scale = options.size == "full" ? "20" : "16";
  const std::string directory = absl::StrCat(options.data, "/online-", scale);
  if (std::filesystem::exists(directory)) return directory;
  std::filesystem::create_directories(options.data);
  std::stringstream narration;
  std::stringstream out;
  cli::ToolContext tool;
  tool.narration = &narration;
  tool.progress = NoProgress();
  const cli::Command command = cli::kGenerateCommand;
  const cli::ExitCode code =
      cli::RunTool({&command, 1},
                   {"generate", "rmat", "--scale", scale, "--symmetric", "--dedup",
                    "--drop-self-loops", "--feature-width", "128", "--output", directory},
                   tool, out);
  if (code != cli::ExitCode::kOk) Fail(narration.str());
  return directory;
}

// Callers that each have one call under way; between two beginnings of one caller there are at
// least `pause` seconds.
class Callers {
 public:
  Callers(int64_t num_nodes, double seconds) : num_nodes_(num_nodes), seconds_(seconds) {}

  // Microseconds of all calls, sorted.
  std::vector<double> Run(int num_callers, double pause, const Call& call) const {
    std::vector<std::vector<double>> taken(num_callers);
    std::vector<std::thread> threads;
    for (int t = 0; t < num_callers; ++t) {
      threads.emplace_back([&, t] { RunOne(t, pause, call, &taken[t]); });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<double> all;
    for (const std::vector<double>& of_one : taken) {
      all.insert(all.end(), of_one.begin(), of_one.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  double seconds() const { return seconds_; }

 private:
  void RunOne(int caller, double pause, const Call& call, std::vector<double>* taken) const {
    std::mt19937_64 random(caller);
    const Clock::time_point end = Clock::now() + Length(seconds_);
    // What comes late counts from when it should have begun.
    for (Clock::time_point due = Clock::now(); due < end;) {
      std::this_thread::sleep_until(due);
      call(static_cast<int64_t>(random() % num_nodes_), random());
      const Clock::time_point now = Clock::now();
      taken->push_back(std::chrono::duration<double, std::micro>(now - due).count());
      due = pause > 0 ? due + Length(pause) : now;
    }
  }

  static Clock::duration Length(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  const int64_t num_nodes_;
  const double seconds_;
};

class OnlineBenchmark {
 public:
  explicit OnlineBenchmark(const BenchOptions& options)
      : directory_(DatasetWithRows(options)),
        plain_(StartPlain(directory_, Limits().max_chunk_bytes)),
        server_(StartVicinity(directory_, Limits().max_chunk_bytes)),
        dataset_(OpenOneShard(directory_)),
        callers_(dataset_->book().num_nodes(NodeTypeId{0}), options.size == "full" ? 10 : 2),
        report_(options, std::cout) {
    // Waits until the server's first check is over.
    const VicinityLink until_verified(server_->port(), *dataset_, proto::PRECISION_STORED);
    client_ = std::make_unique<PlainClient>(MakePlainChannel(plain_->port()));
    const NodeTypeSpec& type = dataset_->schema().node_types[0];
    for (size_t i = 0; i < type.columns.size(); ++i) {
      if (type.columns[i].row_bytes() == 512) column_ = static_cast<int32_t>(i);
    }
    if (column_ < 0) Fail("the graph has no rows of 512 bytes");
    Open();
  }

  void Run() {
    const std::vector<double> idle = callers_.Run(1, 0, OurCall());
    const std::vector<double> plain_idle = callers_.Run(1, 0, PlainCall());
    Report("one caller", idle, plain_idle);
    const double ours = Pause(OurCall());
    const double plain = Pause(PlainCall());
    report_.Add({"online", absl::StrCat(kCallers, " callers"), "calls/s", 2 * kCallers / ours,
                 2 * kCallers / plain, std::nullopt});
    Report("half of what it can", callers_.Run(kCallers, ours, OurCall()),
           callers_.Run(kCallers, plain, PlainCall()));
  }

 private:
  // Seconds from beginning to beginning of one caller that make half of the calls that all callers
  // can make.
  double Pause(const Call& call) const {
    const auto num_calls = static_cast<double>(callers_.Run(kCallers, 0, call).size());
    return 2 * kCallers * callers_.seconds() / num_calls;
  }

  void Report(const char* load, const std::vector<double>& ours, const std::vector<double>& plain) {
    for (const int percent : {50, 99}) {
      report_.Add({"online", load, absl::StrCat("p", percent, " us"),
                   ours[ours.size() * percent / 100], plain[plain.size() * percent / 100],
                   std::nullopt});
    }
  }

  void Open() {
    GraphOptions options;
    options.cluster_file = folder_.File("cluster.textproto");
    Check(WriteFileAtomically(
        options.cluster_file,
        absl::StrCat("data: '", directory_, "' num_shards: 1 servers { name: 'bench' listen: ",
                     "'127.0.0.1:", server_->port(), "' advertise: '127.0.0.1:", server_->port(),
                     "' shards: [0] }")));
    Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
    if (!graph.ok()) Fail(graph.error().message());
    graph_ = std::move(graph.value());
  }

  Call OurCall() const {
    const std::string column = dataset_->schema().node_types[0].columns[column_].name;
    const SamplingSpec spec = SamplingSpec::Uniform(graph_->schema(), kFanouts);
    return [this, column, spec](int64_t node, uint64_t draw) {
      const Result<SampledGraph> sampled = graph_->Sample(0, {node}, spec, {draw, 0, 0});
      if (!sampled.ok()) Fail(sampled.error().message());
      if (!graph_->Fetch(0, column, sampled.value().nodes[0].ids).ok()) Fail("a fetch failed");
    };
  }

  Call PlainCall() const {
    return [this](int64_t node, uint64_t /*draw*/) {
      std::unordered_set<uint64_t> met = {static_cast<uint64_t>(node)};
      std::vector<uint64_t> frontier(met.begin(), met.end());
      for (const int64_t fanout : kFanouts) {
        Neighbors neighbors;
        if (!client_->Sample(fanout, frontier, &neighbors)) Fail("a plain call failed");
        met.insert(neighbors.sources.begin(), neighbors.sources.end());
        frontier.assign(met.begin(), met.end());
      }
      std::vector<char> rows(frontier.size() * 512);
      if (!client_->Fetch(PlainForm::kBytes, false, column_, frontier, rows.data())) {
        Fail("a plain call failed");
      }
    };
  }

  const std::string directory_;
  // Both are forked before this process uses gRPC.
  const std::unique_ptr<OtherProcess> plain_;
  const std::unique_ptr<OtherProcess> server_;
  const std::unique_ptr<Dataset> dataset_;
  const Callers callers_;
  const testing::TempDir folder_;
  BenchReport report_;
  int32_t column_ = -1;
  std::unique_ptr<PlainClient> client_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  const vicinity::benchmark::BenchOptions options =
      vicinity::benchmark::ParseBenchOptions(argc, argv);
  vicinity::benchmark::UseTwoCores();
  vicinity::benchmark::OnlineBenchmark(options).Run();
}
