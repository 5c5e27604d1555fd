#include "client/rpc/sample_reader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "client/rpc/wire_array.h"
#include "proto/bulk_fields.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

proto::SampleChunk Chunk(uint32_t relation, uint32_t first, const std::vector<uint32_t>& counts,
                         const std::vector<int64_t>& sources,
                         const std::vector<int64_t>& edge_ids) {
  proto::SampleChunk chunk;
  chunk.set_relation(relation);
  chunk.set_first_target(first);
  AppendBytes<uint32_t>(counts, chunk.mutable_counts());
  AppendBytes<int64_t>(sources, chunk.mutable_sources());
  AppendBytes<int64_t>(edge_ids, chunk.mutable_edge_ids());
  return chunk;
}

// The last list of the chunk goes on in the next.
proto::SampleChunk Cut(proto::SampleChunk chunk) {
  chunk.set_more(true);
  return chunk;
}

// As it comes over the wire.
absl::Status Add(SampleReader* reader, proto::SampleChunk chunk) {
  grpc::ByteBuffer buffer = PackMessage(&chunk, BulkFields(&chunk));
  SlicedMessage arrays;
  REQUIRE(arrays.Parse(&buffer, &chunk));
  return reader->Add(chunk, arrays);
}

// Three targets with at most 2 neighbours, then two with all of theirs; 10 nodes to draw from.
struct Reading {
  Neighbors first;
  Neighbors second;
  SampleReader reader;
  explicit Reading(EdgeDetail detail)
      : reader({{3, 2, 10, true, &first}, {2, -1, 10, false, &second}}, detail) {}
};

TEST_CASE("chunks in order make the answer, a split list included", "[sample_reader]") {
  Reading reading(true);
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(0, 0, {2, 0}, {1, 2}, {11, 12})));
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(0, 2, {1}, {3}, {13})));
  VICINITY_CHECK_OK(Add(&reading.reader, Cut(Chunk(1, 0, {2}, {4, 5}, {14, 15}))));
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(1, 0, {1, 1}, {6, 7}, {16, 17})));
  VICINITY_CHECK_OK(reading.reader.Finish());
  CHECK(reading.first.counts == std::vector<uint32_t>{2, 0, 1});
  CHECK(reading.first.sources == std::vector<int64_t>{1, 2, 3});
  CHECK(reading.first.edge_ids == std::vector<int64_t>{11, 12, 13});
  CHECK(reading.second.counts == std::vector<uint32_t>{3, 1});
  CHECK(reading.second.sources == std::vector<int64_t>{4, 5, 6, 7});
}

TEST_CASE("times come along edge types that are drawn by time, and only if asked for",
          "[sample_reader]") {
  EdgeDetail with_times;
  with_times.times = true;
  proto::SampleChunk timed = Chunk(0, 0, {1, 0, 1}, {1, 2}, {});
  AppendBytes<int64_t>({-7, INT64_MAX}, timed.mutable_edge_times());
  Reading reading(with_times);
  VICINITY_CHECK_OK(Add(&reading.reader, timed));
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(1, 0, {1, 0}, {4}, {})));
  VICINITY_CHECK_OK(reading.reader.Finish());
  CHECK(reading.first.edge_times == std::vector<int64_t>{-7, INT64_MAX});
  CHECK(reading.second.edge_times.empty());

  Reading unasked(EdgeDetail{});
  VICINITY_CHECK_CODE(Add(&unasked.reader, timed), absl::StatusCode::kInternal);
  timed.clear_edge_times();
  AppendBytes<int64_t>({-7}, timed.mutable_edge_times());
  Reading too_few(with_times);
  VICINITY_CHECK_CODE(Add(&too_few.reader, timed), absl::StatusCode::kInternal);
  Reading of_other(with_times);
  VICINITY_CHECK_OK(Add(&of_other.reader, Chunk(0, 0, {0, 0, 0}, {}, {})));
  proto::SampleChunk timeless = Chunk(1, 0, {1, 0}, {4}, {});
  AppendBytes<int64_t>({3}, timeless.mutable_edge_times());
  VICINITY_CHECK_CODE(Add(&of_other.reader, timeless), absl::StatusCode::kInternal);
}

TEST_CASE("an answer is not whole until every target has been answered", "[sample_reader]") {
  Reading reading(false);
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(0, 0, {0, 0, 0}, {}, {})));
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(1, 0, {0}, {}, {})));
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_CHECK_OK(Add(&reading.reader, Chunk(1, 1, {0}, {}, {})));
  VICINITY_CHECK_OK(reading.reader.Finish());
}

TEST_CASE("a chunk that cannot be is refused", "[sample_reader]") {
  const std::vector<proto::SampleChunk> lies = {
      Chunk(2, 0, {1}, {1}, {}),                    // no such relation
      Chunk(1, 0, {1}, {1}, {}),                    // the first relation has not been answered
      Chunk(0, 1, {1}, {1}, {}),                    // the first target has not
      Chunk(0, 0, {1, 1, 1, 1}, {1, 2, 3, 4}, {}),  // more targets than asked for
      Chunk(0, 0, {}, {}, {}),                      // none
      Chunk(0, 0, {3}, {1, 2, 3}, {}),              // more than the fanout
      Chunk(0, 0, {2}, {1}, {}),                    // fewer neighbours than counted
      Chunk(0, 0, {1}, {1, 2}, {}),                 // more
      Chunk(0, 0, {1}, {10}, {}),                   // no such node
      Chunk(0, 0, {1}, {-1}, {}),
      Chunk(0, 0, {1}, {1}, {5}),  // edge ids that nobody asked for
      Chunk(0, 0, {UINT32_MAX}, {1}, {}),
  };
  for (const proto::SampleChunk& lie : lies) {
    Reading reading(false);
    VICINITY_CHECK_CODE(Add(&reading.reader, lie), absl::StatusCode::kInternal);
  }
  Reading wants_ids(true);
  VICINITY_CHECK_CODE(Add(&wants_ids.reader, Chunk(0, 0, {1}, {1}, {})),
                      absl::StatusCode::kInternal);
  proto::SampleChunk odd = Chunk(0, 0, {1}, {1}, {});
  odd.mutable_counts()->push_back('x');
  Reading reading(false);
  VICINITY_CHECK_CODE(Add(&reading.reader, odd), absl::StatusCode::kInternal);
}

TEST_CASE("the rest of a list comes next, and only of a list that was cut", "[sample_reader]") {
  Reading cut(false);
  VICINITY_CHECK_OK(Add(&cut.reader, Cut(Chunk(0, 0, {1}, {1}, {}))));
  VICINITY_CHECK_CODE(Add(&cut.reader, Chunk(0, 1, {1}, {3}, {})), absl::StatusCode::kInternal);
  Reading whole(false);
  VICINITY_CHECK_OK(Add(&whole.reader, Chunk(0, 0, {1}, {1}, {})));
  VICINITY_CHECK_CODE(Add(&whole.reader, Chunk(0, 0, {1}, {3}, {})), absl::StatusCode::kInternal);
  Reading last(false);
  VICINITY_CHECK_OK(Add(&last.reader, Chunk(0, 0, {0, 0, 0}, {}, {})));
  VICINITY_CHECK_OK(Add(&last.reader, Cut(Chunk(1, 0, {1, 1}, {1, 2}, {}))));
  VICINITY_CHECK_CODE(last.reader.Finish(), absl::StatusCode::kInternal);
}

TEST_CASE("a list split over chunks may not grow beyond the fanout", "[sample_reader]") {
  Reading reading(false);
  VICINITY_CHECK_OK(Add(&reading.reader, Cut(Chunk(0, 0, {2}, {1, 2}, {}))));
  VICINITY_CHECK_CODE(Add(&reading.reader, Chunk(0, 0, {1}, {3}, {})), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace vicinity
