#include "client/cli/verify_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/cli/output.h"
#include "partition/audit.h"
#include "partition/manifest.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  OutputFormat format = OutputFormat::kTable;
};

absl::Status RunVerify(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_RETURN_IF_ERROR(VerifyDataset(flags.directory, tool.progress));
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(flags.directory));
  out << flags.directory << ": whole\n";
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
