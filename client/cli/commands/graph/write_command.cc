#include "client/cli/commands/graph/write_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "client/cli/writes/change_file.h"
#include "client/cli/writes/change_rows.h"
#include "client/cli/writes/file_writing.h"
#include "client/cli/writes/open_change_file.h"
#include "client/graph.h"
#include "client/writer.h"
#include "partition/schema/schema.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  GraphFlags graph;
  std::string nodes;
  std::string edges;
  std::string file;
  std::string dead_letter;
  int64_t from_line = 0;
  double give_up_seconds = 60;
  Durability durability = Durability::kSync;
  ChangeFormat file_format = ChangeFormat::kCsv;
  WriteSubject subject;
};

absl::StatusOr<WriteSubject> SubjectOf(const Schema& schema, const Flags& flags) {
  WriteSubject subject = flags.subject;
  subject.of_edges = !flags.edges.empty();
  if (!subject.of_edges) {
    VICINITY_ASSIGN_OR_RETURN(subject.type, FindNodeTypeFlag(schema, flags.nodes));
    return subject;
  }
  subject.type = schema.FindEdgeType(flags.edges);
  if (subject.type >= 0) return subject;
  std::string known;
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    absl::StrAppend(&known, e == 0 ? "" : ", ", schema.EdgeTypeName(static_cast<int>(e)));
  }
  return absl::NotFoundError(absl::StrCat(
      "no edge type \"", flags.edges, "\" (or several relations of this name), there are ", known));
}

absl::StatusOr<ChangeFormat> FormatOf(const Flags& flags, bool given) {
  if (given || flags.file == "-") return flags.file_format;
  const std::optional<ChangeFormat> format = ChangeFormatOf(flags.file);
  if (format.has_value()) return *format;
  return absl::InvalidArgumentError(absl::StrCat(
      flags.file,
      ": its name does not end in .csv, .tsv, .jsonl, .ndjson, .npz or .npy: give --file-format"));
}

// What the fields of an array alone are.
std::vector<std::string> NpyNames(const WriteSubject& subject) {
  if (!subject.of_edges) return {subject.id_field};
  return {subject.source_field, subject.target_field};
}

FileWritingOptions WritingOptions(const Flags& flags) {
  FileWritingOptions options;
  options.subject = flags.subject;
  options.writer.durability = flags.durability;
  options.writer.give_up_after = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(flags.give_up_seconds));
  options.dead_letter = flags.dead_letter;
  options.from = flags.from_line;
  if (flags.graph.data.empty()) {  // also a cluster by its context
    options.reopen = [graph = flags.graph] { return OpenGraph(graph); };
  }
  return options;
}

absl::Status InData(absl::Status status) {
  return absl::IsInvalidArgument(status) ? WithExitCode(std::move(status), ExitCode::kBadData)
                                         : status;
}

void Report(const Flags& flags, const std::string& type, const FileWriting& writing, double seconds,
            std::ostream& out) {
  if (flags.graph.format == OutputFormat::kJson) {
    Json versions = Json::array();
    for (const auto& [shard, version] : writing.versions()) {
      versions.push_back({{"shard", shard}, {"version", version}});
    }
    PrintJson({{"type", type},
               {"written", writing.num_written()},
               {"refused", writing.num_refused()},
               {"seconds", seconds},
               {"versions", versions}},
              out);
    return;
  }
  const double rate = static_cast<double>(writing.num_written()) / std::max(seconds, 1e-6);
  out << HumanCount(writing.num_written()) << (flags.subject.of_edges ? " edges" : " nodes")
      << " of type " << type << " written in " << HumanSeconds(seconds) << ", "
      << HumanCount(static_cast<int64_t>(rate)) << " a second\n";
  if (writing.num_refused() > 0) {
    out << HumanCount(writing.num_refused()) << " refused: " << flags.dead_letter << '\n';
  }
}

absl::Status RunWrite(const Flags& given, bool has_format, const ToolContext& tool,
                      std::ostream& out) {
  Flags flags = given;
  if (flags.nodes.empty() == flags.edges.empty()) {
    return absl::InvalidArgumentError("one of --nodes TYPE and --edges TYPE is needed");
  }
  if (!(flags.give_up_seconds >= 0 && flags.give_up_seconds <= 86400)) {
    return absl::InvalidArgumentError(absl::StrCat("--give-up is ", flags.give_up_seconds,
                                                   ", should be from 0 to 86400 seconds"));
  }
  VICINITY_ASSIGN_OR_RETURN(const ChangeFormat format, FormatOf(flags, has_format));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  VICINITY_ASSIGN_OR_RETURN(flags.subject, SubjectOf(graph->schema(), flags));
  const Schema schema = graph->schema();
  auto file = OpenChangeFile(flags.file, format, NpyNames(flags.subject));
  if (!file.ok()) {
    const bool is_array = format == ChangeFormat::kNpz || format == ChangeFormat::kNpy;
    return flags.file == "-" && is_array ? file.status() : InData(file.status());  // a wrong flag
  }
  auto writing =
      FileWriting::Create(WritingOptions(flags), std::move(graph), file->get(), tool.progress);
  if (!writing.ok()) return InData(At(flags.file, writing.status()));
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = (*writing)->Run();
  if (!status.ok()) return InData(status);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::string type = flags.subject.of_edges ? schema.EdgeTypeName(flags.subject.type)
                                                  : schema.node_types[flags.subject.type].name;
  Report(flags, type, **writing, took.count(), out);
  return absl::OkStatus();
}

void AddFieldFlags(CLI::App* app, WriteSubject* subject) {
  const auto add = [app](const char* name, std::string* field, const char* what) {
    app->add_option(name, *field, what)->type_name("NAME")->capture_default_str();
  };
  add("--id-field", &subject->id_field, "of the file: where a node's id is, as the user gave it");
  add("--source-field", &subject->source_field,
      "of an edge, the id of the node that it leads from");
  add("--target-field", &subject->target_field, "... and to");
  add("--edge-id-field", &subject->edge_id_field,
      "to update and remove edges, in place of the source: the edge's own id");
}

}  // namespace

Action DeclareWrite(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  auto* const nodes = app->add_option("--nodes", flags->nodes, "the rows are nodes of this type")
                          ->type_name("TYPE");
  app->add_option("--edges", flags->edges, "the rows are edges of this type")
      ->type_name("TYPE")
      ->excludes(nodes);
  app->add_option("FILE", flags->file, "the rows, with names of their fields; -: standard input")
      ->required();
  app->add_option("--action", flags->subject.action,
                  "add new ones, update columns of those there are, or remove them")
      ->transform(Choices<WriteAction>({{"add", WriteAction::kAdd},
                                        {"update", WriteAction::kUpdate},
                                        {"remove", WriteAction::kRemove}}))
      ->type_name("add|update|remove")
      ->default_str("add");
  auto* const format = app->add_option("--file-format", flags->file_format, "of FILE; of - csv")
                           ->transform(Choices<ChangeFormat>({{"csv", ChangeFormat::kCsv},
                                                              {"tsv", ChangeFormat::kTsv},
                                                              {"jsonl", ChangeFormat::kJsonLines},
                                                              {"npz", ChangeFormat::kNpz},
                                                              {"npy", ChangeFormat::kNpy}}))
                           ->type_name("csv|tsv|jsonl|npz|npy")
                           ->default_str("by its name");
  AddFieldFlags(app, &flags->subject);
  app->add_option("--dead-letter", flags->dead_letter,
                  "a new file for rows that are refused, with reasons; default: the first ends it")
      ->type_name("FILE");
  app->add_option("--from-line", flags->from_line,
                  "leave out rows of lines before; of arrays, rows before")
      ->type_name("N")
      ->capture_default_str();
  app->add_option(
         "--durability", flags->durability,
         "what it survives when it is done: a power cut, the end of the servers alone, or the "
         "loss of fewer than half of a shard's servers")
      ->transform(Choices<Durability>({{"sync", Durability::kSync},
                                       {"buffered", Durability::kBuffered},
                                       {"replicated", Durability::kReplicated}}))
      ->type_name("sync|buffered|replicated")
      ->default_str("sync");
  app->add_option("--give-up", flags->give_up_seconds, "seconds to send again what gets no answer")
      ->type_name("SECONDS")
      ->capture_default_str();
  return [flags, format](const ToolContext& tool, std::ostream& out) {
    return RunWrite(*flags, format->count() > 0, tool, out);
  };
}

}  // namespace vicinity::cli
