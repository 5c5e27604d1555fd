// Where floods are tried: a real daemon with certificates and little memory, a host of an attacker
// beside it, and what can be seen of the daemon meanwhile.
#pragma once

#include <grpcpp/security/credentials.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/security/token.h"
#include "tests/integration/data_client.h"
#include "tests/integration/honest_trainer.h"
#include "tests/testing/attacker.h"
#include "tests/testing/attacks.h"
#include "tests/testing/certificate_authority.h"
#include "tests/testing/memory_cgroup.h"
#include "tests/testing/network_hosts.h"
#include "tests/testing/running_program.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/testbed.h"

namespace vicinity::testing {

// Who attacks, and what the server asks of its clients.
enum class FloodMode {
  kNoCertificate,  // the server wants one
  kCertificate,    // a valid one, that of a trainer that may read
  kOpen,           // the server wants a token; the attacker has none
  kProxied,        // HAProxy stands before the server; the attacker has nothing
};
const char* FloodModeName(FloodMode mode);

// The most that a daemon has held, looked for twenty times a second.
//
// Lifetime: `testbed` outlives it.
class MemoryWatch {
 public:
  explicit MemoryWatch(const Testbed* testbed) : thread_([this, testbed] { Run(*testbed); }) {}
  ~MemoryWatch();
  ProcessUse Stop();  // the most of each

 private:
  void Run(const Testbed& testbed);

  std::atomic<bool> stop_{false};
  ProcessUse most_;
  std::thread thread_;  // last: it uses all above
};

// Threads:  the thread that made it; it must be the process's first to make anything of gRPC's.
// Lifetime: one at a time; `hosts` outlives it.
class FloodSite {
 public:
  static constexpr int64_t kMaxConnections = 1024;
  static constexpr int64_t kMemoryLimit = int64_t{512} << 20;

  static absl::StatusOr<std::unique_ptr<FloodSite>> Open(const NetworkHosts* hosts, FloodMode mode);

  absl::StatusOr<std::unique_ptr<HonestTrainer>> HonestlyConnect() const;
  // `connections` of an honest client, past the proxy or through it.
  absl::StatusOr<std::unique_ptr<DataClient>> Connect(bool past_proxy, int connections) const;
  // Where clients dial: the proxy, where there is one.
  std::string Address() const;
  AttackTarget Target(uint64_t fingerprint) const;
  AttackerOptions Hostile() const;

  Testbed* testbed() const { return testbed_.get(); }
  // What all that the daemon holds has come to at most: -1 where nobody counts.
  int64_t MostHeld() const { return group_ == nullptr ? -1 : group_->most_bytes(); }
  bool Lives() const { return testbed_->Use(0).ok(); }
  int64_t ResidentBytes() const;
  int64_t ProxyBytes() const;  // resident, of HAProxy; -1: there is none
  // Whether its log has the attacker's address or name.
  bool AttackerIsNamed() const;

 private:
  FloodSite(const NetworkHosts* hosts, FloodMode mode) : hosts_(*hosts), mode_(mode) {}
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Honest(
      const std::string& address) const;
  absl::Status WriteSecrets();
  absl::Status StartProxy();
  std::vector<std::string> Flags() const;

  const NetworkHosts& hosts_;
  const FloodMode mode_;
  const CertificateAuthority authority_{"vicinity"};
  const TempDir folder_;
  const std::string token_ = MakeToken().value();
  IssuedCertificate hostile_;
  // Removed last: its process must have ended.
  std::unique_ptr<MemoryCgroup> group_;
  std::unique_ptr<Testbed> testbed_;
  int proxy_port_ = 0;
  std::unique_ptr<RunningProgram> proxy_;
};

}  // namespace vicinity::testing
