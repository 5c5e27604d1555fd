// Real daemons on the loopback device, each a process, over a certified graph: to be killed,
// paused, cut off and replaced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/cluster/cluster_file.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Where a server runs.
struct TestbedHost {
  std::vector<std::string> run;  // the beginning of a command that runs the rest there
  std::string address;           // where it is to listen
};

struct TestbedOptions {
  // Shard i is served by server i % num_servers and, round, the next replicas - 1.
  CertifiedShape graph;
  int num_servers = 1;
  int replicas = 1;
  std::vector<TestbedHost> hosts;  // of each server; empty: all here, on the loopback device
  bool open = true;                // on hosts; false: server_flags have certificates
  int port = 0;                    // of each server, where all have hosts; 0: the system's choice
  // Servers take changes, and keep them where they are started again. With replicas they know each
  // other by the cluster file, with an admin address each and without proxies.
  bool live = false;
  std::string changes_below;  // a folder that changes lie in; empty: the testbed's
  std::string cluster_lines;  // for the cluster file, beside those it needs
  // Clients reach each server through a proxy of its own.
  bool proxies = false;
  uint64_t seed = 1;                         // of the proxies
  std::vector<std::string> server_flags;     // for every daemon, beside those it needs
  absl::Duration limit = absl::Seconds(60);  // for a daemon to be ready, or to end
};

// What a process holds, and what it has used.
struct ProcessUse {
  int64_t resident_bytes = 0;
  int64_t peak_resident_bytes = 0;  // the most since its start
  int64_t open_files = 0;
  int64_t threads = 0;
  double cpu_seconds = 0;  // since its start, of all cores
};

// The binary is server/vicinityd in the runfiles: a user needs it as data.
//
// Threads:  one at a time, and the thread that made it must outlive it: daemons die with it.
// Lifetime: the destructor kills all daemons, paused ones too, in bounded time. When it runs
//           because a check has ended the test case, it prints the end of every daemon's log.
// Errors:   every wait is bounded by `limit`; texts name the server and end with its log's end.
class Testbed {
 public:
  // Writes the graph, starts the servers "s0", "s1", ... and returns once all are ready.
  static absl::StatusOr<std::unique_ptr<Testbed>> Start(const TestbedOptions& options);
  ~Testbed();
  Testbed(const Testbed&) = delete;
  Testbed& operator=(const Testbed&) = delete;

  const CertifiedGraph& graph() const { return graph_; }
  std::string directory() const { return DirectoryOf(graph_.shape().version); }
  // For clients: the proxies' addresses, if there are proxies.
  std::string cluster_file() const { return folder_.File("cluster.textproto"); }
  int num_servers() const { return static_cast<int>(servers_.size()); }
  const HostPort& address(int server) const { return servers_[server].address; }  // its own
  std::string changes(int server) const;  // of a live graph: its folder for them
  ChaosProxy* proxy(int server) const { return servers_[server].proxy.get(); }  // null: none

  // SIGKILL; it is gone when this returns.
  absl::Status Kill(int server);
  // SIGSTOP and SIGCONT: the kernel goes on accepting connections and bytes for it.
  void Pause(int server);
  void Continue(int server);
  // SIGTERM, paused or not; the exit code.
  absl::StatusOr<int> Terminate(int server);
  // On the same port, ready when this returns; kills it first if it runs. The second form serves
  // the same shards of the graph's dataset of another version, which it writes when it is new.
  absl::Status Restart(int server) { return Restart(server, graph_.shape().version); }
  absl::Status Restart(int server, uint64_t version);

  absl::StatusOr<ProcessUse> Use(int server) const;
  int pid(int server) const;                          // -1: it does not run
  std::string LogTail(int server) const;              // its last lines
  absl::StatusOr<std::string> Log(int server) const;  // all of it

 private:
  struct ServerProcess {
    std::unique_ptr<RunningProgram> program;  // null: ended
    HostPort address{"127.0.0.1", 0};
    int admin_port = 0;  // 0: none
    std::unique_ptr<ChaosProxy> proxy;
  };

  explicit Testbed(const TestbedOptions& options);
  bool by_cluster_file() const { return options_.live && options_.replicas > 1; }
  std::vector<std::string> CommandOf(int server, uint64_t version) const;
  std::string DirectoryOf(uint64_t version) const;
  std::string LogOf(int server) const;
  std::string ReadyFileOf(int server) const;
  absl::Status WriteDataset(uint64_t version) const;
  absl::Status StartServer(int server, uint64_t version);
  absl::Status WaitUntilReady(int server);
  absl::Status WriteClusterFile() const;
  absl::StatusOr<int> End(int server);
  // With the server's name before, and the end of its log after.
  absl::Status Explain(int server, const absl::Status& status) const;

  const TestbedOptions options_;
  const CertifiedGraph graph_;
  const int exceptions_before_;
  const TempDir folder_;
  std::vector<ServerProcess> servers_;
};

}  // namespace vicinity::testing
