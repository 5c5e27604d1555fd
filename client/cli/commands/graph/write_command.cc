#include "client/cli/commands/graph/write_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "client/cli/writes/change_file.h"
#include "client/cli/writes/change_rows.h"
#include "client/graph.h"
#include "client/writer.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/schema/schema.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

// What is read before it is written, and kept until that is over.
constexpr int64_t kChunkRows = 65536;
constexpr int64_t kChunkBytes = int64_t{8} << 20;
constexpr size_t kNamedRows = 10;  // in the error
constexpr absl::Duration kLookAgain = absl::Milliseconds(200);

struct Flags {
  GraphFlags graph;
  std::string nodes;
  std::string edges;
  std::string file;
  std::string dead_letter;
  int64_t from_line = 1;
  double give_up_seconds = 60;
  Durability durability = Durability::kSync;
  ChangeFile::Format file_format = ChangeFile::Format::kCsv;
  WriteSubject subject;
};

// Rows that were not written, as a file that can be written once they are mended: an object a line,
// with `_line` and `_reason`. It appears with the first of them.
class DeadLetters {
 public:
  explicit DeadLetters(const std::string& path) : path_(path) {}

  bool wanted() const { return !path_.empty(); }
  absl::Status CheckIsNew() const {
    std::error_code error;
    if (!wanted() || !std::filesystem::exists(path_, error)) return absl::OkStatus();
    return absl::AlreadyExistsError(
        absl::StrCat("--dead-letter ", path_, " is there already: it is not overwritten"));
  }
  void Add(Json row, int64_t line, const std::string& reason) {
    if (!file_.is_open()) file_.open(path_, std::ios::binary);
    row["_line"] = line;
    row["_reason"] = reason;
    file_ << row.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }
  absl::Status Finish() {
    if (!file_.is_open()) return absl::OkStatus();
    file_.close();
    if (!file_.fail()) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(path_, ": cannot be written"));
  }

 private:
  const std::string path_;
  std::ofstream file_;
};

// It says nothing of what was asked, so that the same may be asked again.
bool MayAnswerYet(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsAborted(status) || absl::IsResourceExhausted(status);
}

absl::StatusOr<std::unique_ptr<Writer>> WriterOf(const Graph& graph, const Flags& flags) {
  WriterOptions options;
  options.durability = flags.durability;
  options.give_up_after = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(flags.give_up_seconds));
  Result<std::unique_ptr<Writer>> writer = Writer::Create(&graph, options);
  if (!writer.ok()) return ToStatus(writer.error());
  return *std::move(writer);
}

// Where the rows of a file go.
struct Target {
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Writer> writer;
  std::unique_ptr<ChangeRows> rows;
};

absl::StatusOr<Target> TargetOf(std::unique_ptr<Graph> graph, const Flags& flags,
                                const std::vector<std::string>& names) {
  Target target;
  target.graph = std::move(graph);
  VICINITY_ASSIGN_OR_RETURN(target.writer, WriterOf(*target.graph, flags));
  VICINITY_ASSIGN_OR_RETURN(target.rows, ChangeRows::Create(*target.graph, flags.subject, names));
  return target;
}

// One file on its way.
class FileWriting {
 public:
  FileWriting(const Flags& flags, ChangeFile* file, Target target, Progress* progress)
      : flags_(flags),
        file_(*file),
        target_(std::move(target)),
        progress_(*progress),
        letters_(flags.dead_letter) {
    fields_.Clear(file_.names().size());
  }

  int64_t num_written() const { return num_written_; }
  int64_t num_refused() const { return num_refused_; }
  const std::map<int32_t, uint64_t>& versions() const { return versions_; }

  absl::Status Run() {
    VICINITY_RETURN_IF_ERROR(letters_.CheckIsNew());
    progress_.Begin("writing", 0, flags_.subject.of_edges ? "edges" : "nodes");
    const absl::Status status = WriteAll();
    progress_.End();
    const absl::Status letters = letters_.Finish();
    VICINITY_RETURN_IF_ERROR(status);
    VICINITY_RETURN_IF_ERROR(letters);
    return num_refused_ > 0 && !letters_.wanted() ? Refused() : absl::OkStatus();
  }

 private:
  // Stops at the first row that is refused, unless there is a place for it.
  absl::Status WriteAll() {
    while (letters_.wanted() || num_refused_ == 0) {
      VICINITY_ASSIGN_OR_RETURN(const ChangeFile::Line line, file_.Next());
      if (line == ChangeFile::Line::kEnd) break;
      if (file_.line_number() < flags_.from_line) continue;
      last_line_ = file_.line_number();
      if (line == ChangeFile::Line::kBad) {
        Refuse(Json::object(), last_line_, file_.problem());
        continue;
      }
      AddRow();
      if (target_.rows->num_rows() < kChunkRows && target_.rows->num_bytes() < kChunkBytes)
        continue;
      VICINITY_RETURN_IF_ERROR(Flush());
    }
    return Flush();
  }

  void AddRow() {
    const absl::Status added = target_.rows->Add(file_.fields());
    if (added.ok()) {
      fields_.AddRow(file_.fields());
      lines_.push_back(file_.line_number());
      return;
    }
    Json row = Json::object();
    for (size_t i = 0; i < file_.names().size(); ++i) {
      row[file_.names()[i]] = std::string(file_.fields()[i]);
    }
    Refuse(std::move(row), file_.line_number(), std::string(added.message()));
  }

  void Refuse(Json row, int64_t line, const std::string& reason) {
    ++num_refused_;
    if (reasons_.size() < kNamedRows) {
      reasons_.push_back(absl::StrCat(flags_.file, ":", line, ": ", reason));
    }
    if (letters_.wanted()) letters_.Add(std::move(row), line, reason);
  }
  void RefuseWritten(int64_t row, const std::string& reason) {
    Refuse(RowOf(row), lines_[row], reason);
  }

  Json RowOf(int64_t row) const {
    Json object = Json::object();
    for (size_t i = 0; i < file_.names().size(); ++i) {
      object[file_.names()[i]] = std::string(fields_.field(row, static_cast<int64_t>(i)));
    }
    return object;
  }

  absl::Status Flush() {
    if (target_.rows->num_rows() == 0) return absl::OkStatus();
    const absl::StatusOr<GraphChanges> changes = FindRows();
    const absl::Status status = changes.ok() ? Write(*changes) : SendNothing(changes.status());
    lines_.clear();
    fields_.Clear(file_.names().size());
    return status;
  }

  // Ids are looked up for as long as what they name would be sent again.
  absl::StatusOr<GraphChanges> FindRows() {
    const absl::Time end = absl::Now() + absl::Seconds(flags_.give_up_seconds);
    while (true) {
      absl::StatusOr<GraphChanges> changes = target_.rows->Take();
      if (changes.ok() || !MayAnswerYet(changes.status()) || absl::Now() >= end) return changes;
      absl::SleepFor(kLookAgain);
    }
  }

  absl::Status SendNothing(const absl::Status& why) {
    Written nothing;
    for (size_t row = 0; row < lines_.size(); ++row) {
      nothing.unsent.push_back({ChangeKind::kNewNodes, 0, static_cast<int64_t>(row)});
    }
    return GivenUp(nothing, why);
  }

  absl::Status Write(const GraphChanges& changes) {
    Written written;
    const Error error = target_.writer->Write(changes, &written);
    for (const RefusedRow& refused : written.refused) {
      const std::string* const fault = target_.rows->FaultOf(refused.what.row);
      RefuseWritten(refused.what.row, fault != nullptr ? *fault : refused.why.message());
    }
    num_written_ += written.num_applied;
    for (const WrittenVersion& version : written.versions) {
      versions_[version.shard] = version.version;
    }
    progress_.Update(num_written_);
    if (error.ok()) return absl::OkStatus();
    if (error.code() != ErrorCode::kFailedPrecondition || !MayGoOver(written)) {
      return GivenUp(written, ToStatus(error));
    }
    return GoOver(written, ToStatus(error));
  }

  // Edges' own ids are others in another dataset.
  bool MayGoOver(const Written& written) const {
    const auto& names = file_.names();
    const bool has_edge_ids =
        flags_.subject.of_edges && flags_.subject.action != WriteAction::kAdd &&
        std::find(names.begin(), names.end(), flags_.subject.edge_id_field) != names.end();
    return written.unsure.empty() && !has_edge_ids && !flags_.graph.cluster.empty();
  }

  // Where another dataset has taken the place of the graph's (`vicinity swap`) the rows that are
  // not written go there, and all that follow.
  absl::Status GoOver(const Written& written, const absl::Status& why) {
    absl::StatusOr<std::unique_ptr<Graph>> next = OpenGraph(flags_.graph);
    if (!next.ok() || (*next)->fingerprint() == target_.graph->fingerprint()) {
      return GivenUp(written, why);
    }
    absl::StatusOr<Target> target = TargetOf(*std::move(next), flags_, file_.names());
    if (!target.ok()) return GivenUp(written, target.status());
    progress_.Note("another dataset has taken the graph's place: what follows is written there");
    target_ = *std::move(target);
    versions_.clear();
    KeepRows(written.unsent);
    const absl::StatusOr<GraphChanges> changes = FindRows();
    return changes.ok() ? Write(*changes) : SendNothing(changes.status());
  }

  // Of those that were read these alone, once more.
  void KeepRows(const std::vector<ChangedRow>& kept) {
    FieldTable fields;
    fields.Clear(file_.names().size());
    std::vector<int64_t> lines;
    std::vector<absl::string_view> row(file_.names().size());
    for (const ChangedRow& each : kept) {
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = fields_.field(each.row, static_cast<int64_t>(i));
      // It was one before, and makes sense still.
      if (!target_.rows->Add(row).ok()) continue;
      fields.AddRow(row);
      lines.push_back(lines_[each.row]);
    }
    fields_ = std::move(fields);
    lines_ = std::move(lines);
  }

  absl::Status GivenUp(const Written& written, const absl::Status& why) {
    for (const ChangedRow& row : written.unsure) {
      RefuseWritten(row.row, "may be written or not: no answer came");
    }
    for (const ChangedRow& row : written.unsent) RefuseWritten(row.row, "was not sent");
    std::string text = absl::StrCat(why.message(), "\n", num_written_, " rows are written; ");
    if (letters_.wanted()) {
      absl::StrAppend(&text, "those up to line ", last_line_, " that may not be are in ",
                      flags_.dead_letter);
    } else {
      absl::StrAppend(&text, "the first that may not be is in line ", FirstOpen(written),
                      " (--dead-letter FILE keeps all that may not be)");
    }
    absl::StrAppend(&text, ". Lines behind ", last_line_, " were not read: --from-line ",
                    last_line_ + 1, " goes on there");
    return absl::Status(why.code(), text);
  }

  int64_t FirstOpen(const Written& written) const {
    int64_t line = last_line_;
    for (const auto* rows : {&written.unsure, &written.unsent}) {
      if (!rows->empty()) line = std::min(line, lines_[rows->front().row]);
    }
    return line;
  }

  absl::Status Refused() const {
    std::string text = absl::StrCat(num_refused_, num_refused_ == 1 ? " row is" : " rows are",
                                    " refused, ", num_written_, " are written:");
    for (const std::string& reason : reasons_) absl::StrAppend(&text, "\n  ", reason);
    if (num_refused_ > static_cast<int64_t>(reasons_.size())) absl::StrAppend(&text, "\n  ...");
    absl::StrAppend(&text, "\nLines behind ", last_line_, " were not read: --from-line ",
                    last_line_ + 1,
                    " goes on there, and --dead-letter FILE keeps what is refused and goes on");
    return WithExitCode(absl::InvalidArgumentError(text), ExitCode::kBadData);
  }

  const Flags& flags_;
  ChangeFile& file_;
  Target target_;
  Progress& progress_;
  DeadLetters letters_;
  // Of the chunk that is being read:
  FieldTable fields_;
  std::vector<int64_t> lines_;
  int64_t last_line_ = 0;
  int64_t num_written_ = 0;
  int64_t num_refused_ = 0;
  std::vector<std::string> reasons_;
  std::map<int32_t, uint64_t> versions_;
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

absl::StatusOr<ChangeFile::Format> FormatOf(const Flags& flags, bool given) {
  if (given || flags.file == "-") return flags.file_format;
  const auto format = ChangeFile::FormatOf(flags.file);
  if (format.has_value()) return *format;
  return absl::InvalidArgumentError(absl::StrCat(
      flags.file, ": its name does not end in .csv, .tsv, .jsonl or .ndjson: give --file-format"));
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
  VICINITY_ASSIGN_OR_RETURN(const ChangeFile::Format format, FormatOf(flags, has_format));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  VICINITY_ASSIGN_OR_RETURN(flags.subject, SubjectOf(graph->schema(), flags));
  const Schema schema = graph->schema();
  auto file = ChangeFile::Open(flags.file, format);
  if (!file.ok()) return InData(file.status());
  auto target = TargetOf(std::move(graph), flags, (*file)->names());
  if (!target.ok()) return InData(At(flags.file, target.status()));
  const auto begin = std::chrono::steady_clock::now();
  FileWriting writing(flags, file->get(), *std::move(target), tool.progress);
  const absl::Status status = writing.Run();
  if (!status.ok()) return InData(status);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::string type = flags.subject.of_edges ? schema.EdgeTypeName(flags.subject.type)
                                                  : schema.node_types[flags.subject.type].name;
  Report(flags, type, writing, took.count(), out);
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
  auto* const format =
      app->add_option("--file-format", flags->file_format, "of FILE; of - csv")
          ->transform(Choices<ChangeFile::Format>({{"csv", ChangeFile::Format::kCsv},
                                                   {"tsv", ChangeFile::Format::kTsv},
                                                   {"jsonl", ChangeFile::Format::kJsonLines}}))
          ->type_name("csv|tsv|jsonl")
          ->default_str("by its name");
  AddFieldFlags(app, &flags->subject);
  app->add_option("--dead-letter", flags->dead_letter,
                  "a new file for rows that are refused, with reasons; default: the first ends it")
      ->type_name("FILE");
  app->add_option("--from-line", flags->from_line, "leave out rows of lines before")
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
