#include "client/rpc/ragged_reader.h"

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

// A request for three rows, scattered.
struct Reading {
  std::vector<std::string> out = std::vector<std::string>(3, "?");
  std::vector<uint64_t> rows = {9, 9, 9};
  std::vector<int64_t> positions = {2, 0, 1};
  TrafficCounters traffic;
  RaggedReader reader{ShardRagged{{}, 0, rows, positions, out.data()}, &traffic};

  // A chunk as it comes, cut into pieces.
  absl::Status Add(uint64_t first, const std::vector<uint32_t>& lengths, const std::string& bytes,
                   size_t piece = 3, const std::string& more_lengths = "") {
    proto::RaggedChunk chunk;
    chunk.set_first(first);
    chunk.set_lengths(std::string(reinterpret_cast<const char*>(lengths.data()),
                                  lengths.size() * sizeof(uint32_t)) +
                      more_lengths);
    chunk.set_rows(bytes);
    const std::string wire = chunk.SerializeAsString();
    std::vector<grpc::Slice> slices;
    for (size_t i = 0; i < wire.size(); i += piece) slices.emplace_back(wire.substr(i, piece));
    grpc::ByteBuffer buffer(slices.data(), slices.size());
    SlicedMessage message;
    proto::RaggedChunk small;
    REQUIRE(message.Parse(&buffer, &small));
    return reader.Add(small, message);
  }
};

TEST_CASE("rows go where they belong, however they are cut", "[ragged_reader]") {
  const size_t piece = GENERATE(size_t{1}, size_t{7}, size_t{1000});
  Reading reading;
  VICINITY_REQUIRE_OK(reading.Add(0, {4, 0}, "four", piece));
  VICINITY_CHECK_CODE(reading.reader.Finish(), absl::StatusCode::kInternal);
  VICINITY_REQUIRE_OK(reading.Add(2, {6}, "eleven", piece));
  VICINITY_CHECK_OK(reading.reader.Finish());
  CHECK(reading.out == std::vector<std::string>{"", "eleven", "four"});
}

TEST_CASE("rows that are not next, too many or not as long as they are said to be are refused",
          "[ragged_reader]") {
  constexpr auto kRefused = absl::StatusCode::kInternal;
  VICINITY_CHECK_CODE(Reading().Add(1, {4}, "four"), kRefused);
  VICINITY_CHECK_CODE(Reading().Add(0, {1, 1, 1, 1}, "four"), kRefused);
  VICINITY_CHECK_CODE(Reading().Add(0, {5}, "four"), kRefused);
  VICINITY_CHECK_CODE(Reading().Add(0, {3}, "four"), kRefused);
  VICINITY_CHECK_CODE(Reading().Add(0, {UINT32_MAX, 5}, "four"), kRefused);
  VICINITY_CHECK_CODE(Reading().Add(0, {4}, "four", 3, "x"), kRefused);
}

}  // namespace
}  // namespace vicinity
