#include "client/cli/commands.h"

#include "client/cli/verify_command.h"

namespace vicinity::cli {
namespace {

constexpr Command kCommands[] = {
    kVerifyCommand,
};

}  // namespace

absl::Span<const Command> AllCommands() { return kCommands; }

}  // namespace vicinity::cli
