#include "tests/benchmark/bench_shards.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/commands/command.h"
#include "client/cli/commands/generate_command.h"
#include "client/cli/commands/import_command.h"
#include "client/cli/commands/metis_child_command.h"
#include "client/cli/commands/partition_command.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/tool.h"
#include "partition/cut/child_process.h"
#include "partition/cut/metis_assigner.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity::benchmark {
namespace {

constexpr std::array<cli::Command, 4> kCommands = {cli::kImportCommand, cli::kGenerateCommand,
                                                   cli::kPartitionCommand, cli::kMetisChildCommand};

// Benchmarks are run from the root of the clone; this lies beside some.
constexpr char kCnr2000[] = "../shared/data/cnr2000.npz";
constexpr char kWordNet[] = "deploy/wordnet.py";
constexpr int64_t kCnr2000Nodes = 325557;

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << what << '\n';
  std::exit(1);
}

void Run(const std::vector<std::string>& args) {
  std::stringstream narration;
  std::stringstream out;
  cli::ToolContext tool;
  tool.narration = &narration;
  tool.progress = NoProgress();
  tool.program = "/proc/self/exe";  // what METIS' child is started from
  std::cerr << "vicinity " << args[0] << " ... " << args.back() << '\n';
  const cli::ExitCode code = cli::RunTool(kCommands, args, tool, out);
  if (code != cli::ExitCode::kOk) Fail(narration.str());
}

std::unique_ptr<Dataset> Open(const std::string& directory) {
  Dataset::Options options;
  options.check_bytes = 0;
  auto dataset = Dataset::Open(directory, options);
  if (!dataset.ok()) Fail(dataset.status().ToString());
  return *std::move(dataset);
}

// 8 % of the nodes, scattered by the golden ratio.
void WriteTrainNodes(const std::string& path) {
  std::ofstream file(path);
  for (int64_t node = 0; node < kCnr2000Nodes; ++node) {
    const auto scattered = static_cast<uint32_t>(node * 2654435761u);
    if (scattered < 0.08 * 0x1p32) file << node << '\n';
  }
  if (!file) Fail(absl::StrCat("cannot write ", path));
}

void MakeBlockModel(const BenchOptions& options, const std::string& output) {
  const bool full = options.size == "full";
  Run({"generate", "block-model", "--num-nodes", full ? "1000000" : "20000", "--average-degree",
       full ? "30" : "20", "--num-communities", full ? "256" : "64", "--num-classes", "0",
       "--mixing", "0.3", "--feature-width", "0", "--train", "0.08", "--output", output});
}

void MakeRmat(const BenchOptions& options, const std::string& output) {
  Run({"generate", "rmat", "--scale", options.size == "full" ? "20" : "15", "--symmetric",
       "--dedup", "--drop-self-loops", "--train", "0.08", "--output", output});
}

void MakeCnr2000(const BenchOptions& options, const std::string& output) {
  const std::string train = absl::StrCat(options.data, "/cnr2000-train.txt");
  WriteTrainNodes(train);
  Run({"import", "--edges", absl::StrCat(kCnr2000, ":edges"), "--num-nodes",
       absl::StrCat(kCnr2000Nodes), "--train", train, "--add-reverse", "--dedup",
       "--drop-self-loops", "--name", "cnr2000", "--output", output});
  std::filesystem::remove(train);
}

void ImportDescribed(const std::string& description, const std::string& output) {
  Run({"import", "--description", description, "--output", output});
}

// Empty: made, or it failed in a way that was told.
std::string MakeWordNet(const BenchOptions& options, const std::string& output) {
  const std::string files = absl::StrCat(options.data, "/wordnet-files");
  ChildOptions child;
  child.program = kWordNet;
  child.arguments = {files};
  child.log_path = absl::StrCat(options.data, "/wordnet.log");
  child.time_limit = absl::Minutes(10);
  if (const auto made = RunChild(child); !made.ok()) return made.status().ToString();
  ImportDescribed(absl::StrCat(files, "/wordnet.textproto"), output);
  std::filesystem::remove_all(files);
  return "";
}

// What is missing to make the graph; empty: it was made.
std::string Make(const BenchOptions& options, BenchGraph graph, const std::string& output) {
  switch (graph) {
    case BenchGraph::kBlockModel:
      MakeBlockModel(options, output);
      return "";
    case BenchGraph::kRmat:
      MakeRmat(options, output);
      return "";
    case BenchGraph::kWordNet:
      return MakeWordNet(options, output);
    case BenchGraph::kCnr2000:
      if (!std::filesystem::exists(kCnr2000)) return absl::StrCat(kCnr2000, " is not there");
      MakeCnr2000(options, output);
      return "";
    case BenchGraph::kCora:
      ImportDescribed("tests/data/cora.textproto", output);
      return "";
    case BenchGraph::kTolokers:
      ImportDescribed("tests/data/tolokers.textproto", output);
      return "";
  }
  return "no such graph";
}

}  // namespace

std::string NameOf(BenchGraph graph) {
  switch (graph) {
    case BenchGraph::kBlockModel:
      return "block model";
    case BenchGraph::kRmat:
      return "R-MAT";
    case BenchGraph::kWordNet:
      return "WordNet";
    case BenchGraph::kCnr2000:
      return "cnr-2000";
    case BenchGraph::kCora:
      return "cora";
    case BenchGraph::kTolokers:
      return "tolokers";
  }
  return "";
}

std::optional<int> RanAsMetisChild(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != kMetisChildCommand) return std::nullopt;
  cli::ToolContext tool;
  tool.narration = &std::cerr;
  tool.progress = NoProgress();
  const std::vector<std::string> args(argv + 1, argv + argc);
  return static_cast<int>(cli::RunTool(kCommands, args, tool, std::cout));
}

std::unique_ptr<Dataset> OpenBenchShards(const BenchOptions& options, BenchGraph graph,
                                         const std::string& cut) {
  const std::string whole =
      absl::StrCat(options.data, "/", NameOf(graph), options.size == "full" ? "" : "-small");
  const std::string shards = absl::StrCat(whole, "-4-shards-", cut);
  if (!std::filesystem::exists(shards)) {
    std::filesystem::create_directories(options.data);
    std::filesystem::remove_all(whole);
    if (const std::string missing = Make(options, graph, whole); !missing.empty()) {
      std::cerr << NameOf(graph) << ": " << missing << "; left out\n";
      return nullptr;
    }
    Run({"partition", "--input", whole, "--shards", "4", "--assigner", cut, "--output", shards});
    std::filesystem::remove_all(whole);
  }
  return Open(shards);
}

}  // namespace vicinity::benchmark
