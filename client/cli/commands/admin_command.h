// `vicinity admin`: drain, log-level, verify, reload.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareAdmin(CLI::App* app);

inline constexpr Command kAdminCommand = {
    "admin", "drain servers, set their log level, have files verified, credentials read again",
    "vicinity admin drain --cluster cluster.textproto --name a\n"
    "vicinity admin log-level debug --cluster cluster.textproto\n"
    "vicinity admin verify --cluster cluster.textproto --timeout 3600\n"
    "vicinity admin reload --server 127.0.0.1:7600",
    &DeclareAdmin};

}  // namespace vicinity::cli
