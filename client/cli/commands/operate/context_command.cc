#include "client/cli/commands/operate/context_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/flags/contexts.h"
#include "client/cli/flags/credential_flags.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string name;
  std::string cluster;
  CredentialOptions credentials;
  OutputFormat format = OutputFormat::kTable;
};

std::string Absolute(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

absl::Status CheckName(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (plain && !name.empty() && name.size() <= 100 && name[0] != '-') return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a context's name should be 1 to 100 letters, digits, '-', '_' and '.', not \"", name, "\""));
}

absl::Status RunList(const Flags& flags, const ToolContext&, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Contexts contexts, ReadContexts());
  Table table({{"IN USE"}, {"NAME"}, {"CLUSTER"}, {"CA"}, {"CERTIFICATE"}, {"TOKEN FILE"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const proto::Context& context : contexts.contexts()) {
    table.AddRow({context.name() == contexts.current() ? "*" : "", context.name(),
                  context.cluster(), context.ca(), context.certificate(), context.token_file()});
    list.push_back({{"name", context.name()},
                    {"cluster", context.cluster()},
                    {"ca", context.ca()},
                    {"certificate", context.certificate()},
                    {"key", context.key()},
                    {"token_file", context.token_file()}});
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson({{"current", contexts.current()}, {"contexts", list}}, out);
  } else if (list.empty()) {
    out << "no contexts; `vicinity context set NAME --cluster FILE` makes one\n";
  } else {
    table.Print(out);
  }
  return absl::OkStatus();
}

// The first context is in use at once: nobody makes one to have none.
absl::Status RunSet(const Flags& flags, const ToolContext& tool, std::ostream&) {
  VICINITY_RETURN_IF_ERROR(CheckName(flags.name));
  VICINITY_RETURN_IF_ERROR(ReadClusterFile(flags.cluster).status());
  VICINITY_ASSIGN_OR_RETURN(proto::Contexts contexts, ReadContexts());
  auto* const list = contexts.mutable_contexts();
  const auto found = std::find_if(list->begin(), list->end(), [&flags](const auto& context) {
    return context.name() == flags.name;
  });
  proto::Context* const context = found == list->end() ? list->Add() : &*found;
  context->set_name(flags.name);
  context->set_cluster(Absolute(flags.cluster));
  context->set_ca(Absolute(flags.credentials.ca));
  context->set_certificate(Absolute(flags.credentials.certificate));
  context->set_key(Absolute(flags.credentials.key));
  context->set_token_file(Absolute(flags.credentials.token_file));
  if (contexts.contexts_size() == 1) contexts.set_current(flags.name);
  VICINITY_RETURN_IF_ERROR(WriteContexts(contexts));
  *tool.narration << "context " << flags.name << " is of " << context->cluster()
                  << (contexts.current() == flags.name ? ", and in use\n" : "\n");
  return absl::OkStatus();
}

absl::Status RunUse(const Flags& flags, const ToolContext& tool, std::ostream&) {
  VICINITY_ASSIGN_OR_RETURN(proto::Contexts contexts, ReadContexts());
  const proto::Context* const context = FindContext(contexts, flags.name);
  if (context == nullptr) return NoSuchContext(contexts, flags.name);
  contexts.set_current(flags.name);
  VICINITY_RETURN_IF_ERROR(WriteContexts(contexts));
  *tool.narration << "context " << flags.name << " is in use: " << context->cluster() << '\n';
  return absl::OkStatus();
}

absl::Status RunRemove(const Flags& flags, const ToolContext&, std::ostream&) {
  VICINITY_ASSIGN_OR_RETURN(proto::Contexts contexts, ReadContexts());
  if (FindContext(contexts, flags.name) == nullptr) return NoSuchContext(contexts, flags.name);
  auto* const list = contexts.mutable_contexts();
  list->erase(
      std::remove_if(list->begin(), list->end(),
                     [&flags](const auto& context) { return context.name() == flags.name; }),
      list->end());
  if (contexts.current() == flags.name) contexts.clear_current();
  return WriteContexts(contexts);
}

}  // namespace

Action DeclareContext(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  const auto action = std::make_shared<Action>();
  const auto declare = [&](const char* name, const char* text, auto* run) {
    CLI::App* const sub = app->add_subcommand(name, text);
    sub->callback([flags, action, run] {
      *action = [flags, run](const ToolContext& tool, std::ostream& out) {
        return run(*flags, tool, out);
      };
    });
    return sub;
  };
  app->require_subcommand(1);
  AddFormatFlag(declare("list", "all there are", &RunList), &flags->format);
  CLI::App* const set = declare("set", "make a context, or change it whole", &RunSet);
  set->add_option("NAME", flags->name, "of the context")->required();
  set->add_option("--cluster", flags->cluster, "its cluster file")->type_name("FILE")->required();
  AddCredentialFlags(set, &flags->credentials);
  declare("use", "the one that commands mean without --cluster", &RunUse)
      ->add_option("NAME", flags->name, "of the context")
      ->required();
  declare("remove", "forget it; the cluster is not touched", &RunRemove)
      ->add_option("NAME", flags->name, "of the context")
      ->required();
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli
