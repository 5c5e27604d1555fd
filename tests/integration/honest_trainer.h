// A trainer that means well, beside others that do not: how much of what it asks it gets.
#pragma once

#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/integration/data_client.h"
#include "tests/testing/certified_graph.h"

namespace vicinity::testing {

struct HonestAccount {
  int64_t calls = 0;
  int64_t answered = 0;
  int64_t wrong = 0;      // rows or edges
  int64_t newcomers = 0;  // connections made meanwhile, each for a Hello
  int64_t let_in = 0;     // of them
  absl::Duration p50;     // of the calls that were answered
  absl::Duration p99;
  std::string failure;  // the text of one, for people

  double Share() const { return calls == 0 ? 0 : double(answered) / double(calls); }
};

// Asks for rows and neighbours, 50 times a second, whatever becomes of it, without retries; and
// comes anew twice a second. A call that takes longer than 2 seconds has failed.
//
// Threads:  one at a time.
// Lifetime: `graph` outlives it.
class HonestTrainer {
 public:
  static absl::StatusOr<std::unique_ptr<HonestTrainer>> Connect(
      const CertifiedGraph* graph, const std::string& address,
      std::shared_ptr<grpc::ChannelCredentials> credentials);

  uint64_t fingerprint() const { return client_->fingerprint(); }  // of the dataset
  // Returns when all its calls have ended.
  HonestAccount Train(std::chrono::milliseconds length);

 private:
  HonestTrainer(std::string address, std::shared_ptr<grpc::ChannelCredentials> credentials)
      : address_(std::move(address)), credentials_(std::move(credentials)) {}
  void ComeAnew(std::chrono::milliseconds length, HonestAccount* account) const;

  const std::string address_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::unique_ptr<DataClient> client_;
  int64_t next_ = 0;  // its calls differ
};

}  // namespace vicinity::testing
