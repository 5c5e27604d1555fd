// What a command of the tool is: a name, a help text, flags and a function.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/cli/output/confirmation.h"
#include "proto/common/progress.h"

namespace CLI {
class App;
}

namespace vicinity::cli {

// What a command may use of the process that it runs in. It writes its data to the stream it is
// given and everything else here: it never prints elsewhere and never exits, so tests can run it.
struct ToolContext {
  std::ostream* narration = nullptr;  // for people; standard error in the tool
  Progress* progress = nullptr;
  std::string program;  // path of this binary, for work that is done in a child process
  Asker ask;            // a person at the terminal; null: there is none
};

// A command with its flags parsed. InvalidArgument means misuse; exit_code.h maps the others.
using Action = std::function<absl::Status(const ToolContext& tool, std::ostream& out)>;

struct Command {
  const char* name;
  const char* summary;  // one line, no full stop: the list in `vicinity help`
  const char*
      example;  // whole command lines, one a line: what `vicinity help <command>` opens with
  // Declares the flags on `app`. The action owns the values that they are parsed into.
  Action (*declare)(CLI::App* app);
  bool hidden = false;  // not in the list: for the tool's own child processes
};

}  // namespace vicinity::cli
