#include "sampler/draw_spec_proto.h"

#include <catch2/catch.hpp>

#include "partition/dataset/sampling_spec.h"
#include "proto/service.pb.h"

namespace vicinity {
namespace {

TEST_CASE("what is drawn comes out of the wire as it went in", "[draw_spec]") {
  DrawSpec spec;
  spec.fanout = GENERATE(int64_t{1}, int64_t{kMaxFanout}, int64_t{kAllNeighbors});
  spec.replace = GENERATE(false, true);
  spec.weighted = GENERATE(false, true);
  spec.time_column = GENERATE(-1, 0, 7);
  spec.last = GENERATE(false, true);
  proto::DrawSpec message;
  ToProto(spec, &message);
  proto::DrawSpec received;
  REQUIRE(received.ParseFromString(message.SerializeAsString()));
  CHECK(FromProto(received) == spec);
}

TEST_CASE("specs differ by each of their members", "[draw_spec]") {
  const DrawSpec spec{5, false, false};
  CHECK_FALSE(spec == DrawSpec{6, false, false});
  CHECK_FALSE(spec == DrawSpec{5, true, false});
  CHECK_FALSE(spec == DrawSpec{5, false, true});
  CHECK_FALSE(spec == DrawSpec{5, false, false, 0});
  CHECK_FALSE(spec == DrawSpec{5, false, false, -1, true});
}

}  // namespace
}  // namespace vicinity
