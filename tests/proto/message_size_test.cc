#include "proto/message_size.h"

#include <catch2/catch.hpp>

#include "proto/service.pb.h"

namespace vicinity {
namespace {

TEST_CASE("what a message repeats is counted over all its fields", "[message_size]") {
  proto::SampleRequest request;
  CHECK(RepeatedElements(request) == 0);
  for (int i = 0; i < 3; ++i) request.add_relations();
  request.set_targets("bytes are no elements");
  CHECK(RepeatedElements(request) == 3);
  proto::RankingRequest ranking;
  ranking.add_home(1);
  ranking.add_home(2);
  CHECK(RepeatedElements(ranking) == 2);
}

}  // namespace
}  // namespace vicinity
