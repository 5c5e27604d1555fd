// What it costs that nothing of a file is believed before its page has been checked: rows and one
// hop of neighbours, read as a server and a trainer that maps its shards read them. "warm": the
// files are in memory, and every page has been verified; "cold": the system's cache holds nothing
// of them, and nobody has touched a page yet.
//
// Baseline: the same graph in format version 1, whose pages have no checksums, in turns with it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/dataset/whole_read.h"
#include "partition/ingest/generate_rmat.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "sampler/local_sampler.h"
#include "sampler/one_hop.h"
#include "tests/benchmark/bench_report.h"
#include "tests/testing/graphs/damage.h"

namespace vicinity::benchmark {
namespace {

constexpr size_t kRequest = 4096;  // rows or targets
constexpr int64_t kFanout = 15;
constexpr int kRounds = 5;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "pages: " << status << '\n';
  std::exit(1);
}

// Rows of 512 bytes and lists of 32 on average.
std::string MakeGraph(const BenchOptions& options) {
  RmatOptions rmat;
  rmat.scale = options.size == "full" ? 21 : 17;
  rmat.symmetric = true;
  rmat.columns = {{"features", DType::kFloat32, 128}};
  const std::string directory = absl::StrCat(options.data, "/rmat-", rmat.scale, "-rows");
  if (!std::filesystem::exists(directory)) {
    std::filesystem::create_directories(options.data);
    std::cerr << "generating " << directory << '\n';
    Check(GenerateRmat(rmat, directory, NoProgress()).status());
  }
  return directory;
}

std::string MakeOldGraph(const std::string& directory) {
  const std::string old = directory + "-version-1";
  if (std::filesystem::exists(old)) return old;
  const std::string part = old + ".part";
  std::filesystem::remove_all(part);
  std::filesystem::copy(directory, part, std::filesystem::copy_options::recursive);
  Check(testing::MakeVersion1(part));
  std::filesystem::rename(part, old);
  return old;
}

// No process may have them mapped.
void DropFromCache(const std::string& directory) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    const int fd = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

std::vector<uint64_t> RandomRows(const Dataset& dataset, size_t count) {
  std::mt19937_64 random(3);
  const auto num_nodes = static_cast<uint64_t>(dataset.book().num_nodes(NodeTypeId{0}));
  std::vector<uint64_t> rows(count);
  for (uint64_t& row : rows) row = random() % num_nodes;
  return rows;
}

// What somebody does with a graph: so many rows or edges.
using Reading = int64_t (*)(const Dataset& dataset, absl::Span<const uint64_t> rows);

int64_t ReadRows(const Dataset& dataset, absl::Span<const uint64_t> rows) {
  const Shard& shard = *dataset.shards()[0];
  const ShardReader reader(shard);
  const ShardColumn column = reader.NodeColumn(NodeTypeId{0}, 0);
  std::string copied;
  for (size_t first = 0; first < rows.size(); first += kRequest) {
    Check(reader.ReadRows(
        column, rows.subspan(first, kRequest), [&] { copied.clear(); },
        [&](size_t, const char* row) { copied.append(row, column.row_bytes()); }));
  }
  return static_cast<int64_t>(rows.size());
}

int64_t SampleLists(const Dataset& dataset, absl::Span<const uint64_t> rows) {
  OneHopOptions options;
  options.fanout = kFanout;
  options.stream = 1;
  Neighbors neighbors;
  int64_t edges = 0;
  for (size_t first = 0; first < rows.size(); first += kRequest) {
    neighbors.Clear();
    Check(SampleShard(dataset.schema(), ShardReader(*dataset.shards()[0]), EdgeTypeId{0},
                      rows.subspan(first, kRequest), options, &neighbors));
    edges += static_cast<int64_t>(neighbors.sources.size());
  }
  return edges;
}

double Nanoseconds(const Dataset& dataset, Reading reading, absl::Span<const uint64_t> rows) {
  const auto begun = std::chrono::steady_clock::now();
  const int64_t count = reading(dataset, rows);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begun;
  return taken.count() / static_cast<double>(count);
}

struct Costs {
  std::vector<double> cold;
  std::vector<double> warm;
};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::unique_ptr<Dataset> Open(const std::string& directory) {
  Dataset::Options options;
  options.verify_at_touch = true;
  options.check_bytes = 0;
  auto dataset = Dataset::Open(directory, options);
  Check(dataset.status());
  return *std::move(dataset);
}

void Measure(const std::string& directory, Reading reading, size_t count, Costs* costs) {
  DropFromCache(directory);
  const std::unique_ptr<Dataset> dataset = Open(directory);
  const std::vector<uint64_t> rows = RandomRows(*dataset, count);
  costs->cold.push_back(Nanoseconds(*dataset, reading, rows));
  Check(ReadWhole(AllFiles(*dataset), NoProgress(), [] { return absl::OkStatus(); }));
  reading(*dataset, rows);
  for (int i = 0; i < 3; ++i) costs->warm.push_back(Nanoseconds(*dataset, reading, rows));
}

void Compare(const char* variant, const char* unit, Reading reading, size_t count,
             const std::string& graph, const std::string& old_graph, BenchReport* report) {
  Costs costs;
  Costs baseline;
  for (int round = 0; round < kRounds; ++round) {
    Measure(old_graph, reading, count, &baseline);
    Measure(graph, reading, count, &costs);
  }
  const auto add = [&](const char* state, const std::vector<double>& of,
                       const std::vector<double>& old) {
    report->Add({"pages", absl::StrCat(variant, ", ", state), unit, Median(of), Median(old), {}});
  };
  add("cold", costs.cold, baseline.cold);
  add("warm", costs.warm, baseline.warm);
}

void Run(const BenchOptions& options) {
  const std::string graph = MakeGraph(options);
  const std::string old_graph = MakeOldGraph(graph);
  const size_t count = options.size == "full" ? 400'000 : 25'000;
  BenchReport report(options, std::cout);
  Compare("rows of 512 bytes", "ns/row", &ReadRows, count, graph, old_graph, &report);
  Compare("one hop, fanout 15", "ns/edge", &SampleLists, count, graph, old_graph, &report);
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
