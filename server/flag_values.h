// Flag by flag what a server runs with, and who said so: what the admin RPC Config answers.
#pragma once

#include <string>
#include <vector>

#include "proto/admin.pb.h"

namespace CLI {
class App;
}

namespace vicinity {

// A value that the cluster file gives to a flag that the command line leaves open.
struct FileValue {
  std::string flag;   // with its dashes
  std::string value;  // empty: none
};

// Of all options that `app` has parsed, but `--help` and `--version`, in the order of its help.
// `of_file` go before defaults, and the command line before them. Of what OpenTelemetry's variables
// say, where the command line says nothing, the source is the environment. User names and passwords
// in URLs are left out, and queries behind them.
std::vector<proto::FlagValue> ValuesOf(const CLI::App& app, const std::vector<FileValue>& of_file);

}  // namespace vicinity
