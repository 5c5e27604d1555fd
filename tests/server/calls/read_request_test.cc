#include "server/calls/read_request.h"

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/service.pb.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// In pieces, as it arrives.
absl::Status Read(const std::string& text, google::protobuf::Message* request) {
  std::vector<grpc::Slice> slices;
  for (size_t i = 0; i < text.size(); i += 8'192) slices.emplace_back(text.substr(i, 8'192));
  grpc::ByteBuffer bytes(slices.data(), slices.size());
  return ReadRequest("Method", &bytes, request);
}

absl::Status ReadAgain(const google::protobuf::Message& message) {
  proto::SampleRequest request;
  return Read(message.SerializeAsString(), &request);
}

// The largest that is meant well: every edge type that a schema may have, a full condition each.
proto::SampleRequest LargestRequest() {
  proto::SampleRequest request;
  request.mutable_draw()->set_hop(1);
  for (int i = 0; i < 1'024; ++i) {
    proto::Condition* const where = request.add_relations()->mutable_spec()->mutable_where();
    for (int j = 0; j < 256; ++j) where->add_terms();
    for (int j = 0; j < 1'024; ++j) where->mutable_terms(j % 256)->add_whole(j);
  }
  return request;
}

TEST_CASE("a request is read whole, and damaged ones are told from wrong ones", "[read_request]") {
  proto::RowsRequest rows;
  rows.set_shard(3);
  rows.set_rows(std::string(100'000, 'r'));
  proto::RowsRequest read;
  VICINITY_CHECK_OK(Read(rows.SerializeAsString(), &read));
  CHECK(read.SerializeAsString() == rows.SerializeAsString());
  VICINITY_CHECK_CODE(Read(rows.SerializeAsString().substr(0, 99'000), &read),
                      absl::StatusCode::kAborted);
  VICINITY_CHECK_CODE(Read(std::string(40, '\xff'), &read), absl::StatusCode::kAborted);
}

TEST_CASE("a request of more parts or numbers than any needs is refused, and not made",
          "[read_request]") {
  proto::SampleRequest large = LargestRequest();
  VICINITY_CHECK_OK(ReadAgain(large));
  large.mutable_relations(0)->mutable_spec()->mutable_where()->mutable_terms(0)->add_whole(1);
  VICINITY_CHECK_CODE(ReadAgain(large), absl::StatusCode::kInvalidArgument);

  proto::FindRequest terms;
  for (int64_t i = 0; i < kMaxRequestParts - 1; ++i) terms.mutable_where()->add_terms();
  proto::FindRequest read;
  VICINITY_CHECK_OK(Read(terms.SerializeAsString(), &read));
  read.Clear();
  terms.mutable_where()->add_terms();
  const absl::Status status = Read(terms.SerializeAsString(), &read);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("Method") && Catch::Contains("266241") && Catch::Contains("266240"));
  CHECK(!read.has_where());
}

}  // namespace
}  // namespace vicinity
