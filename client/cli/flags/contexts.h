// Which cluster a command means: the flag, the environment, or one of the user's contexts.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/types/credential_options.h"
#include "proto/contexts.pb.h"

namespace vicinity::cli {

// `vicinity/contexts.textproto` in $XDG_CONFIG_HOME, or in ~/.config. NotFound if the environment
// has neither XDG_CONFIG_HOME nor HOME.
absl::StatusOr<std::string> ContextsPath();

// None if there is no such file, or no place for one. InvalidArgument with file, line and column.
absl::StatusOr<proto::Contexts> ReadContexts();

// Makes the folder if it is not there. Of two who write at once one wins whole.
absl::Status WriteContexts(const proto::Contexts& contexts);

// Null if there is none of that name.
const proto::Context* FindContext(const proto::Contexts& contexts, const std::string& name);

// "there is no context NAME; did you mean ...?", with those that there are.
absl::Status NoSuchContext(const proto::Contexts& contexts, const std::string& name);

struct ChosenCluster {
  std::string file;  // the cluster file; empty: none was chosen
  CredentialOptions credentials;
};

// The first of these that is there:
//   1. `cluster`              (--cluster)
//   2. the context `context`  (--context)
//   3. VICINITY_CLUSTER
//   4. the context in use     (vicinity context use)
// A context's files of credentials fill those of `given` that are empty. NotFound for a context
// that does not exist; as ReadContexts() for their file.
absl::StatusOr<ChosenCluster> ChooseCluster(const std::string& cluster, const std::string& context,
                                            const CredentialOptions& given);

}  // namespace vicinity::cli
