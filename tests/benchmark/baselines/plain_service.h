// The textbook service (plain_service.proto) over a mapped shard, and its client.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/impl/service_type.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "sampler/one_hop.h"

namespace vicinity::benchmark {

// Serves node type 0 and edge type 0 of `shard`, which outlives it; replies that stream do so in
// messages of about `chunk_bytes`.
std::unique_ptr<grpc::Service> MakePlainService(const Shard* shard, int64_t chunk_bytes);

// To a plain service at a port of loopback.
std::shared_ptr<grpc::Channel> MakePlainChannel(int port);

// How rows lie in a reply: as repeated floats, as repeated bytes (each a row), or as bytes that
// hold many rows.
enum class PlainForm { kFloats, kRows, kBytes };

// Calls by generated code, one after the other; any number of threads may call. False: it failed.
class PlainClient {
 public:
  explicit PlainClient(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}

  // Rows of a float32 column, one behind the other, to `out`; in one reply, or in chunks.
  bool Fetch(PlainForm form, bool in_chunks, int32_t column, absl::Span<const uint64_t> rows,
             char* out) const;
  bool Sample(int64_t fanout, absl::Span<const uint64_t> targets, Neighbors* out) const;

 private:
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace vicinity::benchmark
