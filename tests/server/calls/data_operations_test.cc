#include "server/calls/data_operations.h"

#include <google/protobuf/descriptor.h>
#include <grpcpp/support/byte_buffer.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/health.pb.h"
#include "proto/service.pb.h"
#include "proto/wire_checksum.h"
#include "server/admission/call_gate.h"
#include "server/handlers/chunk_source.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Packed;
using testing::Serving;

constexpr char kFetchRows[] = "/vicinity.proto.Graph/FetchRows";

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

absl::StatusOr<std::unique_ptr<Exchange>> TryToParse(const char* path, const std::string& text) {
  const Operation* const operation = FindOperation(DataOperations(), path);
  REQUIRE(operation != nullptr);
  grpc::ByteBuffer bytes = Bytes(text);
  return operation->parse(&bytes);
}

std::unique_ptr<Exchange> Parse(const char* path, const std::string& text) {
  absl::StatusOr<std::unique_ptr<Exchange>> exchange = TryToParse(path, text);
  VICINITY_REQUIRE_OK(exchange);
  return *std::move(exchange);
}

std::string Text(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  REQUIRE(bytes.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

bool Stays() { return false; }

TEST_CASE("every method of the service is found by its path, and has its lane",
          "[data_operations]") {
  CHECK(FindOperation(DataOperations(), kFetchRows)->lane == Lane::kData);
  CHECK(FindOperation(DataOperations(), kFetchRows)->is_counted);
  CHECK(FindOperation(DataOperations(), "/vicinity.proto.Graph/Status")->lane == Lane::kSmall);
  CHECK(FindOperation(DataOperations(), "/grpc.health.v1.Health/Check")->lane == Lane::kHealth);
  CHECK(FindOperation(DataOperations(), "/vicinity.proto.Bulk/Open")->lane == Lane::kSmall);
  const auto* const service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("vicinity.proto.Graph");
  REQUIRE(service != nullptr);
  for (int i = 0; i < service->method_count(); ++i) {
    CAPTURE(service->method(i)->name());
    CHECK(FindOperation(DataOperations(), "/vicinity.proto.Graph/" + service->method(i)->name()) !=
          nullptr);
  }
  for (const char* path : {"", "/", "/vicinity.proto.Graph/", "/vicinity.proto.Graph/Fetch",
                           "/vicinity.proto.Admin/Drain", "vicinity.proto.Graph/FetchRows"}) {
    CAPTURE(path);
    CHECK(FindOperation(DataOperations(), path) == nullptr);
  }
}

TEST_CASE("calls are counted by the names of their methods, checks of health are not",
          "[data_operations]") {
  const std::vector<CountedMethod> methods = CountedMethods(DataOperations());
  REQUIRE(methods.size() == DataOperations().size());
  CHECK(methods[0].method == "Hello");
  CHECK(methods[0].service == "vicinity.proto.Graph");
  CHECK_FALSE(methods[0].has_stream);
  const Operation* const rows = FindOperation(DataOperations(), kFetchRows);
  CHECK(methods[rows - DataOperations().data()].method == "FetchRows");
  CHECK(methods[rows - DataOperations().data()].has_stream);
  const Operation* const check = FindOperation(DataOperations(), "/grpc.health.v1.Health/Check");
  CHECK(methods[check - DataOperations().data()].method.empty());
}

TEST_CASE("an exchange ends with the checksum that its request has asked for",
          "[data_operations]") {
  Limits limits;
  limits.max_chunk_bytes = 64;
  const Serving serving(testing::RandomGraph({}), {}, limits);
  proto::RowsRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_rows(Packed(std::vector<uint64_t>{3, 1, 2, 0, 5, 6, 7, 8, 9, 4}));
  request.set_column(-1);
  request.set_checksum(RequestChecksum("FetchRows", request));
  const auto exchange = Parse(kFetchRows, request.SerializeAsString());
  REQUIRE(exchange != nullptr);
  CHECK(exchange->request_bytes() == 80);
  CHECK(exchange->reply_bytes(serving.state()) == 80);
  VICINITY_REQUIRE_OK(exchange->Begin(serving.state()));
  std::string rows;
  Piece piece = Piece::kMore;
  for (int messages = 0; piece == Piece::kMore; ++messages) {
    Exchange::Message message;
    VICINITY_ASSERT_OK_AND_ASSIGN(piece, exchange->Next(&message, Stays));
    proto::RowsChunk chunk;
    REQUIRE(chunk.ParseFromString(Text(message.bytes)));
    CHECK(message.payload == static_cast<int64_t>(chunk.rows().size()));
    const uint64_t checksum = chunk.checksum();
    CHECK(checksum == ReplyChecksum(request.checksum(), chunk));
    rows += chunk.rows();
    CHECK(messages < 2);
  }
  CHECK(piece == Piece::kLast);
  CHECK(rows.size() == 80);
}

TEST_CASE("a damaged request is told from a wrong one", "[data_operations]") {
  const Serving serving(testing::RandomGraph({}));
  VICINITY_CHECK_CODE(TryToParse(kFetchRows, std::string(40, '\xff')), absl::StatusCode::kAborted);
  proto::RowsRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_count(3);
  request.set_checksum(RequestChecksum("FetchRows", request) + 1);
  VICINITY_CHECK_CODE(Parse(kFetchRows, request.SerializeAsString())->Begin(serving.state()),
                      absl::StatusCode::kAborted);
  request.set_column(99);
  request.set_checksum(RequestChecksum("FetchRows", request));
  VICINITY_CHECK_CODE(Parse(kFetchRows, request.SerializeAsString())->Begin(serving.state()),
                      absl::StatusCode::kInvalidArgument);
  proto::SampleRequest parts;
  for (int i = 0; i < 70'000; ++i) parts.add_relations();
  VICINITY_CHECK_CODE(Parse("/vicinity.proto.Graph/SampleNeighbors", parts.SerializeAsString())
                          ->Begin(serving.state()),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("messages of other services carry no checksum, and callers may name themselves",
          "[data_operations]") {
  const Serving serving(testing::RandomGraph({}));
  proto::HelloRequest hello;
  hello.set_client("trainer 7");
  CHECK(Parse("/vicinity.proto.Graph/Hello", hello.SerializeAsString())->client_name() ==
        "trainer 7");
  const auto check = Parse("/grpc.health.v1.Health/Check", "");
  REQUIRE(check != nullptr);
  CHECK(check->client_name().empty());
  VICINITY_CHECK_CODE(check->Begin(serving.state()), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
