#include "client/cli/commands/token_command.h"

#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output/confirmation.h"
#include "client/cli/output/output.h"
#include "client/planning/available_resources.h"
#include "proto/access.pb.h"
#include "proto/cluster/text_proto.h"
#include "proto/command_line/choices.h"
#include "proto/command_line/nearest_word.h"
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
  bool dry_run = false;
  bool yes = false;
  OutputFormat format = OutputFormat::kTable;
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

// Grants by certificate, too: they are in the same file, and who asks who may do what means all.
absl::Status RunList(const TokenFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadTrustedFile(flags.access_file));
  proto::Access stored;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(flags.access_file, text, &stored));
  Table table({{"NAME"}, {"ROLE"}, {"BY"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const proto::Grant& grant : stored.grants()) {
    const std::string role = absl::AsciiStrToLower(proto::Role_Name(grant.role()));
    const bool by_token = grant.certificate().empty();
    table.AddRow({grant.name(), role,
                  by_token ? "token" : absl::StrCat("certificate of ", grant.certificate())});
    list.push_back({{"name", grant.name()},
                    {"role", role},
                    {"by", by_token ? "token" : "certificate"},
                    {"certificate", grant.certificate()}});
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson({{"grants", list}}, out);
  } else {
    table.Print(out);
  }
  return absl::OkStatus();
}

// Where `text` has its `line`th line, and a column of it, both from 0.
size_t OffsetOf(const std::string& text, int line, int column) {
  size_t offset = 0;
  for (; line > 0; --line) offset = text.find('\n', offset) + 1;
  return offset + column;
}

// The text without one grant: comments and the order of the others are the user's and stay.
absl::StatusOr<std::string> WithoutGrant(const TokenFlags& flags, const std::string& text) {
  using google::protobuf::TextFormat;
  proto::Access stored;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(flags.access_file, text, &stored));
  std::vector<std::string> names;
  for (const proto::Grant& grant : stored.grants()) names.push_back(grant.name());
  const auto found = std::find(names.begin(), names.end(), flags.name);
  if (found == names.end()) {
    return absl::NotFoundError(absl::StrCat(flags.access_file, ": there is no grant \"", flags.name,
                                            "\"", DidYouMean(flags.name, names)));
  }
  TextFormat::ParseInfoTree places;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&places);
  proto::Access again;
  if (!parser.ParseFromString(text, &again)) return absl::InternalError("access file changed");
  const auto place = places.GetLocationRange(proto::Access::descriptor()->FindFieldByName("grants"),
                                             static_cast<int>(found - names.begin()));
  const size_t begin = OffsetOf(text, place.start.line, place.start.column);
  size_t end = OffsetOf(text, place.end.line, place.end.column);
  if (end < text.size() && text[end] == '\n') ++end;
  return absl::StrCat(text.substr(0, begin), text.substr(end));
}

absl::Status RunRevoke(const TokenFlags& flags, const ToolContext& tool) {
  std::ostream& narration = *tool.narration;
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(ParentOf(flags.access_file)));
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadTrustedFile(flags.access_file));
  VICINITY_ASSIGN_OR_RETURN(const std::string rest, WithoutGrant(flags, text));
  proto::Access before;
  proto::Access after;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(flags.access_file, text, &before));
  VICINITY_RETURN_IF_ERROR(ParseTextProto(flags.access_file, rest, &after));
  if (after.grants_size() + 1 != before.grants_size()) {
    return absl::InternalError(
        absl::StrCat(flags.access_file, ": its grants cannot be told apart, remove it by hand"));
  }
  if (flags.dry_run) {
    narration << "would remove the grant " << flags.name << " from " << flags.access_file << '\n';
    return absl::OkStatus();
  }
  VICINITY_RETURN_IF_ERROR(
      Confirmed(flags.yes, tool.ask, IfNobody::kGoOn,
                absl::StrCat("Remove the grant ", flags.name, " from ", flags.access_file, "?")));
  VICINITY_RETURN_IF_ERROR(WriteFileAtomically(flags.access_file, rest));
  narration << "removed the grant " << flags.name << " from " << flags.access_file
            << "; servers that run refuse it after SIGHUP or `vicinity admin reload`\n";
  return absl::OkStatus();
}

void AddFile(CLI::App* app, TokenFlags* flags) {
  app->add_option("--access-file", flags->access_file, "the servers' access file")
      ->type_name("FILE")
      ->required();
}

}  // namespace

Action DeclareToken(CLI::App* app) {
  const auto flags = std::make_shared<TokenFlags>();
  const std::map<std::string, proto::Role> roles = {
      {"read", proto::READ}, {"write", proto::WRITE}, {"admin", proto::ADMIN}};
  // Neither is `required()`: with a verb they belong to that.
  app->add_option("--name", flags->name, "whose: for logs, unique in the access file");
  app->add_option("--role", flags->role, "read, write or admin")
      ->type_name("read|write|admin")
      ->transform(Choices(roles))
      ->default_str("read");
  app->add_option("--access-file", flags->access_file, "the servers' access file; made if new")
      ->type_name("FILE");
  app->add_option("--token-file", flags->token_file,
                  "write the token there, for its owner alone; without it, print it once")
      ->type_name("FILE");
  const auto action =
      std::make_shared<Action>([flags](const ToolContext& tool, std::ostream& out) -> absl::Status {
        if (flags->access_file.empty()) {
          return absl::InvalidArgumentError("--access-file is required");
        }
        return RunToken(*flags, *tool.narration, out);
      });
  CLI::App* const list = app->add_subcommand("list", "who may do what");
  AddFile(list, flags.get());
  AddFormatFlag(list, &flags->format);
  list->callback([flags, action] {
    *action = [flags](const ToolContext&, std::ostream& out) { return RunList(*flags, out); };
  });
  CLI::App* const revoke = app->add_subcommand("revoke", "take a grant back");
  revoke->add_option("NAME", flags->name, "whose")->required();
  AddFile(revoke, flags.get());
  revoke->add_flag("--dry-run", flags->dry_run, "change nothing");
  revoke->add_flag("--yes", flags->yes, "do not ask, on a terminal");
  revoke->callback([flags, action] {
    *action = [flags](const ToolContext& tool, std::ostream&) { return RunRevoke(*flags, tool); };
  });
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli
