#include "client/cli/flags/graph_flags.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/contexts.h"
#include "client/cli/flags/credential_flags.h"
#include "proto/common/status.h"
#include "proto/common/utf8.h"

namespace vicinity::cli {
namespace {

std::string TypeNames(const Schema& schema) {
  const auto name = [](std::string* out, const NodeTypeSpec& type) {
    absl::StrAppend(out, type.name);
  };
  return absl::StrJoin(schema.node_types, ", ", name);
}

absl::StatusOr<std::vector<int64_t>> ResolveIntegers(const Graph& graph, int32_t node_type,
                                                     const std::vector<std::string>& ids) {
  std::vector<int64_t> numbers(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!absl::SimpleAtoi(ids[i], &numbers[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", ids[i], "\" is not an id: those of type \"",
                       graph.schema().node_types[node_type].name, "\" are integers"));
    }
  }
  Result<std::vector<int64_t>> nodes = graph.Resolve(node_type, numbers);
  if (!nodes.ok()) return ToStatus(nodes.error());
  return *std::move(nodes);
}

absl::StatusOr<std::vector<int64_t>> ResolveStrings(const Graph& graph, int32_t node_type,
                                                    const std::vector<std::string>& ids) {
  Result<std::vector<int64_t>> nodes = graph.Resolve(node_type, ids);
  if (!nodes.ok()) return ToStatus(nodes.error());
  return *std::move(nodes);
}

}  // namespace

void AddGraphFlags(CLI::App* app, GraphFlags* flags) {
  auto* cluster = app->add_option("--cluster", flags->cluster, "the cluster file");
  cluster->type_name("FILE");
  auto* context = app->add_option("--context", flags->context, "instead: that of a context")
                      ->type_name("NAME")
                      ->excludes(cluster);
  app->add_option("--data", flags->data, "instead: a dataset directory, without any server")
      ->type_name("DIR")
      ->excludes(cluster)
      ->excludes(context);
  app->add_option("--timeout", flags->timeout_seconds, "seconds to wait for a server")
      ->capture_default_str();
  AddFormatFlag(app, &flags->format);
  AddCredentialFlags(app, &flags->credentials);
}

absl::StatusOr<std::unique_ptr<Graph>> OpenGraph(const GraphFlags& flags, Transport transport) {
  ChosenCluster chosen{"", flags.credentials};
  if (flags.data.empty()) {
    VICINITY_ASSIGN_OR_RETURN(chosen,
                              ChooseCluster(flags.cluster, flags.context, flags.credentials));
  }
  if (chosen.file.empty() && flags.data.empty()) {
    return absl::InvalidArgumentError(
        "which graph? One of --cluster, --context and --data is needed, or VICINITY_CLUSTER in the "
        "environment, or a context in use (`vicinity context`)");
  }
  if (!(flags.timeout_seconds > 0 && flags.timeout_seconds <= 3600)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout is ", flags.timeout_seconds, ", should be from 0 to 3600 seconds"));
  }
  GraphOptions options;
  options.cluster_file = chosen.file;
  options.directory = flags.data;
  options.connect_timeout = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(flags.timeout_seconds));
  options.call_timeout = options.connect_timeout;
  options.call_budget = options.connect_timeout;  // retries included
  options.channels_per_server = 1;
  options.transport = transport;
  options.credentials = chosen.credentials;
  Result<std::unique_ptr<Graph>> graph = Graph::Open(options);
  if (graph.ok()) return *std::move(graph);
  const absl::Status status = ToStatus(graph.error());
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(absl::StrCat(
      status.message(), "\n(a server of every shard is needed, whatever is asked for; `",
      "vicinity shards --cluster ", chosen.file, "` shows which are there)"));
}

absl::Status ToStatus(const Error& error) {
  return absl::Status(static_cast<absl::StatusCode>(error.code()), error.message());
}

absl::StatusOr<int32_t> FindNodeTypeFlag(const Schema& schema, const std::string& name) {
  if (name.empty()) {
    if (schema.node_types.size() == 1) return 0;
    return absl::InvalidArgumentError(absl::StrCat("--type is needed, one of ", TypeNames(schema)));
  }
  const int found = schema.FindNodeType(name);
  if (found >= 0) return found;
  return absl::NotFoundError(
      absl::StrCat("no node type \"", name, "\", there are ", TypeNames(schema)));
}

absl::StatusOr<std::vector<int64_t>> ResolveTyped(const Graph& graph, int32_t node_type,
                                                  const std::vector<std::string>& ids) {
  constexpr size_t kMostNamed = 10;
  const bool strings = graph.schema().node_types[node_type].id_kind == IdKind::kString;
  VICINITY_ASSIGN_OR_RETURN(
      std::vector<int64_t> nodes,
      strings ? ResolveStrings(graph, node_type, ids) : ResolveIntegers(graph, node_type, ids));
  std::vector<std::string> unknown;
  for (size_t i = 0; i < ids.size() && unknown.size() < kMostNamed; ++i) {
    if (nodes[i] < 0) unknown.push_back(ids[i]);
  }
  if (unknown.empty()) return nodes;
  return absl::NotFoundError(absl::StrCat("no node of type \"",
                                          graph.schema().node_types[node_type].name,
                                          "\" has the id ", absl::StrJoin(unknown, ", ")));
}

absl::StatusOr<std::vector<nlohmann::ordered_json>> UserIdsOf(const Graph& graph, int32_t node_type,
                                                              const std::vector<int64_t>& nodes) {
  if (graph.schema().node_types[node_type].id_kind == IdKind::kString) {
    Result<std::vector<std::string>> names = graph.UserNames(node_type, nodes);
    if (!names.ok()) return ToStatus(names.error());
    std::vector<nlohmann::ordered_json> texts;
    for (const std::string& name : *names) {
      // JSON holds UTF-8 alone. Datasets of earlier imports have names that are not, and two of
      // them must not look the same.
      texts.emplace_back(IsUtf8(name) ? name : EscapedText(name));
    }
    return texts;
  }
  Result<std::vector<int64_t>> ids = graph.UserIds(node_type, nodes);
  if (!ids.ok()) return ToStatus(ids.error());
  return std::vector<nlohmann::ordered_json>(ids->begin(), ids->end());
}

std::string IdAsText(const nlohmann::ordered_json& id) {
  return id.is_string() ? EscapedText(id.get<std::string>()) : id.dump();
}

}  // namespace vicinity::cli
