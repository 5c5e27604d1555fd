#include "server/handlers/describe_handler.h"

#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "proto/version.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::Serving;

TEST_CASE("hello tells who is there and within which limits", "[describe_handler]") {
  Limits limits;
  limits.max_ids = 123;
  const Serving serving(testing::RandomGraph({}), {ShardId{0}, ShardId{2}}, limits);
  proto::HelloRequest request;
  request.set_protocol_version(kProtocolVersion);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::HelloReply reply, Hello(serving.state(), request));
  CHECK(reply.protocol_version() == kProtocolVersion);
  CHECK(reply.fingerprint() == serving.fingerprint());
  CHECK(reply.dataset() == serving.dataset().manifest().name());
  CHECK(reply.server() == "alpha");
  CHECK(std::vector<int32_t>(reply.shards().begin(), reply.shards().end()) ==
        std::vector<int32_t>{0, 2});
  CHECK(reply.limits().max_ids() == 123);
  CHECK(reply.limits().max_sampled() == static_cast<uint64_t>(limits.max_sampled));
  CHECK(reply.limits().max_chunk_bytes() == static_cast<uint64_t>(limits.max_chunk_bytes));
}

TEST_CASE("another protocol version is refused with both", "[describe_handler]") {
  const Serving serving(testing::RandomGraph({}));
  proto::HelloRequest request;
  request.set_protocol_version(kProtocolVersion + 41);
  const absl::Status status = Hello(serving.state(), request).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains(std::to_string(kProtocolVersion)));
  CHECK_THAT(std::string(status.message()), Catch::Contains(std::to_string(kProtocolVersion + 41)));
  VICINITY_CHECK_CODE(Hello(serving.state(), {}), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("describe tells what the manifest says", "[describe_handler]") {
  const Serving serving(testing::TypedGraph(9, 9, 9, 1), {ShardId{1}});
  const proto::Manifest& manifest = serving.dataset().manifest();
  proto::DescribeRequest request;
  request.set_fingerprint(serving.fingerprint());
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::DescribeReply reply,
                                Describe(serving.state(), request));
  CHECK(reply.dataset() == manifest.name());
  CHECK(reply.fingerprint() == serving.fingerprint());
  CHECK(MessageDifferencer::Equals(reply.schema(), manifest.schema()));
  CHECK(MessageDifferencer::Equals(reply.book(), manifest.book()));
  CHECK(MessageDifferencer::Equals(reply.audit(), manifest.audit()));
  CHECK(reply.provenance() == manifest.provenance());
  REQUIRE(reply.shards_size() == 1);
  CHECK(reply.shards(0) == 1);
}

TEST_CASE("describe answers whoever does not know the dataset, and no other",
          "[describe_handler]") {
  const Serving serving(testing::RandomGraph({}));
  VICINITY_CHECK_OK(Describe(serving.state(), {}));
  proto::DescribeRequest request;
  request.set_fingerprint(serving.fingerprint() + 1);
  VICINITY_CHECK_CODE(Describe(serving.state(), request), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
