#include "client/cli/commands/import_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/cli/flags/import_description.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/ingest_output.h"
#include "client/cli/output/output.h"
#include "client/planning/available_resources.h"
#include "partition/ingest/importer.h"
#include "proto/command_line/choices.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string description;
  SimpleImportFlags simple;
  std::string output;
  OutputFormat format = OutputFormat::kTable;
};

// To the library a faulty file is a wrong argument; to the tool it is bad data.
absl::Status BadData(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? WithExitCode(status, ExitCode::kBadData) : status;
}

absl::Status RunImport(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  proto::ImportDescription description;
  std::string base = ".";
  if (flags.description.empty()) {
    VICINITY_ASSIGN_OR_RETURN(description, DescribeSimpleImport(flags.simple));
  } else {
    absl::StatusOr<proto::ImportDescription> read = ReadImportDescription(flags.description);
    if (!read.ok()) return BadData(read.status());
    description = *std::move(read);
    base = ParentOf(flags.description);
    // Flags add to what the file says.
    if (flags.simple.add_reverse) description.set_add_reverse(true);
    if (flags.simple.add_reverse_apart) description.set_add_reverse_apart(true);
    if (flags.simple.dedup) description.set_dedup(true);
    if (flags.simple.drop_self_loops) description.set_drop_self_loops(true);
    if (!flags.simple.name.empty()) description.set_name(flags.simple.name);
  }
  const absl::StatusOr<IngestReport> report =
      Import(description, base, flags.output, tool.progress);
  if (!report.ok()) return BadData(report.status());
  PrintIngest(*report, flags.output, flags.format, out);
  return absl::OkStatus();
}

void AddSimpleFlags(CLI::App* app, SimpleImportFlags* flags, CLI::Option* description) {
  const auto add = [&](const char* name, std::string* value, const char* help) {
    app->add_option(name, *value, help)->type_name("FILE[:MEMBER]")->excludes(description);
  };
  add("--edges", &flags->edges, "two node ids a row: source, target");
  app->add_flag("--transposed", flags->transposed, "the edges are [2, E] instead of [E, 2]")
      ->excludes(description);
  app->add_option("--num-nodes", flags->num_nodes,
                  "nodes 0 to N - 1; default: as many as the ids or the edges name")
      ->type_name("N")
      ->check(InRange(int64_t{0}, int64_t{1} << 62))
      ->excludes(description);
  add("--ids", &flags->ids, "the nodes' own ids, integers or strings, one a row");
  add("--features", &flags->features, "one row a node");
  add("--labels", &flags->labels, "one class a node, -1: none");
  add("--targets", &flags->targets,
      "what to learn where it is no single class: one row a node, such as several classes or a "
      "real "
      "number");
  add("--train", &flags->train, "ids of the training nodes, one a row");
  add("--validation", &flags->validation, "likewise");
  add("--test", &flags->test, "likewise");
  add("--train-mask", &flags->train_mask, "or one truth value a node");
  add("--validation-mask", &flags->validation_mask, "likewise");
  add("--test-mask", &flags->test_mask, "likewise");
}

}  // namespace

Action DeclareImport(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  CLI::Option* const description =
      app->add_option("--description", flags->description,
                      "protobuf text format: proto/import.proto tells what it can say")
          ->type_name("FILE");
  AddSimpleFlags(app, &flags->simple, description);
  CLI::Option* const add_reverse = app->add_flag("--add-reverse", flags->simple.add_reverse,
                                                 "also every edge the other way round");
  app->add_flag("--add-reverse-apart", flags->simple.add_reverse_apart,
                "likewise, always as an edge type of its own, rev_...: for out-lists")
      ->excludes(add_reverse);
  app->add_flag("--dedup", flags->simple.dedup, "of edges with the same ends keep the first");
  app->add_flag("--drop-self-loops", flags->simple.drop_self_loops,
                "drop edges from a node to itself");
  app->add_option("--name", flags->simple.name, "of the dataset; default: of the edges' file");
  app->add_option("--output", flags->output, "directory to make")->type_name("DIR")->required();
  AddFormatFlag(app, &flags->format);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunImport(*flags, tool, out); };
}

}  // namespace vicinity::cli
