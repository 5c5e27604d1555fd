// What it costs to be watched: how long the pages of the HTTP port take and how large they are; and
// what calls for rows lose while Prometheus scrapes every second, and while eight connections ask
// for metrics without end. Client, server and who watches share two cores; the baseline is the same
// server unwatched, in turns. Then small calls, rows and sampling, all of them scraped and one of a
// hundred traced, beside a server that nobody scrapes and that records no traces.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "proto/common/mutex.h"
#include "proto/service.pb.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_report.h"
#include "tests/integration/fixtures/data_client.h"
#include "tests/server/http/raw_client.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

using std::chrono::milliseconds;
using testing::CallOutcome;
using testing::CertifiedGraph;
using testing::DataClient;
using testing::RunningProgram;

constexpr int kClients = 16;
constexpr int kFlooders = 8;
// Longer than metrics are kept before they are made anew.
constexpr milliseconds kUntilAnew(250);

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "operate: " << status.ToString() << "\n";
  std::exit(1);
}

double Percentile(double share, std::vector<double>* values) {
  if (values->empty()) return 0;
  const auto at = static_cast<int64_t>(share * static_cast<double>(values->size() - 1));
  std::nth_element(values->begin(), values->begin() + at, values->end());
  return (*values)[at];
}

struct Daemon {
  std::unique_ptr<RunningProgram> program;
  std::string calls;  // host:port
  HostPort http;
};

Daemon StartDaemon(const std::string& data, const std::string& ready,
                   const std::vector<std::string>& flags = {}) {
  Daemon daemon;
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<std::string> command = {here / "../../../server/vicinityd",
                                      "--data",
                                      data,
                                      "--listen",
                                      "127.0.0.1:0",
                                      "--http",
                                      "127.0.0.1:0",
                                      "--ready-file",
                                      ready};
  command.insert(command.end(), flags.begin(), flags.end());
  auto program = RunningProgram::Start(command);
  Check(program.status());
  daemon.program = *std::move(program);
  Check(daemon.program->WaitForLine("ready in", absl::Seconds(30)));
  const auto told = ReadFile(ready);
  Check(told.status());
  const size_t http = told->find("http ");
  daemon.calls = told->substr(0, told->find('\n'));
  const auto address = ParseHostPort(told->substr(http + 5, told->find('\n', http) - http - 5));
  Check(address.status());
  daemon.http = *address;
  return daemon;
}

// One page, `times` times; before each `pause`.
void MeasurePage(const Daemon& daemon, const std::string& path, const std::string& name,
                 milliseconds pause, int times, BenchReport* report) {
  std::vector<double> took;
  std::string body;
  for (int i = 0; i < times; ++i) {
    std::this_thread::sleep_for(pause);
    const auto begun = std::chrono::steady_clock::now();
    body = testing::BodyOf(testing::Get(daemon.http, path));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begun;
    took.push_back(time.count());
  }
  report->Add({"operate", name, "ms", Percentile(0.5, &took), {}, {}});
  report->Add({"operate", name, "KiB", static_cast<double>(body.size()) / 1024, {}, {}});
}

// Who asks for metrics, from construction to destruction.
class Watchers {
 public:
  Watchers(const HostPort& http, int num_threads, milliseconds pause) {
    for (int i = 0; i < num_threads; ++i) {
      threads_.emplace_back([this, http, pause] {
        while (!stop_) {
          if (!testing::Get(http, "/metrics").empty()) ++answers_;
          for (milliseconds slept(0); slept < pause && !stop_; slept += milliseconds(10)) {
            std::this_thread::sleep_for(milliseconds(10));
          }
        }
      });
    }
  }
  ~Watchers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  int64_t answers() const { return answers_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> answers_{0};
  std::vector<std::thread> threads_;
};

struct Load {
  std::vector<double> microseconds;
  double seconds = 0;
  double answers = 0;  // to who watches
};

enum class Kind { kSmall, kRows, kSampling };

// Every client has one call under way, for 8 rows unless told otherwise, and begins the next when
// it has ended.
void RunCalls(DataClient* client, milliseconds length, Load* load, Kind kind = Kind::kSmall) {
  Mutex mu;
  const auto begun = std::chrono::steady_clock::now();
  testing::RunClosedLoop(client, kClients, length, [&](int64_t i) {
    const auto done = [&](const CallOutcome& outcome) {
      Check(outcome.status);
      MutexLock lock(&mu);
      load->microseconds.push_back(static_cast<double>(outcome.latency.count()) * 1e-3);
    };
    const int connection = static_cast<int>(i % kClients);
    if (kind == Kind::kSampling) {
      client->Start(connection, client->Neighbors(i * 13, 1000, 10), milliseconds(20'000), done);
    } else {
      client->Start(connection, client->Rows(i * 13, kind == Kind::kSmall ? 8 : 1000),
                    milliseconds(20'000), done);
    }
  });
  load->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void ReportLoad(const char* name, Load* load, Load* quiet, BenchReport* report) {
  const auto add = [&](const char* metric, auto of) {
    report->Add({"operate", name, metric, of(load), of(quiet), {}});
  };
  add("calls/s", [](Load* l) { return static_cast<double>(l->microseconds.size()) / l->seconds; });
  add("p50 us", [](Load* l) { return Percentile(0.5, &l->microseconds); });
  add("p99 us", [](Load* l) { return Percentile(0.99, &l->microseconds); });
  report->Add({"operate", name, "pages/s", load->answers / load->seconds, {}, {}});
}

void MeasureCalls(const CertifiedGraph& graph, const Daemon& daemon, int rounds,
                  BenchReport* report) {
  testing::DataClientOptions options;
  options.address = daemon.calls;
  options.connections = kClients;
  const auto client = DataClient::Connect(&graph, options);
  Check(client.status());
  Load warm_up;
  Load quiet;
  Load scraped;
  Load flooded;
  RunCalls(client->get(), milliseconds(300), &warm_up);
  for (int round = 0; round < rounds; ++round) {
    RunCalls(client->get(), milliseconds(2000), &quiet);
    for (const auto& [load, threads, pause] : {std::tuple(&scraped, 1, milliseconds(1000)),
                                               std::tuple(&flooded, kFlooders, milliseconds(0))}) {
      const Watchers watchers(daemon.http, threads, pause);
      RunCalls(client->get(), milliseconds(2000), load);
      load->answers += static_cast<double>(watchers.answers());
    }
  }
  ReportLoad("8 rows, 16 clients; scraped every second", &scraped, &quiet, report);
  ReportLoad("8 rows, 16 clients; 8 ask for metrics without end", &flooded, &quiet, report);
}

std::unique_ptr<DataClient> Connect(const CertifiedGraph& graph, const Daemon& daemon,
                                    double trace_share) {
  testing::DataClientOptions options;
  options.address = daemon.calls;
  options.connections = kClients;
  options.trace_share = trace_share;
  auto client = DataClient::Connect(&graph, options);
  Check(client.status());
  return *std::move(client);
}

// `watched` is scraped and records a hundredth of the calls; `quiet` does neither.
void MeasureTraces(const CertifiedGraph& graph, const Daemon& watched, const Daemon& quiet,
                   int rounds, BenchReport* report) {
  const auto traced = Connect(graph, watched, 0.01);
  const auto plain = Connect(graph, quiet, 0);
  for (const auto& [name, kind] :
       {std::pair("8 rows; scraped, 1 % traced", Kind::kSmall),
        std::pair("1,000 rows; scraped, 1 % traced", Kind::kRows),
        std::pair("1,000 x 10 drawn; scraped, 1 % traced", Kind::kSampling)}) {
    Load warm_up;
    Load with;
    Load without;
    RunCalls(traced.get(), milliseconds(300), &warm_up, kind);
    RunCalls(plain.get(), milliseconds(300), &warm_up, kind);
    for (int round = 0; round < 2 * rounds; ++round) {
      RunCalls(plain.get(), milliseconds(1000), &without, kind);
      const Watchers watchers(watched.http, 1, milliseconds(1000));
      RunCalls(traced.get(), milliseconds(1000), &with, kind);
      with.answers += static_cast<double>(watchers.answers());
    }
    ReportLoad(name, &with, &without, report);
  }
}

void Run(const BenchOptions& options) {
  UseTwoCores();
  const testing::TempDir dir;
  testing::CertifiedShape shape;
  shape.num_nodes = 20'000;
  const CertifiedGraph graph(shape);
  const std::string data = dir.path() + "/data";
  Check(graph.Write(data));
  const Daemon daemon = StartDaemon(data, dir.path() + "/ready");
  const int rounds = options.size == "full" ? 10 : 3;
  BenchReport report(options, std::cout);
  MeasurePage(daemon, "/metrics", "/metrics, made anew", kUntilAnew, 5 * rounds, &report);
  MeasurePage(daemon, "/metrics", "/metrics, asked for again", milliseconds(0), 100, &report);
  MeasurePage(daemon, "/status.json", "/status.json, made anew", kUntilAnew, 5 * rounds, &report);
  MeasurePage(daemon, "/", "/", milliseconds(0), 100, &report);
  MeasureCalls(graph, daemon, rounds, &report);
  const Daemon quiet = StartDaemon(data, dir.path() + "/ready of quiet",
                                   {"--trace-rate", "0", "--slow-call-ms", "0"});
  MeasureTraces(graph, daemon, quiet, rounds, &report);
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
