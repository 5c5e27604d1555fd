// What the tool's exit codes mean (docs/cli.md), and which status gives which.
#pragma once

#include "absl/status/status.h"

namespace vicinity::cli {

enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,         // unknown command or flag, a value that no flag takes
  kNotFound = 3,      // no such file, dataset, node, column
  kNotConnected = 4,  // a server did not answer, or not in time
  kDegraded = 5,      // the answer is there, but part of the cluster is not
  kDenied = 6,
  kPrecondition = 7,  // the output exists already, another dataset or version than expected
  kBadData = 65,      // input that cannot be imported, a file that fails its checksum
};

// The code that a command's status ends the tool with: the one it was marked with, else by its
// absl code (InvalidArgument: kUsage, DataLoss: kBadData, Unavailable: kNotConnected, ...).
ExitCode ExitCodeOf(const absl::Status& status);

// The same status, marked: what is InvalidArgument to a reader of files is kBadData to the tool.
// OK stays unmarked.
absl::Status WithExitCode(absl::Status status, ExitCode code);

}  // namespace vicinity::cli
