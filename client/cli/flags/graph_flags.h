// Flags of the commands that look into a graph, and the user's ids on their way in and out.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "client/types/credential_options.h"
#include "client/types/graph_values.h"
#include "client/types/result.h"
#include "partition/schema/schema.h"

namespace CLI {
class App;
}

namespace vicinity::cli {

struct GraphFlags {
  std::string cluster;
  std::string context;  // instead: one of the user's
  std::string data;
  double timeout_seconds = 5;
  OutputFormat format = OutputFormat::kTable;
  CredentialOptions credentials;
};

// Declares `--cluster FILE`, `--context NAME`, `--data DIR`, `--timeout SECONDS`, `--format` and
// those of AddCredentialFlags.
void AddGraphFlags(CLI::App* app, GraphFlags* flags);

// Of the cluster that ChooseCluster() finds, if there is no `data`. InvalidArgument for neither or
// a wrong timeout, else what that and Graph::Open say.
//
// By gRPC unless told otherwise: who asks little gains nothing by connections of the bulk channel.
absl::StatusOr<std::unique_ptr<Graph>> OpenGraph(const GraphFlags& flags,
                                                 Transport transport = Transport::kGrpc);

// The client library's error as a status: same code, same text.
absl::Status ToStatus(const Error& error);

// The type named, or the only one there is if `name` is empty. NotFound or InvalidArgument with the
// names there are.
absl::StatusOr<int32_t> FindNodeTypeFlag(const Schema& schema, const std::string& name);

// Global ids of user ids as they were typed. InvalidArgument for what is no integer where ids are
// integers; NotFound with up to ten ids that the graph does not have.
absl::StatusOr<std::vector<int64_t>> ResolveTyped(const Graph& graph, int32_t node_type,
                                                  const std::vector<std::string>& ids);

// The user's ids of nodes: numbers, or strings, with escapes where the bytes are not UTF-8.
absl::StatusOr<std::vector<nlohmann::ordered_json>> UserIdsOf(const Graph& graph, int32_t node_type,
                                                              const std::vector<int64_t>& nodes);

// An id as people see it: strings without quotes, control characters with escapes.
std::string IdAsText(const nlohmann::ordered_json& id);

}  // namespace vicinity::cli
