#include "client/rpc/found_reader.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/traffic.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// A request that looks at rows 100 to 109.
struct Reading {
  FoundRows found;
  TrafficCounters traffic;
  FoundReader reader{Request(&found), &traffic};

  static ShardFind Request(FoundRows* found) {
    ShardFind find;
    find.first = 100;
    find.count = 10;
    find.out = found;
    return find;
  }

  // A chunk as it comes.
  absl::Status Add(uint64_t looked, uint64_t rows_read, const std::vector<uint64_t>& rows,
                   const std::string& more = "") {
    proto::FindChunk chunk;
    chunk.set_looked(looked);
    chunk.set_rows_read(rows_read);
    chunk.set_rows(
        std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(uint64_t)) +
        more);
    grpc::Slice slice(chunk.SerializeAsString());
    grpc::ByteBuffer buffer(&slice, 1);
    SlicedMessage message;
    proto::FindChunk small;
    REQUIRE(message.Parse(&buffer, &small));
    return reader.Add(small, message);
  }
};

TEST_CASE("found rows come chunk by chunk, some of them empty", "[found_reader]") {
  Reading reading;
  VICINITY_REQUIRE_OK(reading.Add(4, 4, {100, 103}));
  VICINITY_REQUIRE_OK(reading.Add(5, 0, {}));
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_REQUIRE_OK(reading.Add(10, 2, {109}));
  VICINITY_CHECK_OK(reading.reader.Finish());
  CHECK(reading.found.rows == std::vector<uint64_t>{100, 103, 109});
  CHECK(reading.found.num_read == 6);
  CHECK(reading.traffic.Read().bytes_received == 24);
}

TEST_CASE("found rows that cannot be are refused", "[found_reader]") {
  constexpr auto kRefused = absl::StatusCode::kInternal;
  VICINITY_CHECK_CODE(Reading().Add(0, 0, {}), kRefused);          // looks at none
  VICINITY_CHECK_CODE(Reading().Add(11, 1, {}), kRefused);         // at more than there are
  VICINITY_CHECK_CODE(Reading().Add(4, 5, {}), kRefused);          // reads more than that
  VICINITY_CHECK_CODE(Reading().Add(4, 4, {99}), kRefused);        // before the range
  VICINITY_CHECK_CODE(Reading().Add(4, 4, {104}), kRefused);       // not looked at yet
  VICINITY_CHECK_CODE(Reading().Add(4, 4, {101, 101}), kRefused);  // twice
  VICINITY_CHECK_CODE(Reading().Add(4, 4, {102, 101}), kRefused);  // falling
  VICINITY_CHECK_CODE(Reading().Add(1, 1, {100, 101}), kRefused);  // more than are looked at
  VICINITY_CHECK_CODE(Reading().Add(4, 4, {100}, "x"), kRefused);  // not whole
  VICINITY_CHECK_CODE(Reading().Add(10, 4, {UINT64_MAX}), kRefused);
  Reading again;
  VICINITY_REQUIRE_OK(again.Add(4, 4, {103}));
  VICINITY_CHECK_CODE(again.Add(4, 0, {}), kRefused);
  VICINITY_CHECK_CODE(again.Add(8, 4, {103}), kRefused);
}

}  // namespace
}  // namespace vicinity
