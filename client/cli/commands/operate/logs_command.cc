#include "client/cli/commands/operate/logs_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/operate/log_follower.h"
#include "client/cli/flags/admin_probe.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "proto/admin.pb.h"
#include "proto/command_line/choices.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;
using Answers = std::vector<absl::StatusOr<proto::LogsReply>>;

struct Flags {
  ServersFlags servers;
  std::vector<std::string> names;
  uint32_t last = 100;
  std::string level;
  bool follow = false;
  double interval_seconds = 1;
  int64_t count = 0;  // of lines that are followed; 0: until interrupted
};

std::string TimeText(int64_t time_us) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S", absl::FromUnixMicros(time_us),
                          absl::UTCTimeZone());
}

struct ShownLine {
  const std::string* server;
  uint64_t run = 0;
  const proto::LogLine* line;
  int64_t not_before = 0;  // the latest time of its server's lines so far
};

// By time. Lines of one server, which come one after the other here, stay in their order: two of
// its threads may have looked at the clock in another one.
void SortByTime(std::vector<ShownLine>* lines) {
  const std::string* server = nullptr;
  int64_t latest = 0;
  for (ShownLine& each : *lines) {
    const int64_t time = each.line->time_us();
    latest = each.server == server ? std::max(latest, time) : time;
    server = each.server;
    each.not_before = latest;
  }
  std::stable_sort(lines->begin(), lines->end(), [](const ShownLine& a, const ShownLine& b) {
    return a.not_before < b.not_before;
  });
}

int WidthOf(const std::vector<ServerTarget>& targets) {
  size_t width = 0;
  for (const ServerTarget& target : targets) width = std::max(width, target.name.size());
  return static_cast<int>(width);
}

void PrintLine(const ShownLine& shown, int width, std::ostream& out) {
  const proto::LogLine& line = *shown.line;
  out << absl::StreamFormat("%s %-*s %-7s %s\n", TimeText(line.time_us()), width, *shown.server,
                            line.level(), line.text());
}

void PrintText(const std::vector<ServerTarget>& targets, const Answers& answers,
               std::ostream& out) {
  std::vector<ShownLine> lines;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!answers[i].ok()) continue;
    for (const proto::LogLine& line : answers[i]->lines()) {
      lines.push_back({&targets[i].name, answers[i]->run(), &line});
    }
  }
  SortByTime(&lines);
  for (const ShownLine& line : lines) PrintLine(line, WidthOf(targets), out);
}

Json JsonOf(const proto::LogLine& line) {
  Json json = {{"time_us", line.time_us()}, {"level", line.level()}, {"text", line.text()}};
  if (line.number() != 0) json["number"] = line.number();
  return json;
}

// One line for each, as they come.
void PrintLineAsJson(const ShownLine& shown, std::ostream& out) {
  Json json = {{"server", *shown.server}, {"run", absl::StrFormat("%016x", shown.run)}};
  json.update(JsonOf(*shown.line));
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void PrintAsJson(const std::vector<ServerTarget>& targets, const Answers& answers,
                 std::ostream& out) {
  Json servers = Json::array();
  for (size_t i = 0; i < targets.size(); ++i) {
    Json json = {{"name", targets[i].name}, {"answered", answers[i].ok()}};
    if (!answers[i].ok()) {
      json["error"] = std::string(answers[i].status().message());
    } else {
      json["forgotten"] = answers[i]->forgotten();
      json["lines"] = Json::array();
      for (const proto::LogLine& line : answers[i]->lines()) json["lines"].push_back(JsonOf(line));
    }
    servers.push_back(std::move(json));
  }
  PrintJson({{"servers", servers}}, out);
}

absl::Status ShowLast(const Flags& flags, const std::vector<ServerTarget>& targets,
                      const ToolContext& tool, std::ostream& out) {
  proto::LogsRequest request;
  request.set_last(flags.last);
  request.set_level(flags.level);
  const Answers answers = AskAll(targets, flags.servers.timeout(),
                                 [&request](const ServerTarget& server, absl::Duration timeout) {
                                   return AskLogs(server, timeout, request);
                                 });
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < targets.size(); ++i) {
    statuses.push_back(answers[i].status());
    if (!answers[i].ok() || answers[i]->forgotten() == 0) continue;
    if (flags.last != 0 && answers[i]->lines_size() >= static_cast<int64_t>(flags.last)) continue;
    *tool.narration << targets[i].name << ": the first " << answers[i]->forgotten()
                    << " lines since its start are no longer in its memory\n";
  }
  if (flags.servers.format == OutputFormat::kJson) {
    PrintAsJson(targets, answers, out);
  } else {
    PrintText(targets, answers, out);
  }
  return OutcomeOf(targets, statuses);
}

// A server whose log is read on. Each has a thread, so that one which does not answer holds up no
// lines of the others.
struct Followed {
  const ServerTarget* target;
  LogFollower follower;
};

class Following {
 public:
  Following(const Flags& flags, const std::vector<ServerTarget>& targets, const ToolContext& tool,
            std::ostream& out)
      : flags_(flags), targets_(targets), width_(WidthOf(targets)), tool_(tool), out_(out) {
    for (const ServerTarget& target : targets_) {
      const auto ask = [this, &target](const proto::LogsRequest& request) {
        return AskLogs(target, flags_.servers.timeout(), request);
      };
      servers_.push_back({&target, LogFollower(ask, flags_.last, flags_.level)});
    }
  }

  // Until there are enough lines, or nobody takes them. What all refuse is what it ends with.
  absl::Status Run() {
    VICINITY_RETURN_IF_ERROR(ShowWhatThereIs());
    std::vector<std::thread> threads;
    absl::Status status;
    for (Followed& server : servers_) {
      absl::StatusOr<std::thread> thread = StartThread([this, &server] { Follow(&server); });
      if (!thread.ok()) {
        status = thread.status();
        End();
        break;
      }
      threads.push_back(*std::move(thread));
    }
    for (std::thread& thread : threads) thread.join();
    return status;
  }

 private:
  // The first answers, together, so that the lines of all are in the order of their times.
  absl::Status ShowWhatThereIs() {
    const auto first = [this](const ServerTarget& target, absl::Duration) {
      return absl::StatusOr<LogFollower::News>(servers_[&target - targets_.data()].follower.Next());
    };
    const auto answers = AskAll(targets_, flags_.servers.timeout(), first);
    std::vector<absl::Status> statuses;
    for (const Followed& server : servers_) statuses.push_back(server.follower.status());
    const absl::Status outcome = OutcomeOf(targets_, statuses);
    if (ExitCodeOf(outcome) == ExitCode::kDenied) return outcome;  // no waiting helps
    std::vector<ShownLine> lines;
    const MutexLock lock(&mu_);
    for (size_t i = 0; i < targets_.size(); ++i) {
      for (const proto::LogLine& line : answers[i]->lines) {
        lines.push_back({&targets_[i].name, answers[i]->run, &line});
      }
      PrintNotes(targets_[i], answers[i]->notes);
    }
    SortByTime(&lines);
    PrintLines(lines);
    return absl::OkStatus();
  }

  void Follow(Followed* server) {
    while (WaitForNextLook()) {
      const LogFollower::News news = server->follower.Next();
      std::vector<ShownLine> lines;
      for (const proto::LogLine& line : news.lines) {
        lines.push_back({&server->target->name, news.run, &line});
      }
      const MutexLock lock(&mu_);
      if (over_) return;
      PrintNotes(*server->target, news.notes);
      PrintLines(lines);
    }
  }

  // False: there is none.
  bool WaitForNextLook() {
    const absl::Time next = absl::Now() + absl::Seconds(flags_.interval_seconds);
    const MutexLock lock(&mu_);
    while (!over_) {
      const absl::Duration left = next - absl::Now();
      if (left <= absl::ZeroDuration()) return true;
      ended_.WaitFor(&mu_, absl::ToChronoNanoseconds(left));
    }
    return false;
  }

  void End() {
    const MutexLock lock(&mu_);
    over_ = true;
    ended_.NotifyAll();
  }

  void PrintNotes(const ServerTarget& target, const std::vector<std::string>& notes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (const std::string& note : notes) {
      *tool_.narration << target.name << " (" << target.address << "): " << note << std::endl;
    }
  }

  void PrintLines(const std::vector<ShownLine>& lines) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (const ShownLine& line : lines) {
      if (over_) return;
      if (flags_.servers.format == OutputFormat::kJson) {
        PrintLineAsJson(line, out_);
      } else {
        PrintLine(line, width_, out_);
      }
      ++num_lines_;
      over_ = flags_.count > 0 && num_lines_ >= flags_.count;
    }
    if (!lines.empty()) out_.flush();
    over_ = over_ || !out_;
    if (over_) ended_.NotifyAll();
  }

  const Flags& flags_;
  const std::vector<ServerTarget>& targets_;
  const int width_;
  const ToolContext& tool_;
  std::ostream& out_;              // by who holds mu_
  std::vector<Followed> servers_;  // in the order of targets_; each by one thread
  Mutex mu_;
  CondVar ended_;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  int64_t num_lines_ ABSL_GUARDED_BY(mu_) = 0;
};

absl::Status RunLogs(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<ServerTarget> all, AdminTargetsOf(flags.servers));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets,
                            ChooseTargets(std::move(all), flags.names));
  if (flags.follow) return Following(flags, targets, tool, out).Run();
  return ShowLast(flags, targets, tool, out);
}

}  // namespace

Action DeclareLogs(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--name", flags->names, "of these servers of the cluster file (all)")
      ->delimiter(',')
      ->type_name("NAME,...");
  app->add_option("--last", flags->last, "lines of each server; 0: all that it remembers");
  app->add_option("--level", flags->level, "this level and above: debug, info, warning, error")
      ->check(OneOf({"debug", "info", "warning", "error"}));
  CLI::Option* const follow =
      app->add_flag("--follow", flags->follow, "then new lines as they come");
  app->add_option("--interval", flags->interval_seconds, "seconds between looks")
      ->capture_default_str()
      ->check(InRange(0.05, 3600.0))
      ->needs(follow);
  app->add_option("--count", flags->count, "end after so many lines (0: until interrupted)")
      ->capture_default_str()
      ->check(InRange(int64_t{0}, int64_t{1} << 40))
      ->needs(follow);
  AddServersFlags(app, &flags->servers);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunLogs(*flags, tool, out); };
}

}  // namespace vicinity::cli
