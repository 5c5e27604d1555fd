#include "client/cli/commands/token_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output/choices.h"
#include "client/planning/available_resources.h"
#include "proto/access.pb.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/file.h"
#include "proto/common/folder_lock.h"
#include "proto/common/status.h"
#include "proto/security/guarded_file.h"
#include "proto/security/token.h"

namespace vicinity::cli {
namespace {

struct TokenFlags {
  std::string name;
  proto::Role role = proto::READ;
  std::string access_file;
  std::string token_file;  // empty: print it
};

// Names go into logs and between quotes.
absl::Status CheckName(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '@';
  });
  if (!name.empty() && name.size() <= 100 && plain) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--name \"", absl::CHexEscape(name.substr(0, 100)),
                   "\" should be 1 to 100 letters, digits, '-', '_', '.' and '@'"));
}

// The file's text as it is, which may be none yet.
absl::StatusOr<std::string> ReadExisting(const TokenFlags& flags) {
  const absl::StatusOr<std::string> text = ReadTrustedFile(flags.access_file);
  if (absl::IsNotFound(text.status())) return std::string();
  if (!text.ok()) return text.status();
  proto::Access stored;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(flags.access_file, *text, &stored));
  for (const proto::Grant& grant : stored.grants()) {
    if (grant.name() != flags.name) continue;
    return absl::AlreadyExistsError(absl::StrCat(flags.access_file, ": there is a grant \"",
                                                 flags.name, "\": remove it, or choose a name"));
  }
  return *text;
}

absl::Status RunToken(const TokenFlags& flags, std::ostream& narration, std::ostream& out) {
  VICINITY_RETURN_IF_ERROR(CheckName(flags.name));
  // The file is read and written anew: of two who did so at once, one would lose its grant.
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(ParentOf(flags.access_file)));
  VICINITY_ASSIGN_OR_RETURN(std::string text, ReadExisting(flags));
  VICINITY_ASSIGN_OR_RETURN(const std::string token, MakeToken());
  if (!text.empty() && text.back() != '\n') text += '\n';
  absl::StrAppend(&text, "grants { name: \"", flags.name, "\" role: ", proto::Role_Name(flags.role),
                  " token_sha256: \"", absl::BytesToHexString(HashToken(token)), "\" }\n");
  if (!flags.token_file.empty()) {
    VICINITY_RETURN_IF_ERROR(WriteSecretFile(flags.token_file, token + "\n", IfThere::kFail));
  }
  const absl::Status granted = WriteFileAtomically(flags.access_file, text);
  if (!granted.ok()) {
    if (!flags.token_file.empty()) unlink(flags.token_file.c_str());
    return granted;
  }
  narration << "granted " << proto::Role_Name(flags.role) << " to " << flags.name << " in "
            << flags.access_file
            << "; servers that run know it after SIGHUP or `vicinity admin reload`\n";
  if (flags.token_file.empty()) out << token << '\n';
  return absl::OkStatus();
}

}  // namespace

Action DeclareToken(CLI::App* app) {
  const auto flags = std::make_shared<TokenFlags>();
  const std::map<std::string, proto::Role> roles = {
      {"read", proto::READ}, {"write", proto::WRITE}, {"admin", proto::ADMIN}};
  app->add_option("--name", flags->name, "whose: for logs, unique in the access file")->required();
  app->add_option("--role", flags->role, "read, write or admin")
      ->type_name("ROLE")
      ->transform(Choices(roles))
      ->default_str("read");
  app->add_option("--access-file", flags->access_file, "the servers' access file; made if new")
      ->type_name("FILE")
      ->required();
  app->add_option("--token-file", flags->token_file,
                  "write the token there, for its owner alone; without it, print it once")
      ->type_name("FILE");
  return [flags](const ToolContext& tool, std::ostream& out) {
    return RunToken(*flags, *tool.narration, out);
  };
}

}  // namespace vicinity::cli
