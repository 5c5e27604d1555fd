#include "client/rpc/walk_reader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "client/rpc/wire_array.h"
#include "client/shards/shard_requests.h"
#include "client/shards/traffic.h"
#include "proto/bulk_fields.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "sampler/walk_spec.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

proto::WalkChunk Chunk(uint32_t first, const std::vector<uint32_t>& counts,
                       const std::vector<int64_t>& nodes, const std::vector<int64_t>& edge_ids) {
  proto::WalkChunk chunk;
  chunk.set_first(first);
  AppendBytes<uint32_t>(counts, chunk.mutable_counts());
  AppendBytes<int64_t>(nodes, chunk.mutable_nodes());
  AppendBytes<int64_t>(edge_ids, chunk.mutable_edge_ids());
  return chunk;
}

// Three walks of three steps; the second has made two.
class Reading {
 public:
  Reading() : nodes_(3 * 4, -7), edge_ids_(3 * 3, -7) {
    spec_.metapath = {0};
    spec_.length = 3;
    ShardWalks walks;
    walks.spec = &spec_;
    walks.walks = walk_numbers_;
    walks.steps = steps_;
    walks.rows = rows_;
    walks.positions = positions_;
    walks.nodes = nodes_.data();
    walks.edge_ids = edge_ids_.data();
    reader_ = std::make_unique<WalkReader>(walks, serving_.dataset().schema(),
                                           serving_.dataset().book(), &traffic_);
  }

  // As it comes over the wire.
  absl::Status Add(proto::WalkChunk chunk) {
    grpc::ByteBuffer buffer = PackMessage(&chunk, BulkFields(&chunk));
    SlicedMessage arrays;
    REQUIRE(arrays.Parse(&buffer, &chunk));
    return reader_->Add(chunk, arrays);
  }
  absl::Status Finish() const { return reader_->Finish(); }
  std::vector<int64_t> Steps(int64_t walk) const {
    return {nodes_.begin() + walk * 4 + 1, nodes_.begin() + walk * 4 + 4};
  }
  std::vector<int64_t> Edges(int64_t walk) const {
    return {edge_ids_.begin() + walk * 3, edge_ids_.begin() + walk * 3 + 3};
  }

 private:
  const testing::Serving serving_{testing::RandomGraph({})};
  const std::vector<uint32_t> walk_numbers_ = {4, 5, 6};
  const std::vector<uint32_t> steps_ = {0, 2, 0};
  const std::vector<uint64_t> rows_ = {1, 2, 3};
  const std::vector<int64_t> positions_ = {2, 0, 1};
  WalkSpec spec_;
  std::vector<int64_t> nodes_;
  std::vector<int64_t> edge_ids_;
  TrafficCounters traffic_;
  std::unique_ptr<WalkReader> reader_;
};

TEST_CASE("chunks of walks in order make the answer, each walk in its line", "[walk_reader]") {
  Reading reading;
  VICINITY_CHECK_OK(reading.Add(Chunk(0, {2, 1}, {10, 11, 12}, {0, 1, 2})));
  VICINITY_CHECK_CODE(reading.Finish(), absl::StatusCode::kInternal);
  VICINITY_CHECK_OK(reading.Add(Chunk(2, {3}, {13, 14, 15}, {3, 4, 5})));
  VICINITY_CHECK_OK(reading.Finish());
  using Line = std::vector<int64_t>;
  CHECK(reading.Steps(2) == Line{10, 11, -1});
  CHECK(reading.Edges(2) == Line{0, 1, -1});
  CHECK(reading.Steps(0) == Line{-7, -7, 12});
  CHECK(reading.Edges(0) == Line{-7, -7, 2});
  CHECK(reading.Steps(1) == Line{13, 14, 15});
  CHECK(reading.Edges(1) == Line{3, 4, 5});
}

TEST_CASE("chunks of walks that cannot be are refused", "[walk_reader]") {
  const std::vector<proto::WalkChunk> lies = {
      Chunk(1, {1}, {1}, {1}),                    // the first walk has not been answered
      Chunk(0, {0, 0, 0, 0}, {}, {}),             // more walks than asked for
      Chunk(0, {}, {}, {}),                       // none
      Chunk(0, {4}, {1, 2, 3, 4}, {1, 2, 3, 4}),  // more steps than there are
      Chunk(0, {0, 2}, {1, 2}, {1, 2}),           // more than are left
      Chunk(0, {UINT32_MAX}, {1}, {1}),           //
      Chunk(0, {2}, {1}, {1, 2}),                 // fewer nodes than counted
      Chunk(0, {2}, {1, 2}, {1}),                 // fewer edges
      Chunk(0, {1}, {1, 2}, {1}),                 // more nodes
      Chunk(0, {1}, {int64_t{1} << 40}, {1}),     // no such node
      Chunk(0, {1}, {-1}, {1}),                   //
  };
  for (const proto::WalkChunk& lie : lies) {
    INFO(lie.ShortDebugString());
    VICINITY_CHECK_CODE(Reading().Add(lie), absl::StatusCode::kInternal);
  }
  proto::WalkChunk odd = Chunk(0, {1}, {1}, {1});
  odd.mutable_counts()->push_back('x');
  VICINITY_CHECK_CODE(Reading().Add(odd), absl::StatusCode::kInternal);
  Reading twice;
  VICINITY_CHECK_OK(twice.Add(Chunk(0, {0, 0, 0}, {}, {})));
  VICINITY_CHECK_OK(twice.Finish());
  VICINITY_CHECK_CODE(twice.Add(Chunk(0, {1}, {1}, {1})), absl::StatusCode::kInternal);
  VICINITY_CHECK_CODE(twice.Add(Chunk(3, {0}, {}, {})), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace vicinity
