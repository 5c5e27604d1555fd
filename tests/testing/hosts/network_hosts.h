// Hosts on a network of their own, on this machine: a network namespace each, with a cable to this
// process, which has left the machine's own network for a namespace, too. Their cables can be cut,
// lossy and slow, as those of a chaos proxy can not: packets are lost, not bytes held back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Which packets of a cable are lost.
enum class LostWay { kBoth, kToHost, kFromHost };

// Threads:  one at a time. Make moves the calling thread to the new network, and threads that it
//           starts later follow; those that it has started stay behind, so it comes first in a
//           process.
// Lifetime: the destructor takes the hosts and their cables away; what runs on them must have
//           ended. The process stays in its namespace, so there can be one at a time.
// Errors:   FailedPrecondition where this machine or this user may not make networks, or lacks the
//           programs `ip`, `tc` (iproute2) and `nft` (nftables). All others name the command.
class NetworkHosts {
 public:
  static absl::StatusOr<std::unique_ptr<NetworkHosts>> Make(int num_hosts);
  ~NetworkHosts();
  NetworkHosts(const NetworkHosts&) = delete;
  NetworkHosts& operator=(const NetworkHosts&) = delete;

  int size() const { return static_cast<int>(holders_.size()); }
  std::string address(int host) const;
  // This process's address on the host's cable, where the host reaches it.
  std::string here(int host) const;
  // The beginning of a command that runs the rest on the host.
  std::vector<std::string> RunThere(int host) const;
  // Moves the calling thread there; threads that it starts later follow. May be called on any
  // thread. Errors: Unavailable.
  absl::Status Enter(int host) const;

  // Hosts reach each other, too, by way of this process: what their cables lose is lost to them.
  // Once.
  absl::Status JoinHosts();

  // Of a hundred packets so many are lost, at random; 100: all.
  absl::Status Lose(int host, LostWay way, int percent);
  absl::Status PullCable(int host);    // the link is down
  absl::Status ForgetRoute(int host);  // packets to it are thrown away, without a word
  // Each way; 0: no limit. Stays until it is changed.
  absl::Status LimitRate(int host, int64_t bits_per_second);
  // What names this process, and what it starts from now on, find under `/etc/hosts`: lines of
  // addresses and names. FailedPrecondition where that file cannot be replaced.
  absl::Status SetNames(const std::string& lines);
  // The end of all the above but the rate and the names.
  absl::Status Heal(int host);

 private:
  NetworkHosts() = default;
  absl::Status AddHost();
  absl::Status TakeNames();
  absl::Status Run(const std::string& command) const;
  std::string Cable(int host) const;  // this end's device
  std::string There(int host) const;  // RunThere, for a shell

  const TempDir folder_;
  absl::Status names_;  // whether /etc/hosts is a file of ours
  // A process in each host's namespace, which lasts as long as that.
  std::vector<std::unique_ptr<RunningProgram>> holders_;
};

}  // namespace vicinity::testing
