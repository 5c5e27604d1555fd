// The textbook service (plain_service.proto) over a mapped shard, and its client.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/impl/service_type.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "partition/shard.h"
#include "sampler/one_hop.h"

namespace vicinity::benchmark {

// Serves node type 0 and edge type 0 of `shard`, which outlives it; replies stream in messages of
// about `chunk_bytes`.
std::unique_ptr<grpc::Service> MakePlainService(const Shard* shard, int64_t chunk_bytes);

// Calls by generated code, one after the other; any number of threads may call. False: it failed.
class PlainClient {
 public:
  explicit PlainClient(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}

  // Rows of a float32 column, one behind the other, to `out`; as repeated floats, as repeated bytes
  // (each a row), or as bytes that hold many rows.
  bool FetchFloats(int32_t column, absl::Span<const uint64_t> rows, char* out) const;
  bool FetchRows(int32_t column, absl::Span<const uint64_t> rows, char* out) const;
  bool FetchBytes(int32_t column, absl::Span<const uint64_t> rows, char* out) const;
  bool Sample(int64_t fanout, absl::Span<const uint64_t> targets, Neighbors* out) const;

 private:
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace vicinity::benchmark
