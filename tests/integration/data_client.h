// Calls for data without the client library: many at once, over many connections, with neither
// retries nor patience, each answer checked against the certified graph.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/mutex.h"
#include "proto/service.grpc.pb.h"
#include "tests/testing/certified_graph.h"

namespace vicinity::testing {

struct CallOutcome {
  absl::Status status;
  int64_t pushback_ms = -1;  // -1: none was said
  std::chrono::nanoseconds latency{0};
  int64_t bytes = 0;
  int64_t wrong = 0;  // rows or edges
};

// What became of many calls.
//
// Threads: all methods from any number at once.
class CallTally {
 public:
  void Add(const CallOutcome& outcome);

  int64_t calls() const;
  int64_t count(absl::StatusCode code) const;
  int64_t wrong() const;
  int64_t without_pushback() const;  // refused, and not told when to come again
  // Of the calls that ended with the code; 0 if there were none.
  std::chrono::milliseconds Percentile(absl::StatusCode code, double share) const;
  // For people: how many of each code, the slowest percentiles and one text of each.
  std::string Describe() const;

 private:
  struct OfCode {
    std::vector<std::chrono::nanoseconds> latencies;
    std::string text;
  };

  mutable Mutex mu_;
  std::map<absl::StatusCode, OfCode> codes_ ABSL_GUARDED_BY(mu_);
  int64_t wrong_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t without_pushback_ ABSL_GUARDED_BY(mu_) = 0;
};

struct DataClientOptions {
  std::string address;
  int connections = 1;
  // Said in Hello on each connection; empty: none says Hello, so each counts for itself.
  std::string name;
  // Windows stay small, so that a stream that nobody reads stops at once.
  bool small_windows = false;
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;  // plaintext
};

// Threads:  any.
// Lifetime: the destructor cancels what is under way and waits for it; `graph` outlives it. The
//           graph has one shard.
class DataClient {
 public:
  using Done = std::function<void(const CallOutcome&)>;

  static absl::StatusOr<std::unique_ptr<DataClient>> Connect(const CertifiedGraph* graph,
                                                             const DataClientOptions& options);
  ~DataClient();

  int connections() const { return static_cast<int>(stubs_.size()); }
  proto::Graph::Stub* stub(int connection) const { return stubs_[connection].get(); }
  const std::shared_ptr<grpc::Channel>& channel(int connection) const {
    return channels_[connection];
  }
  uint64_t fingerprint() const { return fingerprint_; }

  // Features of `count` nodes from local row `first` on, around the end.
  proto::RowsRequest Rows(int64_t first, int64_t count) const;
  // `fanout` neighbours, with replacement, of `count` nodes from `first` on.
  proto::SampleRequest Neighbors(int64_t first, int64_t count, int64_t fanout) const;

  // Return at once; `done` is called on a thread of gRPC's.
  void Start(int connection, const proto::RowsRequest& request, std::chrono::milliseconds timeout,
             Done done);
  void Start(int connection, const proto::SampleRequest& request, std::chrono::milliseconds timeout,
             Done done);
  void Start(int connection, const proto::StatusRequest& request, std::chrono::milliseconds timeout,
             Done done);

  int64_t in_flight() const;
  // False: `limit` has passed and there are more than `most` calls still.
  bool WaitUntilAtMost(int64_t most, std::chrono::milliseconds limit) const;

 private:
  friend class CallBase;

  explicit DataClient(const CertifiedGraph* graph) : graph_(*graph) {}
  absl::Status SayHello(const std::string& name);
  void Begun(grpc::ClientContext* context);
  void Ended(grpc::ClientContext* context);

  const CertifiedGraph& graph_;
  uint64_t fingerprint_ = 0;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::vector<std::unique_ptr<proto::Graph::Stub>> stubs_;
  mutable Mutex mu_;
  mutable CondVar ended_;
  std::set<grpc::ClientContext*> under_way_ ABSL_GUARDED_BY(mu_);
};

// Starts `rate` calls a second for `length`, whatever becomes of them, and waits for their ends.
// `start` is given the number of the call.
void RunOpenLoop(DataClient* client, double rate, std::chrono::milliseconds length,
                 const std::function<void(int64_t)>& start);

// Keeps `in_flight` calls under way for `length`, and waits for their ends.
void RunClosedLoop(DataClient* client, int64_t in_flight, std::chrono::milliseconds length,
                   const std::function<void(int64_t)>& start);

// The server's own account.
absl::StatusOr<proto::StatusReply> AskStatus(DataClient* client);
// Calls for data that the server has: running, waiting and stalled. -1: no answer.
int64_t CallsThere(DataClient* client);
bool WaitUntilNoCalls(DataClient* client, std::chrono::milliseconds limit);

}  // namespace vicinity::testing
