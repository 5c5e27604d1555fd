#include "proto/cluster/text_proto.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a message is parsed from its text", "[partition]") {
  proto::Cluster cluster;
  VICINITY_REQUIRE_OK(ParseTextProto("f", "data: 'd'  # here\nnum_shards: 4\n", &cluster));
  CHECK(cluster.data() == "d");
  CHECK(cluster.num_shards() == 4);
  VICINITY_CHECK_OK(ParseTextProto("f", "", &cluster));
}

TEST_CASE("what is wrong with a text is told with file, line and column", "[partition]") {
  proto::Cluster cluster;
  for (const auto& [text, place] :
       {std::pair("data: 'd'\nshards: 4\n", "f:2:"), std::pair("num_shards: many", "f:1:13:"),
        std::pair("servers { name: 'a'", "f:1:")}) {
    const absl::Status status = ParseTextProto("f", text, &cluster);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::StartsWith(place));
  }
}

TEST_CASE("fields that this build does not know may be passed over", "[partition]") {
  proto::Cluster cluster;
  const std::string text = "data: 'd'\nfrom_tomorrow { deep: 1 }\nnum_shards: 4\n";
  VICINITY_CHECK_CODE(ParseTextProto("f", text, &cluster), absl::StatusCode::kInvalidArgument);
  VICINITY_REQUIRE_OK(ParseTextProto("f", text, &cluster, UnknownFields::kSkip));
  CHECK(cluster.num_shards() == 4);
}

}  // namespace
}  // namespace vicinity
