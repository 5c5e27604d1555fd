// A small dataset as handlers see it, without a server around it.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/admission/call_counters.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/limits.h"
#include "server/handlers/server_state.h"
#include "server/health/shard_health.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Ends the test case if the dataset cannot be written or opened.
class Serving {
 public:
  // Opens `shards` (empty: all) of the graph cut into three.
  explicit Serving(MemoryGraph graph, std::vector<ShardId> shards = {}, Limits limits = Limits());

  const MemoryGraph& graph() const { return graph_; }
  const Placement& placement() const { return placement_; }
  const std::string& directory() const { return directory_; }
  const Dataset& dataset() const { return *dataset_; }
  uint64_t fingerprint() const { return dataset_->fingerprint(); }
  const ServerState& state() const { return state_; }
  ShardHealth* health() { return health_.get(); }
  CallCounters* counters() { return &counters_; }

  // Opens the dataset anew: after a change to its directory.
  void Reopen();

 private:
  const MemoryGraph graph_;
  const Placement placement_;
  const std::vector<ShardId> shards_;
  const TempDir folder_;
  const std::string directory_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<ShardHealth> health_;
  CallCounters counters_{{{"Hello"}, {"FetchRows"}, {""}, {"Status"}}};
  ServerState state_;
};

// All chunks of a reply.
template <typename Chunk, typename Request>
absl::Status Collect(absl::StatusOr<std::unique_ptr<ChunkSource<Chunk>>> (*handler)(
                         const ServerState&, const Request&),
                     const ServerState& state, const Request& request, std::vector<Chunk>* chunks) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<ChunkSource<Chunk>> source,
                            handler(state, request));
  Chunk chunk;
  for (Piece piece = Piece::kMore; piece == Piece::kMore;) {
    VICINITY_ASSIGN_OR_RETURN(piece, source->Next(&chunk, [] { return false; }));
    // Takes the bytes, as a transport may.
    if (piece != Piece::kNothing) chunks->push_back(std::move(chunk));
  }
  return absl::OkStatus();
}

// A `bytes` field of these values, and the other way round.
template <typename T>
std::string Packed(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> Unpacked(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace vicinity::testing
