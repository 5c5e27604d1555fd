// What a user of Graph::Fetch gets: rows of 512 bytes by the public interface, from a server on the
// same two cores, by gRPC and by the bulk channel over TCP and over a Unix socket, one call at a
// time and several, large and small; and what a user of the Python package gets, one call at a
// time, if PYTHONPATH has the package (deploy/bench.sh rows).
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
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "client/types/graph_values.h"
#include "client/types/result.h"
#include "partition/dataset/dataset.h"
#include "proto/bulk.pb.h"
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

constexpr int kInFlight[] = {1, 2, 4, 8, 32};  // calls

using Clock = std::chrono::steady_clock;
using Call = std::function<void(const std::vector<uint64_t>& rows)>;

// Calls of a user's, which go one way to a server.
class FetchWay {
 public:
  // With a cluster file in `folder`. Exits 1, saying why, if the graph cannot be opened.
  FetchWay(std::string name, const char* transport, Transport chosen, const OtherProcess& server,
           const std::string& directory, const testing::TempDir& folder)
      : name_(std::move(name)),
        transport_(transport),
        server_(server),
        cluster_file_(folder.File(absl::StrCat(server.port(), ".textproto"))) {
    GraphOptions options;
    options.cluster_file = cluster_file_;
    options.transport = chosen;
    const std::string address = absl::StrCat("'127.0.0.1:", server.port(), "'");
    Check(WriteFileAtomically(
        options.cluster_file,
        absl::StrCat("data: '", directory, "' num_shards: 1 servers { name: 'bench' listen: ",
                     address, " advertise: ", address, " shards: [0] }")));
    Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
    if (!graph.ok()) {
      std::cerr << graph.error().message() << '\n';
      std::exit(1);
    }
    graph_ = std::move(graph.value());
  }

  const std::string& name() const { return name_; }
  const OtherProcess& server() const { return server_; }

  Call FromCpp() const {
    return [graph = graph_.get()](const std::vector<uint64_t>& rows) {
      const Result<Rows> fetched = graph->Fetch(0, kColumnName, {rows.begin(), rows.end()});
      if (!fetched.ok()) std::exit(1);
    };
  }

  // Microseconds of the calls that a program in Python makes, one behind the other.
  std::vector<double> FromPython(int64_t rows, double seconds) const {
    const std::string command = absl::StrCat(
        "python3 deploy/lib/serial_fetch.py --cluster ", cluster_file_, " --column ", kColumnName,
        " --rows ", rows, " --seconds ", seconds, " --transport ", transport_);
    FILE* const program = popen(command.c_str(), "r");
    std::vector<double> taken;
    for (double microseconds = 0; std::fscanf(program, "%lf", &microseconds) == 1;) {
      taken.push_back(microseconds);
    }
    if (pclose(program) != 0 || taken.empty()) std::exit(1);  // it has said why
    return taken;
  }

 private:
  const std::string name_;
  const char* const transport_;  // as Python has it
  const OtherProcess& server_;
  const std::string cluster_file_;
  std::unique_ptr<Graph> graph_;
};

class FetchBenchmark {
 public:
  explicit FetchBenchmark(const BenchOptions& options)
      : seconds_(options.size == "full" ? 5 : 1.5),
        directory_(DatasetOfRows(options)),
        report_(options, std::cout) {
    // All are forked before this process uses gRPC.
    const int64_t chunk_bytes = Limits().max_chunk_bytes;
    plain_ = StartPlain(directory_, chunk_bytes);
    server_ = StartVicinity(directory_, chunk_bytes, {}, "", proto::BULK_SOCKET_UNIX);
    tcp_server_ = StartVicinity(directory_, chunk_bytes, {}, "", proto::BULK_SOCKET_TCP);
    const std::unique_ptr<Dataset> dataset = OpenOneShard(directory_);
    for (const auto* server : {server_.get(), tcp_server_.get()}) {
      const VicinityLink until_verified(server->port(), *dataset, proto::PRECISION_STORED);
    }
    num_nodes_ = dataset->book().num_nodes(NodeTypeId{0});
    client_ = std::make_unique<PlainClient>(MakePlainChannel(plain_->port()));
    AddWay("gRPC", "grpc", Transport::kGrpc, *server_);
    AddWay("bulk channel, TCP", "bulk", Transport::kBulk, *tcp_server_);
    AddWay("bulk channel, Unix socket", "bulk", Transport::kBulk, *server_);
  }

  void Run() {
    for (const int in_flight : kInFlight) RunLarge(in_flight);
    for (const int in_flight : kInFlight) RunSmall(in_flight);
  }

 private:
  void AddWay(const char* name, const char* transport, Transport chosen,
              const OtherProcess& server) {
    ways_.push_back(
        std::make_unique<FetchWay>(name, transport, chosen, server, directory_, folder_));
  }

  bool WithPython(int in_flight) const { return in_flight == 1 && has_python_; }

  // Into memory of its own for each call, as Graph::Fetch's.
  Call PlainCall() const {
    return [this](const std::vector<uint64_t>& rows) {
      std::vector<char> out(rows.size() * kRowBytes);
      if (!client_->Fetch(PlainForm::kBytes, false, kColumn, rows, out.data())) std::exit(1);
    };
  }

  void RunLarge(int in_flight) {
    TransferTurns turns(seconds_);
    turns.Add("plain", [&](double seconds) {
      return MeasureTransfer(*plain_, seconds, [&] { return Round(in_flight, PlainCall()); });
    });
    for (const auto& way : ways_) {
      turns.Add(way->name(), [&, way = way.get()](double seconds) {
        return MeasureTransfer(way->server(), seconds,
                               [&] { return Round(in_flight, way->FromCpp()); });
      });
    }
    for (const auto& way : ways_) {
      if (!WithPython(in_flight)) continue;
      turns.Add(way->name() + ", from Python",
                [way = way.get()](double seconds) { return PythonTransfer(*way, seconds); });
    }
    const TransferTurns::Costs costs = turns.Measure();
    const TransferCost& plain = costs[0].second;
    for (size_t i = 1; i < costs.size(); ++i) {
      const auto& [way, cost] = costs[i];
      const std::string name = absl::StrCat("4 MiB, calls at a time: ", in_flight, ", ", way);
      report_.Add({"fetch", name, "GB/s", cost.giga_per_second, plain.giga_per_second, {}});
      if (cost.core_seconds_per_giga == 0) continue;  // of Python
      report_.Add({"fetch",
                   name,
                   "core-s/GB",
                   cost.core_seconds_per_giga,
                   plain.core_seconds_per_giga,
                   {}});
    }
  }

  static TransferCost PythonTransfer(const FetchWay& way, double seconds) {
    const std::vector<double> taken = way.FromPython(kLargeCall, seconds);
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

  // Microseconds of calls for few rows: of so many threads, each makes one behind the other.
  void Time(int in_flight, const Call& call, std::vector<double>* taken) const {
    std::vector<std::vector<double>> of_threads(in_flight);
    std::vector<std::thread> threads;
    for (int t = 0; t < in_flight; ++t) {
      threads.emplace_back([&, t] {
        const std::vector<uint64_t> rows = Draw(kSmallCall, taken->size() + t);
        const auto start = Clock::now();
        while (Clock::now() - start < std::chrono::duration<double>(seconds_ / kSmallTurns)) {
          const auto asked = Clock::now();
          call(rows);
          of_threads[t].push_back(
              std::chrono::duration<double, std::micro>(Clock::now() - asked).count());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& each : of_threads) taken->insert(taken->end(), each.begin(), each.end());
  }

  void RunSmall(int in_flight) {
    std::vector<double> plain;
    std::vector<std::vector<double>> ours(ways_.size()), python(ways_.size());
    for (int turn = 0; turn < kSmallTurns; ++turn) {
      Time(in_flight, PlainCall(), &plain);
      for (size_t w = 0; w < ways_.size(); ++w) {
        Time(in_flight, ways_[w]->FromCpp(), &ours[w]);
        if (!WithPython(in_flight)) continue;
        const auto taken = ways_[w]->FromPython(kSmallCall, seconds_ / kSmallTurns);
        python[w].insert(python[w].end(), taken.begin(), taken.end());
      }
    }
    for (size_t w = 0; w < ways_.size(); ++w) {
      const std::string name =
          absl::StrCat(kSmallCall, " rows, calls at a time: ", in_flight, ", ", ways_[w]->name());
      ReportSmall(name, ours[w], plain);
      if (WithPython(in_flight)) ReportSmall(name + ", from Python", python[w], plain);
    }
  }

  void ReportSmall(const std::string& name, std::vector<double> taken, std::vector<double> plain) {
    std::sort(taken.begin(), taken.end());
    std::sort(plain.begin(), plain.end());
    for (const int percent : {50, 99}) {
      report_.Add({"fetch",
                   name,
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
  std::unique_ptr<OtherProcess> plain_;
  std::unique_ptr<OtherProcess> server_;  // its bulk channel is at a Unix socket
  std::unique_ptr<OtherProcess> tcp_server_;
  std::unique_ptr<PlainClient> client_;
  std::vector<std::unique_ptr<FetchWay>> ways_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  const vicinity::benchmark::BenchOptions options =
      vicinity::benchmark::ParseBenchOptions(argc, argv);
  vicinity::benchmark::UseTwoCores();
  vicinity::benchmark::FetchBenchmark(options).Run();
}
