// What a user of Graph::Fetch gets: rows of 512 bytes by the public interface, from a server on the
// same two cores, one call at a time and several, large and small; and what a user of the Python
// package gets, one call at a time, if PYTHONPATH has the package (deploy/bench.sh rows).
//
// Baseline: a plain protobuf service's `bytes`, one unary call for as much, from as many threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "partition/dataset/dataset.h"
#include "proto/common/file.h"
#include "server/handlers/limits.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/baselines/plain_service.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_rows.h"
#include "tests/benchmark/transfer_turns.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

constexpr int32_t kColumn = 1;  // 512 bytes
constexpr char kColumnName[] = "bytes512";
constexpr int64_t kRowBytes = 512;
constexpr int64_t kLargeCall = (int64_t{4} << 20) / kRowBytes;  // rows
constexpr int64_t kSmallCall = 64;
constexpr int kCallsInRound = 32;
constexpr int kSmallTurns = 6;

using Clock = std::chrono::steady_clock;

class FetchBenchmark {
 public:
  explicit FetchBenchmark(const BenchOptions& options)
      : seconds_(options.size == "full" ? 5 : 1.5),
        directory_(DatasetOfRows(options)),
        report_(options, std::cout) {
    // Both are forked before this process uses gRPC.
    plain_ = StartPlain(directory_, Limits().max_chunk_bytes);
    server_ = StartVicinity(directory_, Limits().max_chunk_bytes);
    const std::unique_ptr<Dataset> dataset = OpenOneShard(directory_);
    const VicinityLink until_verified(server_->port(), *dataset, proto::PRECISION_STORED);
    num_nodes_ = dataset->book().num_nodes(NodeTypeId{0});
    client_ = std::make_unique<PlainClient>(MakePlainChannel(plain_->port()));
    graph_ = Open();
  }

  void Run() {
    for (const int in_flight : {1, 2, 4, 8}) {
      TransferTurns turns(seconds_);
      turns.Add("plain", [&](double seconds) {
        return MeasureTransfer(*plain_, seconds, [&] { return Round(in_flight, PlainCall()); });
      });
      turns.Add("ours", [&](double seconds) {
        return MeasureTransfer(*server_, seconds, [&] { return Round(in_flight, GraphCall()); });
      });
      const bool from_python = in_flight == 1 && has_python_;
      if (from_python) turns.Add("Python", [&](double seconds) { return PythonTransfer(seconds); });
      const TransferTurns::Costs costs = turns.Measure();
      const TransferCost& plain = costs[0].second;
      const TransferCost& ours = costs[1].second;
      const std::string name = absl::StrCat("4 MiB, calls at a time: ", in_flight);
      report_.Add({"fetch", name, "GB/s", ours.giga_per_second, plain.giga_per_second, {}});
      report_.Add({"fetch",
                   name,
                   "core-s/GB",
                   ours.core_seconds_per_giga,
                   plain.core_seconds_per_giga,
                   {}});
      if (from_python) {
        const TransferCost& python = costs[2].second;
        report_.Add({"fetch",
                     name + ", from Python",
                     "GB/s",
                     python.giga_per_second,
                     plain.giga_per_second,
                     {}});
      }
    }
    RunSmall();
  }

 private:
  using Call = std::function<void(const std::vector<uint64_t>& rows)>;

  std::string ClusterFile() const { return folder_.File("cluster.textproto"); }

  std::unique_ptr<Graph> Open() const {
    GraphOptions options;
    options.cluster_file = ClusterFile();
    Check(WriteFileAtomically(
        options.cluster_file,
        absl::StrCat("data: '", directory_, "' num_shards: 1 servers { name: 'bench' listen: ",
                     "'127.0.0.1:", server_->port(), "' advertise: '127.0.0.1:", server_->port(),
                     "' shards: [0] }")));
    Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
    if (!graph.ok()) {
      std::cerr << graph.error().message() << '\n';
      std::exit(1);
    }
    return std::move(graph.value());
  }

  Call GraphCall() const {
    return [this](const std::vector<uint64_t>& rows) {
      const Result<Rows> fetched = graph_->Fetch(0, kColumnName, {rows.begin(), rows.end()});
      if (!fetched.ok()) std::exit(1);
    };
  }
  // Into memory of its own for each call, as Graph::Fetch's.
  Call PlainCall() const {
    return [this](const std::vector<uint64_t>& rows) {
      std::vector<char> out(rows.size() * kRowBytes);
      if (!client_->Fetch(PlainForm::kBytes, false, kColumn, rows, out.data())) std::exit(1);
    };
  }

  // Microseconds of the calls that a program in Python makes, one behind the other.
  std::vector<double> PythonCalls(int64_t rows, double seconds) const {
    const std::string command =
        absl::StrCat("python3 deploy/lib/serial_fetch.py --cluster ", ClusterFile(), " --column ",
                     kColumnName, " --rows ", rows, " --seconds ", seconds);
    FILE* const program = popen(command.c_str(), "r");
    std::vector<double> taken;
    for (double microseconds = 0; std::fscanf(program, "%lf", &microseconds) == 1;) {
      taken.push_back(microseconds);
    }
    if (pclose(program) != 0 || taken.empty()) std::exit(1);  // it has said why
    return taken;
  }

  TransferCost PythonTransfer(double seconds) const {
    const std::vector<double> taken = PythonCalls(kLargeCall, seconds);
    const double all = std::accumulate(taken.begin(), taken.end(), 0.0);  // microseconds
    TransferCost cost;
    cost.giga_per_second = static_cast<double>(taken.size() * kLargeCall * kRowBytes) / all / 1e3;
    return cost;
  }

  std::vector<uint64_t> Draw(int64_t count, uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<uint64_t> rows(count);
    for (uint64_t& row : rows) row = random() % num_nodes_;
    return rows;
  }

  double Round(int in_flight, const Call& call) const {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < in_flight; ++t) {
      threads.emplace_back([&, rows = Draw(kLargeCall, t)] {
        while (next.fetch_add(1) < kCallsInRound) call(rows);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return static_cast<double>(kLargeCall * kRowBytes * kCallsInRound);
  }

  // Microseconds, one call behind the other.
  void Time(const Call& call, std::vector<double>* taken) const {
    const std::vector<uint64_t> rows = Draw(kSmallCall, taken->size());
    const auto start = Clock::now();
    while (Clock::now() - start < std::chrono::duration<double>(seconds_ / kSmallTurns)) {
      const auto asked = Clock::now();
      call(rows);
      taken->push_back(std::chrono::duration<double, std::micro>(Clock::now() - asked).count());
    }
  }

  void RunSmall() {
    std::vector<double> plain, ours, python;
    for (int turn = 0; turn < kSmallTurns; ++turn) {
      Time(PlainCall(), &plain);
      Time(GraphCall(), &ours);
      if (!has_python_) continue;
      const std::vector<double> taken = PythonCalls(kSmallCall, seconds_ / kSmallTurns);
      python.insert(python.end(), taken.begin(), taken.end());
    }
    ReportSmall("", ours, plain);
    if (has_python_) ReportSmall(", from Python", python, plain);
  }

  void ReportSmall(const char* from, std::vector<double> taken, std::vector<double> plain) {
    std::sort(taken.begin(), taken.end());
    std::sort(plain.begin(), plain.end());
    for (const int percent : {50, 99}) {
      report_.Add({"fetch",
                   absl::StrCat(kSmallCall, " rows, one call at a time", from),
                   absl::StrCat("p", percent, " us"),
                   taken[taken.size() * percent / 100],
                   plain[plain.size() * percent / 100],
                   {}});
    }
  }

  const double seconds_;
  const bool has_python_ = std::getenv("PYTHONPATH") != nullptr;
  const std::string directory_;
  const testing::TempDir folder_;
  BenchReport report_;
  int64_t num_nodes_ = 0;
  std::unique_ptr<OtherProcess> plain_, server_;
  std::unique_ptr<PlainClient> client_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  const vicinity::benchmark::BenchOptions options =
      vicinity::benchmark::ParseBenchOptions(argc, argv);
  vicinity::benchmark::UseTwoCores();
  vicinity::benchmark::FetchBenchmark(options).Run();
}
