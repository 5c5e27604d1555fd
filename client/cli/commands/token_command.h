// `vicinity token`: a new token, and its grant.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareToken(CLI::App* app);

inline constexpr Command kTokenCommand = {
    "token", "make a token for a role, and add its hash to an access file",
    "vicinity token --name trainer --role read --access-file access.textproto --token-file "
    "t.token\n"
    "vicinity token list --access-file access.textproto\n"
    "vicinity token revoke trainer --access-file access.textproto",
    &DeclareToken};

}  // namespace vicinity::cli
