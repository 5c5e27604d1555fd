#include "client/cli/flags/contexts.h"

#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/cluster/text_proto.h"
#include "proto/command_line/nearest_word.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void FillIn(const std::string& of_context, std::string* value) {
  if (value->empty()) *value = of_context;
}

ChosenCluster Of(const proto::Context& context, CredentialOptions credentials) {
  FillIn(context.ca(), &credentials.ca);
  FillIn(context.certificate(), &credentials.certificate);
  FillIn(context.key(), &credentials.key);
  FillIn(context.token_file(), &credentials.token_file);
  return {context.cluster(), std::move(credentials)};
}

absl::StatusOr<ChosenCluster> OfContext(const std::string& name, const CredentialOptions& given) {
  VICINITY_ASSIGN_OR_RETURN(const proto::Contexts contexts, ReadContexts());
  const std::string& chosen = name.empty() ? contexts.current() : name;
  if (chosen.empty()) return ChosenCluster{"", given};
  const proto::Context* const context = FindContext(contexts, chosen);
  if (context == nullptr) return NoSuchContext(contexts, chosen);
  return Of(*context, given);
}

}  // namespace

absl::StatusOr<std::string> ContextsPath() {
  std::string folder = Environment("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = Environment("HOME");
    if (home.empty()) {
      return absl::NotFoundError("contexts need a place: neither XDG_CONFIG_HOME nor HOME is set");
    }
    folder = absl::StrCat(home, "/.config");
  }
  return absl::StrCat(folder, "/vicinity/contexts.textproto");
}

absl::StatusOr<proto::Contexts> ReadContexts() {
  proto::Contexts contexts;
  const absl::StatusOr<std::string> path = ContextsPath();
  if (!path.ok()) return contexts;
  const absl::StatusOr<std::string> text = ReadFile(*path, /*limit_bytes=*/1 << 20);
  if (absl::IsNotFound(text.status())) return contexts;
  VICINITY_RETURN_IF_ERROR(text.status());
  VICINITY_RETURN_IF_ERROR(ParseTextProto(*path, *text, &contexts));
  return contexts;
}

absl::Status WriteContexts(const proto::Contexts& contexts) {
  VICINITY_ASSIGN_OR_RETURN(const std::string path, ContextsPath());
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return ErrnoStatus(error.value(), path, "make its folder");
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(contexts, &text)) {
    return absl::InternalError(absl::StrCat(path, ": contexts do not become text"));
  }
  return WriteFileAtomically(path, text);
}

const proto::Context* FindContext(const proto::Contexts& contexts, const std::string& name) {
  for (const proto::Context& context : contexts.contexts()) {
    if (context.name() == name) return &context;
  }
  return nullptr;
}

absl::Status NoSuchContext(const proto::Contexts& contexts, const std::string& name) {
  std::vector<std::string> names;
  for (const proto::Context& context : contexts.contexts()) names.push_back(context.name());
  const std::string known =
      names.empty() ? std::string("; `vicinity context set NAME --cluster FILE` makes one")
                    : absl::StrCat("; there are ", absl::StrJoin(names, ", "));
  return absl::NotFoundError(
      absl::StrCat("there is no context ", name, DidYouMean(name, names), known));
}

absl::StatusOr<ChosenCluster> ChooseCluster(const std::string& cluster, const std::string& context,
                                            const CredentialOptions& given) {
  if (!cluster.empty()) return ChosenCluster{cluster, given};
  if (!context.empty()) return OfContext(context, given);
  const std::string of_environment = Environment("VICINITY_CLUSTER");
  if (!of_environment.empty()) return ChosenCluster{of_environment, given};
  return OfContext("", given);
}

}  // namespace vicinity::cli
