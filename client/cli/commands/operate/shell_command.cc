#include "client/cli/commands/operate/shell_command.h"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "partition/cut/child_process.h"
#include "proto/common/file.h"

namespace vicinity::cli {

std::string ShellQuoted(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':' || c == '@';
  });
  if (plain && !word.empty()) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

absl::Status RunShellCommand(const std::string& command, absl::Duration limit) {
  std::error_code error;
  std::string folder = (std::filesystem::temp_directory_path(error) / "vicinity.XXXXXX").string();
  if (error || mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, folder, "mkdtemp");
  ChildOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", command};
  options.log_path = folder + "/output";
  options.time_limit = limit;
  const absl::Status status = RunChild(options).status();
  std::filesystem::remove_all(folder, error);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("`", command, "`: ", status.message()));
}

}  // namespace vicinity::cli
