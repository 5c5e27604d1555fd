#include "client/cli/commands/certificate_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/certificate_folder.h"
#include "client/cli/output/output.h"
#include "proto/cluster/cluster_file.h"
#include "proto/command_line/choices.h"
#include "proto/common/status.h"
#include "proto/security/certificates.h"

namespace vicinity::cli {
namespace {

struct CertificateFlags {
  std::string folder = "certificates";
  std::string authority = "vicinity CA";
  std::vector<std::string> names;
  std::vector<std::string> addresses;
  std::string cluster;
  int ca_days = 3650;
  int days = 90;
  bool all = false;
  OutputFormat format = OutputFormat::kTable;
};
using Do = std::function<absl::Status(const ToolContext&, std::ostream&)>;

absl::Duration Days(int days) { return absl::Hours(24) * days; }

absl::Status MakeAuthority(const CertificateFlags& flags, std::ostream& narration) {
  VICINITY_ASSIGN_OR_RETURN(
      const auto folder,
      CertificateFolder::Create(flags.folder, flags.authority, Days(flags.ca_days)));
  narration << "made a CA in " << flags.folder << ", good until "
            << DateText(folder->authority_expires())
            << "\n  ca.pem goes to all servers and clients, revoked.pem to the servers; ca.key "
               "signs certificates and stays here, where nobody else reads it\nnext: `vicinity "
               "certificate server HOST`, `vicinity certificate client NAME`\n";
  return absl::OkStatus();
}

void TellMade(const CertificateFolder& folder, const std::string& name, const char* what,
              std::ostream& narration) {
  const proto::IssuedCertificate& made = *folder.Youngest(name);
  narration << what << ' ' << folder.File(name) << ": key and certificate of the "
            << (made.kind() == proto::SERVER ? "server " : "client ") << name;
  if (made.addresses_size() > 0) narration << " (" << absl::StrJoin(made.addresses(), ", ") << ")";
  narration << ", until " << made.expires() << '\n';
}

// What clients may dial a server by when nothing is said.
std::vector<std::string> AddressesOf(const std::string& name) {
  if (name == "localhost") return {"localhost", "127.0.0.1", "::1"};
  return {name};
}

absl::StatusOr<std::vector<CertificateFolder::Wish>> ServersOf(const std::string& cluster) {
  VICINITY_ASSIGN_OR_RETURN(const ClusterFile file, ReadClusterFile(cluster));
  std::vector<CertificateFolder::Wish> wishes;
  for (const ClusterServer& server : file.servers) {
    CertificateFolder::Wish wish{server.name, proto::SERVER, {}, {}};
    if (!server.advertise.empty()) {
      VICINITY_ASSIGN_OR_RETURN(const HostPort dialled, ParseHostPort(server.advertise));
      wish.addresses = {dialled.host};
    }
    const std::string& own = server.listen.host;
    if (!server.listen.wildcard() && own != absl::StrJoin(wish.addresses, "")) {
      wish.addresses.push_back(own);
    }
    wishes.push_back(std::move(wish));
  }
  return wishes;
}

absl::StatusOr<std::vector<CertificateFolder::Wish>> WishedServers(const CertificateFlags& flags) {
  if (!flags.cluster.empty()) return ServersOf(flags.cluster);
  if (!flags.addresses.empty() && flags.names.size() > 1) {
    return absl::InvalidArgumentError("--address is of one server: name one at a time");
  }
  std::vector<CertificateFolder::Wish> wishes;
  for (const std::string& name : flags.names) {
    wishes.push_back(
        {name, proto::SERVER, flags.addresses.empty() ? AddressesOf(name) : flags.addresses, {}});
  }
  return wishes;
}

absl::Status IssueAll(const CertificateFlags& flags, std::vector<CertificateFolder::Wish> wishes,
                      std::ostream& narration) {
  VICINITY_ASSIGN_OR_RETURN(const auto folder, CertificateFolder::Open(flags.folder));
  for (CertificateFolder::Wish& wish : wishes) {
    wish.life = Days(flags.days);
    VICINITY_RETURN_IF_ERROR(folder->Issue(wish));
    TellMade(*folder, wish.name, "made", narration);
  }
  return absl::OkStatus();
}

absl::Status IssueServers(const CertificateFlags& flags, std::ostream& narration) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<CertificateFolder::Wish> wishes, WishedServers(flags));
  if (wishes.empty()) return absl::InvalidArgumentError("say which server: NAME, or --cluster");
  return IssueAll(flags, std::move(wishes), narration);
}

absl::Status IssueClients(const CertificateFlags& flags, std::ostream& narration) {
  std::vector<CertificateFolder::Wish> wishes;
  for (const std::string& name : flags.names) wishes.push_back({name, proto::CLIENT, {}, {}});
  return IssueAll(flags, std::move(wishes), narration);
}

absl::Status Renew(const CertificateFlags& flags, std::ostream& narration) {
  if (flags.names.empty() != flags.all) {
    return absl::InvalidArgumentError("say which: names, or --all that are not revoked");
  }
  VICINITY_ASSIGN_OR_RETURN(const auto folder, CertificateFolder::Open(flags.folder));
  for (const std::string& name : flags.all ? folder->CurrentNames() : flags.names) {
    VICINITY_RETURN_IF_ERROR(folder->Renew(name, Days(flags.days)));
    TellMade(*folder, name, "renewed", narration);
  }
  narration << "put each where its owner reads it: servers and clients that run take it within "
               "seconds, the ones before are good until they end\n";
  return absl::OkStatus();
}

absl::Status Revoke(const CertificateFlags& flags, std::ostream& narration) {
  VICINITY_ASSIGN_OR_RETURN(const auto folder, CertificateFolder::Open(flags.folder));
  for (const std::string& name : flags.names) {
    VICINITY_RETURN_IF_ERROR(folder->Revoke(name));
    narration << "revoked all certificates of " << name << '\n';
  }
  narration << "put " << folder->File("revoked")
            << " where the servers read it (`revoked` in the cluster file, --tls-revoked): they "
               "take it within seconds\n";
  return absl::OkStatus();
}

// "good", "replaced", "expired" or "revoked".
std::string StateOf(const CertificateFolder& folder, const proto::IssuedCertificate& certificate) {
  if (!certificate.revoked().empty()) return "revoked";
  const absl::StatusOr<absl::Time> expires = ParseMoment(certificate.expires());
  if (expires.ok() && *expires < absl::Now()) return "expired";
  return folder.Youngest(certificate.name()) == &certificate ? "good" : "replaced";
}

absl::Status List(const CertificateFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const auto folder, CertificateFolder::Open(flags.folder));
  Table table({{"NAME"}, {"KIND"}, {"STATE"}, {"UNTIL"}, {"ADDRESSES"}, {"SERIAL"}});
  nlohmann::ordered_json certificates = nlohmann::ordered_json::array();
  for (const proto::IssuedCertificate& entry : folder->issued().certificates()) {
    const std::string kind = entry.kind() == proto::SERVER ? "server" : "client";
    const std::string state = StateOf(*folder, entry);
    table.AddRow({entry.name(), kind, state, entry.expires(),
                  absl::StrJoin(entry.addresses(), ", "), entry.serial()});
    certificates.push_back({{"name", entry.name()},
                            {"kind", kind},
                            {"state", state},
                            {"addresses", std::vector<std::string>(entry.addresses().begin(),
                                                                   entry.addresses().end())},
                            {"serial", entry.serial()},
                            {"issued", entry.issued()},
                            {"expires", entry.expires()},
                            {"revoked", entry.revoked()}});
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson({{"ca_expires", absl::ToUnixSeconds(folder->authority_expires())},
               {"certificates", certificates}},
              out);
    return absl::OkStatus();
  }
  table.Print(out);
  out << "The CA is good until " << DateText(folder->authority_expires()) << ".\n";
  return absl::OkStatus();
}

CLI::App* AddSubcommand(CLI::App* app, const char* name, const char* text,
                        CertificateFlags* flags) {
  CLI::App* const sub = app->add_subcommand(name, text);
  sub->add_option("--folder", flags->folder, "the CA's files")->capture_default_str();
  return sub;
}

void AddDays(CLI::App* sub, int* days) {
  sub->add_option("--days", *days, "how long it is good")
      ->check(InRange(1, 36500))
      ->capture_default_str();
}

void AddNames(CLI::App* sub, bool required, CertificateFlags* flags) {
  sub->add_option("NAME", flags->names, "letters, digits, '-', '_' and '.'")->required(required);
}

}  // namespace

Action DeclareCertificate(CLI::App* app) {
  const auto flags = std::make_shared<CertificateFlags>();
  const auto action = std::make_shared<Do>();
  const auto narrated = [flags,
                         action](absl::Status (*run)(const CertificateFlags&, std::ostream&)) {
    return [flags, action, run] {
      *action = [flags, run](const ToolContext& tool, std::ostream&) {
        return run(*flags, *tool.narration);
      };
    };
  };
  app->require_subcommand(1);
  CLI::App* const ca = AddSubcommand(app, "ca", "make a CA, once for a cluster", flags.get());
  ca->add_option("--name", flags->authority, "what it is called")->capture_default_str();
  AddDays(ca, &flags->ca_days);
  ca->callback(narrated(&MakeAuthority));
  CLI::App* const server = AddSubcommand(app, "server", "issue to servers", flags.get());
  AddNames(server, false, flags.get());
  server->add_option("--address", flags->addresses, "what clients dial, if not NAME")
      ->delimiter(',');
  server->add_option("--cluster", flags->cluster, "all servers of a cluster file, instead of NAME");
  AddDays(server, &flags->days);
  server->callback(narrated(&IssueServers));
  CLI::App* const client = AddSubcommand(app, "client", "issue to clients", flags.get());
  AddNames(client, true, flags.get());
  AddDays(client, &flags->days);
  client->callback(narrated(&IssueClients));
  CLI::App* const renew = AddSubcommand(app, "renew", "issue the next to the same", flags.get());
  AddNames(renew, false, flags.get());
  renew->add_flag("--all", flags->all, "all that are not revoked");
  AddDays(renew, &flags->days);
  renew->callback(narrated(&Renew));
  CLI::App* const revoke = AddSubcommand(app, "revoke", "take back what was issued", flags.get());
  AddNames(revoke, true, flags.get());
  revoke->callback(narrated(&Revoke));
  CLI::App* const list = AddSubcommand(app, "list", "who has what until when", flags.get());
  AddFormatFlag(list, &flags->format);
  list->callback([flags, action] {
    *action = [flags](const ToolContext&, std::ostream& out) { return List(*flags, out); };
  });
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli
