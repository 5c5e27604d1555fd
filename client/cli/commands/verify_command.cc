#include "client/cli/commands/verify_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_format.h"
#include "client/cli/output/output.h"
#include "partition/dataset/manifest.h"
#include "partition/writing/audit.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  OutputFormat format = OutputFormat::kTable;
};

// What was found whole.
struct Extent {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t nodes = 0;
  int64_t edges = 0;

  void Add(const proto::FileEntry& file) {
    ++files;
    bytes += static_cast<int64_t>(file.size());
  }
};

Extent ExtentOf(const proto::Manifest& manifest) {
  Extent extent;
  for (int32_t s = 0; s < manifest.shards_size(); ++s) {
    for (const proto::FileEntry* file : FilesOfShard(manifest, {s})) extent.Add(*file);
  }
  for (const proto::Ranking& ranking : manifest.rankings()) {
    for (const proto::FileEntry& file : ranking.files()) extent.Add(file);
  }
  for (const proto::Audit::Nodes& type : manifest.audit().node_types()) {
    extent.nodes += static_cast<int64_t>(type.count());
  }
  for (const proto::Audit::Edges& type : manifest.audit().edge_types()) {
    extent.edges += static_cast<int64_t>(type.count());
  }
  return extent;
}

absl::Status RunVerify(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_RETURN_IF_ERROR(VerifyDataset(flags.directory, tool.progress));
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(flags.directory));
  const Extent extent = ExtentOf(manifest);
  if (flags.format == OutputFormat::kJson) {
    nlohmann::ordered_json json;
    json["directory"] = flags.directory;
    json["fingerprint"] = absl::StrFormat("%016x", manifest.fingerprint());
    json["num_shards"] = manifest.shards_size();
    json["num_files"] = extent.files;
    json["num_bytes"] = extent.bytes;
    json["num_nodes"] = extent.nodes;
    json["num_edges"] = extent.edges;
    PrintJson(json, out);
    return absl::OkStatus();
  }
  out << flags.directory << " is whole: " << HumanCount(manifest.shards_size()) << " shards, "
      << HumanCount(extent.nodes) << " nodes, " << HumanCount(extent.edges) << " edges, "
      << HumanCount(extent.files) << " files, " << HumanBytes(extent.bytes) << '\n';
  return absl::OkStatus();
}

}  // namespace

Action DeclareVerify(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset to check")->required();
  AddFormatFlag(app, &flags->format);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunVerify(*flags, tool, out); };
}

}  // namespace vicinity::cli
