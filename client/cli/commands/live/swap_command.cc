#include "client/cli/commands/live/swap_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/backup/change_pull.h"
#include "client/backup/copied_shards.h"
#include "client/cli/commands/live/dataset_swap.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/flags/server_call.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "partition/fold/carried_changes.h"
#include "partition/fold/fold_source.h"
#include "proto/admin.grpc.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"
#include "proto/service.grpc.pb.h"

namespace vicinity::cli {
namespace {

// A server opens the files, and asks its disk.
constexpr absl::Duration kLongestStep = absl::Minutes(1);

struct Flags {
  ServersFlags servers;
  std::string data;
  std::string to;
  std::string at_servers;
  double settle_seconds = 60;
  bool abort = false;
  bool leave_readers_behind = false;
};

std::string FullPath(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path full = std::filesystem::absolute(path, failed).lexically_normal();
  return failed ? path : full.string();
}

// What was written to the old dataset, as changes of the next one: by a copy of the old one's
// changes that the fold was made of, in a folder beside the next one, for as long as this lives.
class ChangesOver {
 public:
  ChangesOver(const Flags& flags, std::vector<uint64_t> folded_at, Progress* progress)
      : flags_(flags),
        folder_(absl::StrCat(FullPath(flags.to), ".swap")),
        folded_at_(std::move(folded_at)),
        progress_(progress) {}
  ~ChangesOver() {
    if (copied_.live == nullptr) return;
    carried_.reset();
    source_.reset();
    copied_ = {};
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ChangesOver(const ChangesOver&) = delete;
  ChangesOver& operator=(const ChangesOver&) = delete;

  absl::Status Open() {
    GraphFlags graph;
    graph.cluster = flags_.servers.cluster;
    graph.timeout_seconds = flags_.servers.timeout_seconds;
    graph.credentials = flags_.servers.credentials;
    VICINITY_ASSIGN_OR_RETURN(graph_, OpenGraph(graph));
    Dataset::Options options;
    options.grows = true;
    options.verify_at_touch = true;
    VICINITY_ASSIGN_OR_RETURN(old_, Dataset::Open(flags_.data, options));
    VICINITY_ASSIGN_OR_RETURN(next_, Dataset::Open(flags_.to, options));
    VICINITY_RETURN_IF_ERROR(CheckIsOfServers(graph_->fingerprint(), *old_));
    VICINITY_ASSIGN_OR_RETURN(
        copied_, CopyShards(graph_->impl().router(), *old_, folded_at_, folder_, progress_));
    VICINITY_ASSIGN_OR_RETURN(FoldSource source, FoldSource::At(*old_, copied_.shards, folded_at_));
    source_ = std::make_unique<FoldSource>(std::move(source));
    VICINITY_ASSIGN_OR_RETURN(carried_, CarriedChanges::Prepare(*source_, *next_, progress_));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<proto::Change>> Read(ShardId shard, uint64_t after,
                                                  uint64_t count) const {
    std::vector<proto::Change> changes;
    const absl::Status pulled =
        PullChanges(graph_->impl().router(), shard, after, std::nullopt, after + count,
                    Reach::kPerhaps, [&](proto::Change change) -> absl::Status {
                      changes.push_back(std::move(change));
                      return absl::OkStatus();
                    });
    // Those behind the last one that enough servers have are not to be read yet.
    if (!pulled.ok() && !absl::IsDataLoss(pulled) && changes.empty()) return pulled;
    return changes;
  }

  absl::StatusOr<proto::Change> Translate(ShardId shard, proto::Change change) {
    return carried_->Carry(shard, std::move(change));
  }

 private:
  const Flags& flags_;
  const std::string folder_;
  const std::vector<uint64_t> folded_at_;
  Progress* const progress_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Dataset> old_;
  std::unique_ptr<Dataset> next_;
  CopiedShards copied_;
  std::unique_ptr<FoldSource> source_;
  std::unique_ptr<CarriedChanges> carried_;
};

// Where the servers are called, each at both of its addresses.
struct Targets {
  std::vector<ServerTarget> admin;
  std::vector<ServerTarget> data;
};

absl::StatusOr<Targets> FindTargets(const Flags& flags, const ClusterFile& cluster) {
  Targets targets;
  VICINITY_ASSIGN_OR_RETURN(targets.data, TargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> admins, AdminTargetsOf(flags.servers));
  for (const ClusterServer& server : cluster.servers) {
    const auto found =
        std::find_if(admins.begin(), admins.end(),
                     [&server](const ServerTarget& target) { return target.name == server.name; });
    if (found == admins.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat(cluster.path, ": server \"", server.name, "\" has no `admin` address"));
    }
    targets.admin.push_back(*found);
  }
  return targets;
}

absl::StatusOr<SwapOptions> OptionsOf(const Flags& flags, const ClusterFile& cluster) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest old, ReadManifest(flags.data));
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest next, ReadManifest(flags.to));
  if (next.folded_from().fingerprint() != old.fingerprint()) {
    return absl::FailedPreconditionError(absl::StrCat(flags.to, " is no fold of ", flags.data));
  }
  SwapOptions options;
  for (const ClusterServer& server : cluster.servers) {
    options.servers.push_back({server.name, server.shards});
  }
  const proto::FoldedFrom& folded = next.folded_from();
  options.folded_at.assign(folded.versions().begin(), folded.versions().end());
  options.folded_terms.assign(folded.terms().begin(), folded.terms().end());
  options.fingerprint = next.fingerprint();
  options.follows = old.fingerprint();
  options.data = flags.at_servers.empty() ? FullPath(flags.to) : flags.at_servers;
  options.settle = absl::Seconds(flags.settle_seconds);
  options.leave_readers_behind = flags.leave_readers_behind;
  return options;
}

SwapCalls CallsTo(const Targets& targets, ChangesOver* changes) {
  SwapCalls calls;
  calls.step = [&targets](size_t server, const proto::SwapRequest& request) {
    return CallServer<proto::Admin>(targets.admin[server], kLongestStep, &proto::Admin::Stub::Swap,
                                    request);
  };
  calls.carry = [&targets](size_t server, const proto::CarryRequest& request) {
    return CallServer<proto::Graph>(targets.data[server], kLongestStep, &proto::Graph::Stub::Carry,
                                    request);
  };
  calls.read = [changes](ShardId shard, uint64_t after, uint64_t count) {
    return changes->Read(shard, after, count);
  };
  calls.translate = [changes](ShardId shard, proto::Change change) {
    return changes->Translate(shard, std::move(change));
  };
  calls.begin = [changes] { return changes->Open(); };
  return calls;
}

void Print(const SwapOptions& options, const SwapReport& report, OutputFormat format,
           std::ostream& out) {
  const double seconds = absl::ToDoubleSeconds(report.writers_waited);
  if (format == OutputFormat::kJson) {
    PrintJson({{"fingerprint", absl::StrCat(absl::Hex(options.fingerprint, absl::kZeroPad16))},
               {"was_done", report.was_done},
               {"carried", report.carried},
               {"writers_waited_seconds", seconds}},
              out);
    return;
  }
  if (report.was_done) {
    out << options.data << " is in force on all servers already\n";
    return;
  }
  uint64_t carried = 0;
  for (const uint64_t each : report.carried) carried += each;
  out << options.data << " is in force on " << options.servers.size() << " servers; "
      << HumanCount(static_cast<int64_t>(carried))
      << " changes were carried over, and writers waited for " << absl::StrFormat("%.2f", seconds)
      << " s\n"
      << "Next: put it as `data` in the cluster file; clients who open the graph anew have it\n";
}

absl::Status RunSwap(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  if (flags.servers.cluster.empty()) {
    return absl::InvalidArgumentError("--cluster is needed: it says which servers there are");
  }
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile cluster, ReadClusterFile(flags.servers.cluster));
  VICINITY_ASSIGN_OR_RETURN(const SwapOptions options, OptionsOf(flags, cluster));
  VICINITY_ASSIGN_OR_RETURN(const Targets targets, FindTargets(flags, cluster));
  ChangesOver changes(flags, options.folded_at, tool.progress);
  const SwapCalls calls = CallsTo(targets, &changes);
  if (flags.abort) {
    VICINITY_RETURN_IF_ERROR(AbortSwap(options, calls));
    out << flags.data << " stays in force, and takes changes\n";
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(const SwapReport report, SwapDatasets(options, calls, tool.progress));
  Print(options, report, flags.servers.format, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclareSwap(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--data", flags->data, "the dataset that is served")
      ->type_name("DIR")
      ->required();
  app->add_option("--to", flags->to, "what `vicinity fold --cluster` made of it")
      ->type_name("DIR")
      ->required();
  app->add_option("--at-servers", flags->at_servers,
                  "where servers have it, if that is another folder than --to")
      ->type_name("DIR");
  app->add_option("--settle", flags->settle_seconds,
                  "seconds for the servers of a shard to have the same changes")
      ->check(CLI::Range(0.0, 86400.0));
  app->add_flag("--leave-readers-behind", flags->leave_readers_behind,
                "also if readers of changes have not acknowledged all that was folded");
  app->add_flag("--abort", flags->abort, "let the next dataset go, where it is not in force yet");
  AddServersFlags(app, &flags->servers);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunSwap(*flags, tool, out); };
}

}  // namespace vicinity::cli
