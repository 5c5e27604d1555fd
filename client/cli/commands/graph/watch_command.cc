#include "client/cli/commands/graph/watch_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/changes.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "partition/schema/schema.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kAtOnce = 16;  // batches of a shard in memory: up to a MiB each

struct Flags {
  GraphFlags graph;
  std::optional<uint64_t> from;
  std::string cursor;  // empty: none
  int64_t count = 0;
  bool once = false;
  double interval_seconds = 1;
};

bool IsOfNodes(ChangeKind kind) {
  return kind == ChangeKind::kNewNodes || kind == ChangeKind::kNodeValues ||
         kind == ChangeKind::kRemovedNodes;
}

const char* WordOf(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kNewNodes:
    case ChangeKind::kNewEdges:
      return "add";
    case ChangeKind::kNodeValues:
    case ChangeKind::kEdgeValues:
      return "update";
    default:
      return "remove";
  }
}

std::string TypeOf(const Schema& schema, const ChangeCount& count) {
  return IsOfNodes(count.kind) ? schema.node_types[count.type].name
                               : schema.EdgeTypeName(count.type);
}

std::string TimeOf(const ShardChange& change) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMicros(change.unix_micros),
                          absl::UTCTimeZone());
}

void PrintAsJson(const Schema& schema, const ShardChange& change, std::ostream& out) {
  Json changes = Json::array();
  for (const ChangeCount& count : change.counts) {
    Json each = {{"action", WordOf(count.kind)},
                 {IsOfNodes(count.kind) ? "nodes" : "edges", TypeOf(schema, count)}};
    if (!count.column.empty()) each["column"] = count.column;
    each["count"] = count.count;
    changes.push_back(std::move(each));
  }
  const Json line = {{"shard", change.shard},
                     {"version", change.version},
                     {"term", change.term},
                     {"time", TimeOf(change)},
                     {"writer", absl::BytesToHexString(change.session)},
                     {"changes", std::move(changes)}};
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void PrintAsText(const Schema& schema, const ShardChange& change, std::ostream& out) {
  out << TimeOf(change) << "  shard " << change.shard << "  version " << change.version << ' ';
  for (size_t i = 0; i < change.counts.size(); ++i) {
    const ChangeCount& count = change.counts[i];
    out << (i == 0 ? " " : ", ") << WordOf(count.kind) << ' ' << HumanCount(count.count) << ' '
        << TypeOf(schema, count);
    if (!count.column.empty()) out << " (" << count.column << ')';
  }
  out << '\n';
}

// Of each shard what the cursor has acknowledged; of one that is not known nothing.
absl::StatusOr<std::vector<VersionName>> BeginOf(const Graph& graph, const std::string& cursor) {
  const auto cursors = ReadCursors(graph);
  if (!cursors.ok()) return ToStatus(cursors.error());
  std::vector<VersionName> shown(graph.num_shards(), VersionName(0, 0));
  for (const ShardCursor& each : *cursors) {
    if (each.name == cursor) shown[each.shard] = VersionName(each.version, each.term);
  }
  return shown;
}

// Of each shard the last version that has been shown.
absl::StatusOr<std::vector<VersionName>> BeginOf(const Graph& graph, const Flags& flags) {
  if (!flags.cursor.empty()) return BeginOf(graph, flags.cursor);
  const auto shards = ReadShardStates(graph);
  if (!shards.ok()) return ToStatus(shards.error());
  std::vector<VersionName> shown;
  for (const ShardState& shard : *shards) {
    shown.emplace_back(shard.version, shard.term);
    if (flags.from.value_or(shard.version) < shard.version) shown.back() = *flags.from;
  }
  return shown;
}

class Watching {
 public:
  Watching(const Graph& graph, const Flags& flags, std::ostream& out)
      : graph_(graph), flags_(flags), out_(out) {}

  absl::Status Run() {
    VICINITY_ASSIGN_OR_RETURN(shown_, BeginOf(graph_, flags_));
    while (!IsOver()) {
      VICINITY_ASSIGN_OR_RETURN(const bool any, Look());
      if (any || IsOver()) continue;
      if (flags_.once) break;
      absl::SleepFor(absl::Seconds(flags_.interval_seconds));
    }
    return absl::OkStatus();
  }

 private:
  bool IsOver() const { return !out_ || (flags_.count > 0 && num_lines_ >= flags_.count); }

  // Some of what is new in each shard; whether there was anything.
  absl::StatusOr<bool> Look() {
    bool any = false;
    for (size_t shard = 0; shard < shown_.size() && !IsOver(); ++shard) {
      const VersionName before = shown_[shard];
      const int64_t left = flags_.count > 0 ? flags_.count - num_lines_ : kAtOnce;
      const auto changes =
          ReadChanges(graph_, static_cast<int32_t>(shard), shown_[shard], std::min(left, kAtOnce));
      if (!changes.ok()) return ToStatus(changes.error());
      for (const ShardChange& change : *changes) {
        const bool as_json = flags_.graph.format == OutputFormat::kJson;
        (as_json ? PrintAsJson : PrintAsText)(graph_.schema(), change, out_);
        shown_[shard] = VersionName(change.version, change.term);
        ++num_lines_;
        any = true;
      }
      out_.flush();
      if (shown_[shard] != before) VICINITY_RETURN_IF_ERROR(Acknowledge(shard));
    }
    return any;
  }

  // What has been written out; lines that nobody took will come again.
  absl::Status Acknowledge(size_t shard) {
    if (flags_.cursor.empty() || !out_) return absl::OkStatus();
    const Error error =
        AcknowledgeChanges(graph_, static_cast<int32_t>(shard), flags_.cursor, shown_[shard]);
    return error.ok() ? absl::OkStatus() : ToStatus(error);
  }

  const Graph& graph_;
  const Flags& flags_;
  std::ostream& out_;
  std::vector<VersionName> shown_;
  int64_t num_lines_ = 0;
};

absl::Status RunWatch(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  return Watching(*graph, flags, out).Run();
}

std::string CheckCursorName(const std::string& name) {
  if (!name.empty() && name.size() <= 64) return "";
  return "a cursor's name has 1 to 64 bytes";
}

}  // namespace

Action DeclareWatch(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  CLI::Option* const from =
      app->add_option("--from", flags->from,
                      "begin behind this version of each shard; default: with what comes")
          ->type_name("VERSION");
  app->add_option(
         "--cursor", flags->cursor,
         "begin behind what was shown under this name before; a new one: with all there is")
      ->type_name("NAME")
      ->check(CheckCursorName)
      ->excludes(from);
  app->add_option("--count", flags->count, "lines to show (0: until interrupted)")
      ->capture_default_str()
      ->check(InRange(int64_t{0}, int64_t{1} << 40));
  app->add_flag("--once", flags->once, "what there is now, and no more");
  app->add_option("--interval", flags->interval_seconds, "seconds between looks")
      ->capture_default_str()
      ->check(InRange(0.05, 3600.0));
  return [flags](const ToolContext&, std::ostream& out) { return RunWatch(*flags, out); };
}

}  // namespace vicinity::cli
