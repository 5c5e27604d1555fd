#include "tests/integration/flood_site.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/credentials.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/security/token.h"
#include "proto/service.pb.h"

namespace vicinity::testing {
namespace {

constexpr int kAttackersHost = 0;
constexpr char kProxy[] = "/usr/sbin/haproxy";
constexpr char kProxyConfiguration[] = "deploy/haproxy/haproxy.cfg";
constexpr std::chrono::milliseconds kBetweenLooks(50);
constexpr int64_t kRowBytes = 512;
constexpr int64_t kNodes = 20'000;

// A port of the address that nobody listens on.
int FreePort(const std::string& host) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  socklen_t length = sizeof(address);
  bind(fd, reinterpret_cast<const sockaddr*>(&address), length);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

const char* FloodModeName(FloodMode mode) {
  switch (mode) {
    case FloodMode::kNoCertificate:
      return "no certificate";
    case FloodMode::kCertificate:
      return "certificate";
    case FloodMode::kOpen:
      return "open";
    case FloodMode::kProxied:
      return "proxy";
  }
  return "";
}

MemoryWatch::~MemoryWatch() {
  if (thread_.joinable()) Stop();
}

ProcessUse MemoryWatch::Stop() {
  stop_ = true;
  thread_.join();
  return most_;
}

void MemoryWatch::Run(const Testbed& testbed) {
  while (!stop_) {
    const absl::StatusOr<ProcessUse> use = testbed.Use(0);
    if (use.ok()) {
      most_.resident_bytes = std::max(most_.resident_bytes, use->resident_bytes);
      most_.threads = std::max(most_.threads, use->threads);
      most_.open_files = std::max(most_.open_files, use->open_files);
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

absl::StatusOr<std::unique_ptr<FloodSite>> FloodSite::Open(const NetworkHosts* hosts,
                                                           FloodMode mode) {
  auto site = std::unique_ptr<FloodSite>(new FloodSite(hosts, mode));
  VICINITY_RETURN_IF_ERROR(site->WriteSecrets());
  TestbedOptions options;
  options.graph.num_nodes = kNodes;
  options.graph.row_bytes = kRowBytes;
  const bool hidden = mode == FloodMode::kProxied;
  options.hosts.push_back({{}, hidden ? "127.0.0.1" : hosts->here(kAttackersHost)});
  options.open = false;
  options.server_flags = site->Flags();
  VICINITY_ASSIGN_OR_RETURN(site->testbed_, Testbed::Start(options));
  // Where nobody may make groups, the daemon is watched all the same.
  auto group = MemoryCgroup::Create(kMemoryLimit);
  if (group.ok()) {
    site->group_ = *std::move(group);
    VICINITY_RETURN_IF_ERROR(site->group_->Add(site->testbed_->pid(0)));
  }
  if (mode == FloodMode::kProxied) VICINITY_RETURN_IF_ERROR(site->StartProxy());
  return site;
}

// The configuration as it is shipped, which asks the environment for what differs.
absl::Status FloodSite::StartProxy() {
  proxy_port_ = FreePort(hosts_.here(kAttackersHost));
  const std::string trainers = folder_.File("proxy.trainers.pem");
  const IssuedCertificate shown =
      authority_.Issue({absl::StrCat("IP:", hosts_.here(kAttackersHost))});
  WriteSecret(trainers, shown.certificate + shown.key);
  VICINITY_ASSIGN_OR_RETURN(
      proxy_, RunningProgram::Start({"/usr/bin/env", "VICINITY_PROXY_LISTEN=" + Address(),
                                     "VICINITY_PROXY_CERTIFICATE=" + trainers,
                                     "VICINITY_SERVER=" + testbed_->address(0).ToString(), kProxy,
                                     "-db", "-f", kProxyConfiguration}));
  // Its clients wait until it is there.
  const absl::StatusOr<int> ended = proxy_->WaitForExit(absl::Milliseconds(200));
  if (!ended.ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(kProxy, ": ", proxy_->output()));
}

std::string FloodSite::Address() const {
  if (proxy_port_ == 0) return testbed_->address(0).ToString();
  return HostPort{hosts_.here(kAttackersHost), proxy_port_}.ToString();
}

absl::Status FloodSite::WriteSecrets() {
  VICINITY_RETURN_IF_ERROR(WriteFileAtomically(folder_.File("ca.pem"), authority_.certificate()));
  WriteIssued(authority_.Issue({absl::StrCat("IP:", hosts_.here(kAttackersHost))}), folder_.path(),
              "server");
  WriteIssued(authority_.Issue({"DNS:trainer.example"}), folder_.path(), "trainer");
  hostile_ = authority_.Issue({"DNS:hostile.example"});
  WriteSecret(folder_.File("token"), token_);
  return WriteFileAtomically(
      folder_.File("access"),
      absl::StrCat("grants { name: 'trainer' role: READ token_sha256: '",
                   absl::BytesToHexString(HashToken(token_)),
                   "' }\n"
                   "grants { name: 'certified' role: READ certificate: 'trainer.example' }\n"
                   "grants { name: 'hostile' role: READ certificate: 'hostile.example' }\n"));
}

std::vector<std::string> FloodSite::Flags() const {
  std::vector<std::string> flags = {"--access-file",     folder_.File("access"),
                                    "--max-connections", absl::StrCat(kMaxConnections),
                                    "--announce",        "0.1"};
  const auto add = [&flags](const std::vector<std::string>& more) {
    flags.insert(flags.end(), more.begin(), more.end());
  };
  // Behind a proxy it is on the loopback device, in plaintext.
  if (mode_ == FloodMode::kProxied) {
    add({"--behind-proxy"});
    return flags;
  }
  add({"--tls-certificate", folder_.File("server.pem"), "--tls-key", folder_.File("server.key")});
  if (mode_ == FloodMode::kOpen) {
    add({"--open"});
    return flags;
  }
  add({"--tls-ca", folder_.File("ca.pem")});
  return flags;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> FloodSite::Honest(
    const std::string& address) const {
  CredentialOptions shown;
  const bool past_proxy = mode_ == FloodMode::kProxied && address != Address();
  if (!past_proxy) shown.ca = folder_.File("ca.pem");
  if (mode_ == FloodMode::kOpen || mode_ == FloodMode::kProxied) {
    shown.token_file = folder_.File("token");
  } else {
    shown.certificate = folder_.File("trainer.pem");
    shown.key = folder_.File("trainer.key");
  }
  VICINITY_ASSIGN_OR_RETURN(const auto credentials, ClientCredentials::Load(shown, nullptr));
  return credentials->For(address);
}

absl::StatusOr<std::unique_ptr<HonestTrainer>> FloodSite::HonestlyConnect() const {
  VICINITY_ASSIGN_OR_RETURN(auto credentials, Honest(Address()));
  return HonestTrainer::Connect(&testbed_->graph(), Address(), std::move(credentials));
}

absl::StatusOr<std::unique_ptr<DataClient>> FloodSite::Connect(bool past_proxy,
                                                               int connections) const {
  DataClientOptions options;
  options.address = past_proxy ? testbed_->address(0).ToString() : Address();
  options.connections = connections;
  VICINITY_ASSIGN_OR_RETURN(options.credentials, Honest(options.address));
  return DataClient::Connect(&testbed_->graph(), options);
}

AttackTarget FloodSite::Target(uint64_t fingerprint) const {
  AttackTarget target;
  target.max_connections = kMaxConnections;
  proto::RowsRequest request;  // 4 KB, for 256
  request.set_fingerprint(fingerprint);
  std::string rows;
  for (uint64_t row = 0; row < 500; ++row) {
    rows.append(reinterpret_cast<const char*>(&row), sizeof(row));
  }
  request.set_rows(rows);
  target.rows_request = request.SerializeAsString();
  return target;
}

AttackerOptions FloodSite::Hostile() const {
  AttackerOptions options;
  options.address = HostPort{hosts_.here(kAttackersHost),
                             proxy_port_ != 0 ? proxy_port_ : testbed_->address(0).port};
  if (mode_ == FloodMode::kCertificate) options.shows = {hostile_.certificate, hostile_.key};
  options.prepare = [hosts = &hosts_] { return hosts->Enter(kAttackersHost); };
  return options;
}

int64_t FloodSite::ResidentBytes() const {
  const absl::StatusOr<ProcessUse> use = testbed_->Use(0);
  return use.ok() ? use->resident_bytes : -1;
}

int64_t FloodSite::ProxyBytes() const {
  if (proxy_ == nullptr) return -1;
  std::ifstream statm(absl::StrCat("/proc/", proxy_->pid(), "/statm"));
  int64_t all = 0;
  int64_t resident = -1;
  statm >> all >> resident;
  return resident < 0 ? -1 : resident * sysconf(_SC_PAGESIZE);
}

bool FloodSite::AttackerIsNamed() const {
  const absl::StatusOr<std::string> log = testbed_->Log(0);
  return log.ok() && (absl::StrContains(*log, hosts_.address(kAttackersHost)) ||
                      absl::StrContains(*log, "hostile"));
}

}  // namespace vicinity::testing
