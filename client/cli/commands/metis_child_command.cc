#include "client/cli/commands/metis_child_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "partition/cut/metis_job.h"

namespace vicinity::cli {

Action DeclareMetisChild(CLI::App* app) {
  const auto job = std::make_shared<std::string>();
  app->add_option("JOB", *job, "the job's file")->required();
  return [job](const ToolContext& /*tool*/, std::ostream& /*out*/) { return RunMetisJob(*job); };
}

}  // namespace vicinity::cli
