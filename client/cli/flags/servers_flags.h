// Flags of the commands that ask servers one by one: which, for how long, and how to show it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/output/output.h"
#include "client/rpc/credentials.h"
#include "client/types/credential_options.h"

namespace CLI {
class App;
}

namespace vicinity::cli {

struct ServersFlags {
  std::string cluster;
  std::string context;  // instead: one of the user's
  std::vector<std::string> addresses;
  double timeout_seconds = 5;
  OutputFormat format = OutputFormat::kTable;
  CredentialOptions credentials;

  absl::Duration timeout() const { return absl::Seconds(timeout_seconds); }
};

// Declares `--cluster FILE`, `--context NAME`, `--server ADDRESS` (one or more), `--timeout
// SECONDS`, `--format` and those of AddCredentialFlags.
void AddServersFlags(CLI::App* app, ServersFlags* flags);

// With the cluster file, and the credentials, that ChooseCluster() finds where no addresses are
// given; `cluster` is empty if it finds none. Errors as it says.
absl::StatusOr<ServersFlags> WithCluster(ServersFlags flags);

// A server to ask.
struct ServerTarget {
  std::string name;     // in the cluster file; else its address
  std::string address;  // host:port
  std::shared_ptr<const ClientCredentials> credentials = nullptr;  // of all targets; null: none
};

// InvalidArgument for a wrong timeout, neither or both of cluster and servers, a wrong address, or
// a server of the cluster file whose address nobody can know; what ReadClusterFile says of the
// file, and ClientCredentials::Load of the credentials.
absl::StatusOr<std::vector<ServerTarget>> TargetsOf(const ServersFlags& flags);

// The same for the admin addresses of the cluster file. FailedPrecondition if no server has one.
absl::StatusOr<std::vector<ServerTarget>> AdminTargetsOf(const ServersFlags& flags);

// Those of `names`, in that order; without names all. NotFound for a name that none of them has.
absl::StatusOr<std::vector<ServerTarget>> ChooseTargets(std::vector<ServerTarget> targets,
                                                        const std::vector<std::string>& names);

// What a table says of a server whose answer is this error: "no answer" if none came, "refused" if
// it lets others, or nobody unknown, ask that, else "failed".
const char* AbsenceOf(const absl::Status& error);

// What a command ends with that got these answers: OK if all are. Else an error that names who gave
// none and why, marked kDegraded if others did, kDenied if all refused us, else kNotConnected.
absl::Status OutcomeOf(const std::vector<ServerTarget>& targets,
                       const std::vector<absl::Status>& answers);

}  // namespace vicinity::cli
