// A trainer as far as the cluster can tell, without a model: what deploy/bench.sh cluster runs on
// every host.
//
//   cluster_client train OPTIONS   batches from a loader; after each the emulated device step, a
//                                  timer that costs no CPU
//   cluster_client rows OPTIONS    rows of other hosts' shards, as fast as they come
//   cluster_client online OPTIONS  samples around one node each, until another line comes
//
// Once its graph is open and its cache full it prints "ready" and waits for a line on standard
// input, so that all hosts start together; then one JSON object says what was measured.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/graph.h"
#include "client/loader.h"
#include "client/options/words.h"
#include "client/types/result.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Options {
  GraphOptions graph;
  LoaderOptions loader;
  std::vector<int64_t> fanouts = {15, 10, 5};
  int64_t steps = 100;
  double step_ms = 0;
  bool pipeline = true;
  double seconds = 3;  // of fetching rows
  int threads = 4;
  int64_t rows_per_call = 16384;
};

// Ends the process, saying why, unless all went well.
template <typename T>
T Must(Result<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << "cluster_client: " << value.error().message() << '\n';
  std::exit(1);
}
void Must(const Error& error) {
  if (error.ok()) return;
  std::cerr << "cluster_client: " << error.message() << '\n';
  std::exit(1);
}

void WaitForStart() {
  std::cout << "ready" << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) std::exit(1);
}

double SecondsSince(Clock::time_point start) { return Seconds(Clock::now() - start).count(); }

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// All but labels, splits and targets.
std::vector<LoaderOptions::ColumnRequest> FeatureColumns(const Schema& schema) {
  std::vector<LoaderOptions::ColumnRequest> columns;
  for (const NodeTypeSpec& type : schema.node_types) {
    for (const ColumnSpec& column : type.columns) {
      if (!type.HasRole(column.name)) columns.push_back({type.name, column.name});
    }
  }
  return columns;
}

// Where the time of the training loop went.
struct LoopTime {
  double seconds = 0;
  double wait_seconds = 0;
  double first_wait_seconds = 0;  // of it, for the first batch
};

LoopTime RunSteps(const Options& options, int64_t steps, Loader* loader) {
  LoopTime time;
  const auto start = Clock::now();
  if (options.pipeline) Must(loader->StartEpoch(1, 0, steps));
  for (int64_t step = 0; step < steps; ++step) {
    const auto asked = Clock::now();
    // Without a pipeline a batch is begun when the step before has ended.
    if (!options.pipeline) Must(loader->StartEpoch(1, step, step + 1));
    const std::unique_ptr<MiniBatch> batch = Must(loader->Next());
    if (batch == nullptr) break;
    const double waited = SecondsSince(asked);
    time.wait_seconds += waited;
    if (step == 0) time.first_wait_seconds = waited;
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.step_ms));
  }
  time.seconds = SecondsSince(start);
  return time;
}

nlohmann::json Train(Options options) {
  const std::unique_ptr<Graph> graph = Must(Graph::Open(options.graph));
  LoaderOptions& wanted = options.loader;
  wanted.sampling = SamplingSpec::Uniform(graph->schema(), options.fanouts);
  wanted.columns = FeatureColumns(graph->schema());
  wanted.seed_policy = SeedPolicy::kHome;
  const std::unique_ptr<Loader> loader = Must(Loader::Create(graph.get(), wanted));
  const int64_t steps = std::min(options.steps, loader->steps_per_epoch());
  const TrafficStats before = graph->traffic();
  const double cpu_before = CpuSeconds();
  WaitForStart();
  const LoopTime time = RunSteps(options, steps, loader.get());
  const LoaderStats stats = loader->stats();
  const TrafficStats after = graph->traffic();
  nlohmann::json busy;
  for (const StageTime& stage : stats.stages) busy[stage.stage] = stage.busy_seconds;
  return {{"steps", steps},
          {"steps_per_epoch", loader->steps_per_epoch()},
          {"seconds", time.seconds},
          {"wait_seconds", time.wait_seconds},
          {"first_wait_seconds", time.first_wait_seconds},
          {"busy_seconds", busy},
          {"cpu_seconds", CpuSeconds() - cpu_before},
          {"nodes", stats.nodes},
          {"rows_local", stats.rows_local},
          {"rows_cached", stats.rows_cached},
          {"rows_remote", stats.rows_remote},
          {"bytes_remote", stats.bytes_remote},
          {"cache_rows", stats.cache_rows},
          {"calls", after.calls - before.calls}};
}

// Global ids of nodes that no mapped shard has, in any order.
std::vector<int64_t> FarNodes(const Graph& graph, int32_t type) {
  std::vector<int64_t> nodes;
  for (int64_t node = 0; node < graph.num_nodes(type); ++node) {
    if (!graph.IsLocal(type, node)) nodes.push_back(node);
  }
  std::shuffle(nodes.begin(), nodes.end(), std::mt19937_64(1));
  return nodes;
}

// The type and column with the widest rows.
std::pair<int32_t, const ColumnSpec*> WidestColumn(const Schema& schema) {
  std::pair<int32_t, const ColumnSpec*> widest = {0, nullptr};
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    for (const ColumnSpec& column : schema.node_types[type].columns) {
      if (widest.second != nullptr && column.row_bytes() <= widest.second->row_bytes()) continue;
      widest = {static_cast<int32_t>(type), &column};
    }
  }
  return widest;
}

nlohmann::json FetchRows(const Options& options) {
  const std::unique_ptr<Graph> graph = Must(Graph::Open(options.graph));
  const auto [type, column] = WidestColumn(graph->schema());
  const std::vector<int64_t> nodes = FarNodes(*graph, type);
  if (nodes.empty()) Must(Error(ErrorCode::kInvalidArgument, "all shards are mapped"));
  const auto per_call = std::min(options.rows_per_call, static_cast<int64_t>(nodes.size()));
  std::atomic<int64_t> bytes{0};
  const double cpu_before = CpuSeconds();
  WaitForStart();
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t) {
    threads.emplace_back([&, t, column = column, type = type] {
      std::mt19937_64 random(t);
      while (SecondsSince(start) < options.seconds) {
        const int64_t first = static_cast<int64_t>(random() % (nodes.size() - per_call + 1));
        const std::vector<int64_t> some(nodes.begin() + first, nodes.begin() + first + per_call);
        const Rows rows = Must(graph->Fetch(type, column->name, some));
        bytes += static_cast<int64_t>(rows.bytes.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {{"seconds", SecondsSince(start)},
          {"bytes", bytes.load()},
          {"row_bytes", column->row_bytes()},
          {"cpu_seconds", CpuSeconds() - cpu_before}};
}

// Each thread one request after the other; what each waited for, in milliseconds.
std::vector<double> AskUntil(const std::atomic<bool>& stop, const Graph& graph,
                             const Options& options) {
  const SamplingSpec spec = SamplingSpec::Uniform(graph.schema(), options.fanouts);
  const auto start = Clock::now();
  std::vector<std::vector<double>> waits(options.threads);
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      const auto nodes = static_cast<uint64_t>(graph.num_nodes(0));
      for (uint64_t n = 0; !stop && SecondsSince(start) < options.seconds; ++n) {
        const std::vector<int64_t> seed = {static_cast<int64_t>(random() % nodes)};
        const auto asked = Clock::now();
        Must(graph.Sample(0, seed, spec, DrawId{n, static_cast<uint64_t>(t)}));
        waits[t].push_back(1e3 * SecondsSince(asked));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& each : waits) all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());
  return all;
}

nlohmann::json Online(const Options& options) {
  const std::unique_ptr<Graph> graph = Must(Graph::Open(options.graph));
  WaitForStart();
  std::atomic<bool> stop{false};
  std::thread end([&stop] {
    std::string line;
    std::getline(std::cin, line);
    stop = true;
  });
  const auto start = Clock::now();
  const std::vector<double> waits = AskUntil(stop, *graph, options);
  const double seconds = SecondsSince(start);
  end.join();
  if (waits.empty()) Must(Error(ErrorCode::kDeadlineExceeded, "no request was answered in time"));
  return {{"seconds", seconds},
          {"requests", waits.size()},
          {"p50_ms", waits[waits.size() / 2]},
          {"p99_ms", waits[waits.size() * 99 / 100]},
          {"longest_ms", waits.back()}};
}

void AddGraph(CLI::App* app, Options* options) {
  app->add_option("--cluster", options->graph.cluster_file)->required();
  app->add_option("--local-shards", options->graph.local_shards)->delimiter(',');
}

CLI::App* AddTrain(CLI::App* app, Options* options) {
  CLI::App* const train = app->add_subcommand("train");
  AddGraph(train, options);
  LoaderOptions* const loader = &options->loader;
  train->add_option("--trainer", loader->trainer);
  train->add_option("--trainers", loader->num_trainers);
  train->add_option("--fanouts", options->fanouts)->delimiter(',');
  train->add_option("--batch-size", loader->batch_size);
  train->add_option("--cache", loader->cache)
      ->transform(CLI::CheckedTransformer(WordMap(kWords<CachePolicy>)));
  train->add_option("--cache-rows", loader->cache_rows);
  train->add_option("--fetch-ahead", loader->fetch_ahead);
  train->add_option("--sample-ahead", loader->sample_ahead);
  train->add_option("--sample-threads", loader->sample_threads);
  train->add_option("--fetch-threads", loader->fetch_threads);
  train->add_option("--steps", options->steps);
  train->add_option("--step-ms", options->step_ms);
  train->add_flag("--pipeline,!--no-pipeline", options->pipeline);
  return train;
}

CLI::App* AddRows(CLI::App* app, Options* options) {
  CLI::App* const rows = app->add_subcommand("rows");
  AddGraph(rows, options);
  rows->add_option("--seconds", options->seconds);
  rows->add_option("--threads", options->threads);
  rows->add_option("--rows-per-call", options->rows_per_call);
  return rows;
}

CLI::App* AddOnline(CLI::App* app, Options* options) {
  CLI::App* const online = app->add_subcommand("online");
  AddGraph(online, options);
  online->add_option("--seconds", options->seconds);  // at most
  online->add_option("--threads", options->threads);
  online->add_option("--fanouts", options->fanouts)->delimiter(',');
  return online;
}

nlohmann::json Measured(const std::string& what, const Options& options) {
  if (what == "train") return Train(options);
  return what == "rows" ? FetchRows(options) : Online(options);
}

int Main(int argc, char** argv) {
  Options options;
  options.graph.call_timeout = std::chrono::seconds(30);
  CLI::App app("A trainer's traffic without a model.", "cluster_client");
  app.require_subcommand(1);
  AddTrain(&app, &options);
  AddRows(&app, &options);
  AddOnline(&app, &options);
  CLI11_PARSE(app, argc, argv);
  std::cout << Measured(app.get_subcommands().front()->get_name(), options).dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
