// What it takes to fold changes into new files: seconds, and memory that is the process's own.
//
// A random graph on four shards with rows of 64 bytes and weights and times of edges, of which a
// tenth has changed: other rows of nodes, edges that are new, edges that are gone, some nodes of
// either. Baseline: the same graph without changes written once more in the same cut by
// WritePartition, as `vicinity partition` does, in turns, each in a process of its own. Small is
// 100,000 nodes and a million edges; full ten times that.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/cut/assigner.h"
#include "partition/cut/partitioner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "partition/fold/fold.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_trainer.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

constexpr int32_t kShards = 4;
constexpr int64_t kWidth = 16;  // floats of a row
constexpr int kTurns = 3;
constexpr int kBatch = 1000;
constexpr NodeTypeId kNode{0};
constexpr EdgeTypeId kLinks{0};

struct Sizes {
  int64_t nodes;
  int64_t edges;
};

void MakeGraph(const Sizes& sizes, const std::string& directory) {
  testing::RandomGraphOptions options;
  options.num_nodes = sizes.nodes;
  options.num_edges = sizes.edges;
  options.feature_width = kWidth;
  options.weights = true;
  options.times = true;
  options.id_kind = IdKind::kInt64;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  Must(testing::WriteGraph(graph, testing::Shuffled(graph, kShards, 1), directory));
}

// Writes changes of one shard.
class Changer {
 public:
  Changer(const LiveBase& base, LiveShard* shard)
      : base_(base), shard_(*shard), random_(1 + base.shard.id().value) {
    session_.set_id("bench");
  }

  void Change() {
    const int64_t nodes = base_.NodesInFiles(kNode.value);
    const int64_t edges = base_.EdgesInFiles(kLinks.value);
    Repeat(nodes / 10, [&](int count, proto::WriteBatch* batch) { ChangeRows(count, batch); });
    Repeat(nodes / 100, [&](int count, proto::WriteBatch* batch) { AddNodes(count, batch); });
    Repeat(edges / 20, [&](int count, proto::WriteBatch* batch) { AddEdges(count, batch); });
    Repeat(edges / 20, [&](int count, proto::WriteBatch* batch) { RemoveEdges(count, batch); });
    RemoveKeys(nodes / 100);
  }

 private:
  template <typename Fill>
  void Repeat(int64_t total, const Fill& fill) {
    for (int64_t left = total; left > 0; left -= kBatch) {
      proto::WriteBatch batch;
      fill(static_cast<int>(std::min<int64_t>(left, kBatch)), &batch);
      Apply(std::move(batch));
    }
  }
  void Apply(proto::WriteBatch batch) {
    session_.set_sequence(session_.sequence() + 1);
    Must(shard_
             .Apply(session_, std::move(batch), Durability::kBuffered,
                    absl::Now() + absl::Minutes(1))
             .status());
  }
  uint64_t Below(int64_t limit) { return random_() % static_cast<uint64_t>(limit); }
  uint64_t AnyTarget() {
    return base_.book.First(kNode, base_.shard.id()).value + Below(base_.NodesInFiles(kNode.value));
  }
  static std::string Zeros(int64_t bytes) { return std::string(bytes, '\0'); }

  void ChangeRows(int count, proto::WriteBatch* batch) {
    proto::NodeRows& rows = *batch->add_node_rows();
    for (int i = 0; i < count; ++i) rows.add_nodes(AnyTarget());
    rows.mutable_values()->set_rows(Zeros(count * kWidth * 4));
  }
  void AddNodes(int count, proto::WriteBatch* batch) {
    proto::NewNodes& nodes = *batch->add_new_nodes();
    while (nodes.keys_size() < count) {
      const uint64_t key = random_();
      if (base_.book.DirectoryShard(key) == base_.shard.id()) nodes.add_keys(key);
    }
    for (const ColumnSpec& column : base_.schema.node_types[0].columns) {
      nodes.add_columns()->set_rows(Zeros(count * column.row_bytes()));
    }
  }
  void AddEdges(int count, proto::WriteBatch* batch) {
    proto::NewEdges& edges = *batch->add_new_edges();
    for (int i = 0; i < count; ++i) {
      edges.add_sources(Below(base_.book.num_nodes(kNode)));
      edges.add_targets(AnyTarget());
    }
    for (const ColumnSpec& column : base_.schema.edge_types[0].columns) {
      edges.add_columns()->set_rows(Zeros(count * column.row_bytes()));
    }
  }
  // Each target's first.
  void RemoveEdges(int count, proto::WriteBatch* batch) {
    proto::EdgeNames& edges = *batch->add_gone_edges();
    const EdgeTable& lists = base_.shard.edges(kLinks);
    for (; edges.targets_size() < count; ++next_position_) {
      const int64_t position =
          next_position_ * 20 % lists.num_edges() + next_position_ * 20 / lists.num_edges();
      while (static_cast<int64_t>(lists.offsets[next_row_ + 1]) <= position) ++next_row_;
      while (next_row_ > 0 && static_cast<int64_t>(lists.offsets[next_row_]) > position)
        --next_row_;
      edges.add_targets(base_.book.First(kNode, base_.shard.id()).value + next_row_);
      edges.add_edge_ids(lists.edge_ids[position]);
    }
  }
  void RemoveKeys(int64_t count) {
    const NodeTable& nodes = base_.shard.nodes(kNode);
    const auto listed = static_cast<int64_t>(nodes.directory_keys.size());
    proto::WriteBatch batch;
    for (int64_t i = 0; i < std::min(count, listed); ++i) {
      if (batch.gone_keys_size() == 0) batch.add_gone_keys();
      batch.mutable_gone_keys(0)->add_keys(nodes.directory_keys[i * (listed / count)]);
    }
    Apply(std::move(batch));
  }

  const LiveBase base_;
  LiveShard& shard_;
  std::mt19937_64 random_;
  proto::WriteSession session_;
  int64_t next_position_ = 0;
  int64_t next_row_ = 0;
};

void MakeChanges(const std::string& data, const std::string& changes) {
  const std::unique_ptr<Dataset> dataset = Must(Dataset::Open(data));
  const std::unique_ptr<LiveDataset> live =
      Must(LiveDataset::Open(*dataset, changes, LiveDatasetOptions()));
  for (const std::unique_ptr<Shard>& shard : dataset->shards()) {
    const LiveBase base{dataset->schema(), dataset->book(), *shard, dataset->fingerprint()};
    const std::shared_ptr<LiveShard> changed = Must(live->Find(shard->id()));
    Changer(base, changed.get()).Change();
  }
}

void Fold(const std::string& data, const std::string& changes, const std::string& out) {
  const std::unique_ptr<Dataset> dataset = Must(OpenForPasses(data));
  Must(FoldChanges(*dataset, changes, out, NoProgress()).status());
}

void WriteAgain(const std::string& data, const std::string& out) {
  const std::unique_ptr<Dataset> dataset = Must(OpenForPasses(data));
  Assignment assignment = MakeAssignment(*dataset, kShards);
  for (int64_t node = 0; node < dataset->book().num_nodes(kNode); ++node) {
    assignment.shard_of[0][node] = dataset->book().OwnerOf(kNode, {node}).value;
  }
  Must(
      WritePartition(*dataset, assignment, OrderNodes(assignment, {}), out, "bench", NoProgress()));
}

struct Taken {
  double seconds = 0;
  double cpu_seconds = 0;  // of all cores
  int64_t own_bytes = 0;   // at most, of memory that is no file's
};

int64_t OwnBytes(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoll(line.substr(8)) << 10;
  }
  return 0;
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// This program, started anew with these arguments.
Taken RunAlone(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  std::vector<std::string> all = {"fold_benchmark"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const auto begun = std::chrono::steady_clock::now();
  pid_t child = 0;  // not by fork(), after which its memory would be ours for a moment
  const int failed = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
  if (failed != 0) Must(absl::UnknownError(absl::StrCat("cannot start myself: ", failed)));
  Taken taken;
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    taken.own_bytes = std::max(taken.own_bytes, OwnBytes(child));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  taken.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  taken.cpu_seconds = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
  if (status != 0) Must(absl::UnknownError(absl::StrCat(arguments[0], " ended with ", status)));
  return taken;
}

Taken Better(const Taken& a, const Taken& b) {
  return {std::min(a.seconds, b.seconds), std::min(a.cpu_seconds, b.cpu_seconds),
          std::max(a.own_bytes, b.own_bytes)};
}

void Run(const BenchOptions& options) {
  const Sizes sizes =
      options.size == "full" ? Sizes{1'000'000, 10'000'000} : Sizes{100'000, 1'000'000};
  const testing::TempDir folder;
  const std::string data = folder.File("data");
  const std::string changes = folder.File("changes");
  const std::string out = folder.File("out");
  MakeGraph(sizes, data);
  MakeChanges(data, changes);
  Taken fold{1e9, 1e9, 0};
  Taken again{1e9, 1e9, 0};
  for (int turn = 0; turn < kTurns; ++turn) {
    again = Better(again, RunAlone({"--again", data, out}));
    std::filesystem::remove_all(out);
    fold = Better(fold, RunAlone({"--fold", data, changes, out}));
    std::filesystem::remove_all(out);
  }
  BenchReport report(options, std::cout);
  const std::string variant =
      absl::StrCat(sizes.nodes, " nodes, ", sizes.edges, " edges, a tenth changed");
  report.Add({"fold", variant, "seconds", fold.seconds, again.seconds, std::nullopt});
  report.Add(
      {"fold", variant, "seconds of all cores", fold.cpu_seconds, again.cpu_seconds, std::nullopt});
  report.Add({"fold", variant, "own MiB", static_cast<double>(fold.own_bytes) / (1 << 20),
              static_cast<double>(again.own_bytes) / (1 << 20), std::nullopt});
}

int Main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--fold") == 0) {
    Fold(argv[2], argv[3], argv[4]);
  } else if (argc == 4 && std::strcmp(argv[1], "--again") == 0) {
    WriteAgain(argv[2], argv[3]);
  } else {
    Run(ParseBenchOptions(argc, argv));
  }
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
