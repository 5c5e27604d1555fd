// What a small call costs: how many a second, how long they take, what a connection takes of the
// server's memory, and how many threads the server has. Client and server share two cores.
//
// Baseline: another build's daemon, if VICINITYD_BEFORE names one, in turns with this one; it gets
// the same graph in format version 1, which every build reads.
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/common/mutex.h"
#include "proto/service.pb.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_report.h"
#include "tests/integration/fixtures/data_client.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

using std::chrono::milliseconds;
using testing::CallOutcome;
using testing::CertifiedGraph;
using testing::DataClient;
using testing::RunningProgram;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "calls: " << status.ToString() << "\n";
  std::exit(1);
}

// A line of /proc/PID/status, as a number.
int64_t OfProcess(pid_t pid, const std::string& key) {
  std::ifstream in(absl::StrCat("/proc/", pid, "/status"));
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(key + ":", 0) == 0) return std::strtoll(line.c_str() + key.size() + 1, {}, 10);
  }
  return -1;
}

struct Load {
  const char* name;
  int clients;
  bool asks_status;  // else for rows
};
// Of small calls a machine may make a thousand a second.
constexpr double kStatusCalls = 500;
constexpr Load kLoads[] = {{"Status, 1 client, 500/s", 1, true},
                           {"8 rows, 1 client", 1, false},
                           {"8 rows, 256 clients", 256, false}};

struct Cost {
  std::vector<double> microseconds;
  double seconds = 0;
  double threads = 0;
  double kib_of_connection = 0;

  double Percentile(double share) {
    const auto at = static_cast<int64_t>(share * static_cast<double>(microseconds.size() - 1));
    std::nth_element(microseconds.begin(), microseconds.begin() + at, microseconds.end());
    return microseconds[at];
  }
};

// A daemon that serves the graph.
class Daemon {
 public:
  Daemon(const std::string& binary, const std::string& data) {
    auto program = RunningProgram::Start({binary, "--data", data, "--listen", "127.0.0.1:0"});
    Check(program.status());
    program_ = *std::move(program);
    Check(program_->WaitForLine("ready in", absl::Seconds(30)));
    const std::string& said = program_->output();
    const size_t at = said.find(" on 127.0.0.1:") + 4;
    address_ = said.substr(at, said.find(' ', at) - at);
  }

  void Measure(const CertifiedGraph& graph, const Load& load, milliseconds length,
               Cost* cost) const {
    testing::DataClientOptions options;
    options.address = address_;
    options.connections = load.clients;
    const int64_t before = OfProcess(program_->pid(), "VmRSS");
    auto client = DataClient::Connect(&graph, options);
    Check(client.status());
    Run(client->get(), load, milliseconds(300), nullptr);  // to warm up
    const auto begun = std::chrono::steady_clock::now();
    Run(client->get(), load, length, cost);
    cost->seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    cost->threads = static_cast<double>(OfProcess(program_->pid(), "Threads"));
    const int64_t grown = OfProcess(program_->pid(), "VmRSS") - before;
    cost->kib_of_connection =
        std::max(cost->kib_of_connection, static_cast<double>(grown) / load.clients);
  }

 private:
  // Every client has one call under way, and begins the next when it has ended; those who ask for
  // the status do so at their rate.
  static void Run(DataClient* client, const Load& load, milliseconds length, Cost* cost) {
    Mutex mu;
    const auto start = [&](int64_t i) {
      const auto done = [&, cost](const CallOutcome& outcome) {
        Check(outcome.status);
        MutexLock lock(&mu);
        if (cost != nullptr) {
          cost->microseconds.push_back(static_cast<double>(outcome.latency.count()) * 1e-3);
        }
      };
      const int connection = static_cast<int>(i % load.clients);
      if (load.asks_status) {
        client->Start(connection, proto::StatusRequest(), milliseconds(20'000), done);
      } else {
        client->Start(connection, client->Rows(i * 13, 8), milliseconds(20'000), done);
      }
    };
    if (load.asks_status) {
      testing::RunOpenLoop(client, kStatusCalls, length, start);
    } else {
      testing::RunClosedLoop(client, load.clients, length, start);
    }
  }

  std::unique_ptr<RunningProgram> program_;
  std::string address_;
};

void Report(BenchReport* report, const Load& load, Cost* cost, Cost* before) {
  const auto add = [&](const char* metric, auto of) {
    std::optional<double> baseline;
    if (before != nullptr) baseline = of(before);
    report->Add({"calls", load.name, metric, of(cost), baseline, std::nullopt});
  };
  add("calls/s", [](Cost* c) { return static_cast<double>(c->microseconds.size()) / c->seconds; });
  add("p50 us", [](Cost* c) { return c->Percentile(0.5); });
  add("p99 us", [](Cost* c) { return c->Percentile(0.99); });
  add("threads", [](Cost* c) { return c->threads; });
  if (load.clients > 1) add("KiB/connection", [](Cost* c) { return c->kib_of_connection; });
}

void Run(const BenchOptions& options) {
  UseTwoCores();
  const testing::TempDir dir;
  testing::CertifiedShape shape;
  shape.num_nodes = 20'000;
  const CertifiedGraph graph(shape);
  const std::string data = dir.path() + "/data";
  Check(graph.Write(data));
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const Daemon daemon(here / "../../server/vicinityd", data);
  std::unique_ptr<Daemon> before;
  if (const char* const binary = std::getenv("VICINITYD_BEFORE"); binary != nullptr) {
    const std::string old_data = dir.path() + "/old";
    Check(graph.Write(old_data));
    Check(testing::MakeVersion1(old_data));
    before = std::make_unique<Daemon>(binary, old_data);
  }
  const int rounds = options.size == "full" ? 10 : 3;
  BenchReport report(options, std::cout);
  for (const Load& load : kLoads) {
    Cost cost;
    Cost baseline;
    for (int round = 0; round < rounds; ++round) {
      if (before != nullptr) before->Measure(graph, load, milliseconds(1000), &baseline);
      daemon.Measure(graph, load, milliseconds(1000), &cost);
    }
    Report(&report, load, &cost, before != nullptr ? &baseline : nullptr);
  }
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
