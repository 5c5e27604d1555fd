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
#include "client/cli/command.h"
#include "client/cli/exit_code.h"
#include "client/cli/generate_command.h"
#include "client/cli/import_command.h"
#include "client/cli/metis_child_command.h"
#include "client/cli/partition_command.h"
#include "client/cli/tool.h"
#include "partition/cut/child_process.h"
#include "partition/cut/metis_assigner.h"
#include "partition/dataset.h"
#include "partition/progress.h"

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

// The dataset `name`, in shards; made from the one that `make` writes to a folder that goes away.
template <typename Make>
std::unique_ptr<Dataset> OpenShards(const BenchOptions& options, const std::string& name,
                                    const Make& make, const std::string& assigner = "metis") {
  const std::string shards = absl::StrCat(options.data, "/", name, "-4-shards");
  if (!std::filesystem::exists(shards)) {
    std::filesystem::create_directories(options.data);
    const std::string whole = absl::StrCat(options.data, "/", name);
    std::filesystem::remove_all(whole);
    make(whole);
    Run({"partition", "--input", whole, "--shards", "4", "--assigner", assigner, "--output",
         shards});
    std::filesystem::remove_all(whole);
  }
  return Open(shards);
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

}  // namespace

std::optional<int> RanAsMetisChild(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != kMetisChildCommand) return std::nullopt;
  cli::ToolContext tool;
  tool.narration = &std::cerr;
  tool.progress = NoProgress();
  const std::vector<std::string> args(argv + 1, argv + argc);
  return static_cast<int>(cli::RunTool(kCommands, args, tool, std::cout));
}

std::unique_ptr<Dataset> OpenBlockModelShards(const BenchOptions& options) {
  const bool full = options.size == "full";
  const std::string nodes = full ? "1000000" : "20000";
  return OpenShards(options, absl::StrCat("block-model-", nodes), [&](const std::string& output) {
    Run({"generate", "block-model", "--num-nodes", nodes, "--average-degree", full ? "30" : "20",
         "--num-communities", full ? "256" : "64", "--num-classes", "0", "--mixing", "0.3",
         "--feature-width", "0", "--train", "0.08", "--output", output});
  });
}

std::unique_ptr<Dataset> OpenRmatShards(const BenchOptions& options) {
  const std::string scale = options.size == "full" ? "20" : "15";
  const auto make = [&](const std::string& output) {
    Run({"generate", "rmat", "--scale", scale, "--symmetric", "--dedup", "--drop-self-loops",
         "--train", "0.08", "--output", output});
  };
  return OpenShards(options, absl::StrCat("rmat-", scale), make, "hash");
}

std::unique_ptr<Dataset> OpenCnr2000Shards(const BenchOptions& options) {
  if (!std::filesystem::exists(kCnr2000)) {
    std::cerr << "cnr-2000: " << kCnr2000 << " is not there; left out\n";
    return nullptr;
  }
  return OpenShards(options, "cnr2000", [&](const std::string& output) {
    const std::string train = absl::StrCat(options.data, "/cnr2000-train.txt");
    WriteTrainNodes(train);
    Run({"import", "--edges", absl::StrCat(kCnr2000, ":edges"), "--num-nodes",
         absl::StrCat(kCnr2000Nodes), "--train", train, "--add-reverse", "--dedup",
         "--drop-self-loops", "--name", "cnr2000", "--output", output});
    std::filesystem::remove(train);
  });
}

std::unique_ptr<Dataset> OpenWordNetShards(const BenchOptions& options) {
  const std::string files = absl::StrCat(options.data, "/wordnet-files");
  const std::string shards = absl::StrCat(options.data, "/wordnet-4-shards");
  if (!std::filesystem::exists(shards)) {
    std::filesystem::create_directories(options.data);
    ChildOptions child;
    child.program = kWordNet;
    child.arguments = {files};
    child.log_path = absl::StrCat(options.data, "/wordnet.log");
    child.time_limit = absl::Minutes(10);
    if (const auto made = RunChild(child); !made.ok()) {
      std::cerr << "WordNet: " << made.status() << "; left out\n";
      return nullptr;
    }
  }
  return OpenShards(options, "wordnet", [&](const std::string& output) {
    Run({"import", "--description", absl::StrCat(files, "/wordnet.textproto"), "--output", output});
    std::filesystem::remove_all(files);
  });
}

}  // namespace vicinity::benchmark
