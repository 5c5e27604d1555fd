#include "client/cli/commands/live/promote_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/commands/live/hand_over.h"
#include "client/cli/commands/live/promotion.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/flags/shards_flag.h"
#include "client/cli/output/confirmation.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  ServersFlags servers;
  std::vector<int32_t> shards;
  std::string from;
  std::string to;
  bool force = false;
  bool dry_run = false;
  bool yes = false;
  double catch_up_seconds = 60;
};

absl::Status CheckFlags(const Flags& flags, const ClusterFile& cluster) {
  if (flags.shards.empty() && flags.from.empty()) {
    return absl::InvalidArgumentError("say which shards: --from SERVER, or --shards");
  }
  for (const std::string& name : {flags.from, flags.to}) {
    if (name.empty() || cluster.FindServer(name) != nullptr) continue;
    return absl::NotFoundError(absl::StrCat(cluster.path, ": no server \"", name, "\""));
  }
  if (!flags.from.empty() && flags.from == flags.to) {
    return absl::InvalidArgumentError("--from and --to are the same server");
  }
  for (const int32_t shard : flags.shards) {
    const size_t servers = cluster.ServersOf(ShardId{shard}).size();
    if (servers > 1) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        cluster.path, ": ", servers == 0 ? "no" : "only one", " server has shard ", shard));
  }
  return absl::OkStatus();
}

// Those that are named; else all that `from` has with others.
std::vector<ShardId> ShardsOf(const Flags& flags, const ClusterFile& cluster) {
  if (flags.shards.empty()) return SharedShards(cluster, flags.from);
  std::vector<ShardId> shards;
  for (const int32_t shard : flags.shards) shards.push_back(ShardId{shard});
  return shards;
}

PromotionOptions OptionsOf(const Flags& flags) {
  PromotionOptions options;
  options.from = flags.from;
  options.to = flags.to;
  options.force = flags.force;
  options.dry_run = flags.dry_run;
  options.catch_up = absl::Seconds(flags.catch_up_seconds);
  return options;
}

void Print(const std::vector<ShardPromotion>& rows, const Flags& flags, std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"SHARD", kRight},
               {"WAS"},
               {"WRITER"},
               {"TERM", kRight},
               {"VERSION", kRight},
               {"NOT REACHED"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [shard, promotion] : rows) {
    const std::string was = promotion.before.writer.empty() ? "nobody" : promotion.before.writer;
    table.AddRow({absl::StrCat(shard.value), was, promotion.after.writer,
                  flags.dry_run ? "-" : absl::StrCat(promotion.after.term),
                  HumanCount(static_cast<int64_t>(promotion.position.version)),
                  absl::StrJoin(promotion.unreached, ", ")});
    list.push_back({{"shard", shard.value},
                    {"was", promotion.before.writer},
                    {"writer", promotion.after.writer},
                    {"term", promotion.after.term},
                    {"version", promotion.position.version},
                    {"unreached", promotion.unreached}});
  }
  if (flags.servers.format == OutputFormat::kJson) {
    PrintJson({{"promoted", !flags.dry_run}, {"shards", list}}, out);
  } else if (rows.empty()) {
    out << "nothing to do: server \"" << flags.from << "\" writes no shard that others have\n";
  } else {
    table.Print(out);
  }
}

std::string Question(const Flags& flags) {
  return absl::StrCat(
      flags.from.empty() ? absl::StrCat("Give shards ", absl::StrJoin(flags.shards, ", "))
                         : absl::StrCat("Give all that ", flags.from, " writes"),
      " to another writer",
      flags.force ? ", even if that loses what was acknowledged as replicated?" : "?");
}

absl::Status RunPromote(Flags flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(flags.servers, WithCluster(std::move(flags.servers)));
  if (flags.servers.cluster.empty()) {
    return absl::InvalidArgumentError("--cluster is needed: it says which servers have a shard");
  }
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile cluster, ReadClusterFile(flags.servers.cluster));
  VICINITY_RETURN_IF_ERROR(CheckFlags(flags, cluster));
  if (!flags.dry_run) {
    VICINITY_RETURN_IF_ERROR(Confirmed(flags.yes, tool.ask, IfNobody::kGoOn, Question(flags)));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, AdminTargetsOf(flags.servers));
  AppointCalls calls(targets, flags.servers.timeout());
  const PromotedShards promoted =
      PromoteShards(cluster, ShardsOf(flags, cluster), OptionsOf(flags), &calls);
  if (promoted.failed.ok() || !promoted.done.empty()) Print(promoted.done, flags, out);
  if (promoted.failed.ok() || promoted.done.empty()) return promoted.failed;
  return WithExitCode(promoted.failed, ExitCode::kDegraded);
}

}  // namespace

Action DeclarePromote(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--from", flags->from, "all that this server writes, which may be gone");
  AddShardsFlag(app, &flags->shards, "these alone");
  app->add_option("--to", flags->to, "the next writer (the server that has most)");
  app->add_flag("--force", flags->force, "also if too few servers answer: REPLICATED may be lost");
  app->add_flag("--dry-run", flags->dry_run, "only say who would write");
  app->add_flag("--yes", flags->yes, "do not ask, on a terminal");
  app->add_option("--catch-up", flags->catch_up_seconds,
                  "seconds for the next writer to get what it lacks")
      ->check(InRange(0.0, 86400.0));
  AddServersFlags(app, &flags->servers);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunPromote(*flags, tool, out); };
}

}  // namespace vicinity::cli
