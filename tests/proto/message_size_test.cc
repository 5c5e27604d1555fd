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

TEST_CASE("names in a reply are weighed, its bulk fields are not", "[message_size]") {
  proto::NamesChunk chunk;
  CHECK(RepeatedStringBytes(chunk) == 0);
  chunk.add_names("four");
  chunk.add_names("");
  chunk.add_names("eleven more");
  CHECK(RepeatedStringBytes(chunk) == 15);
  proto::RowsChunk rows;
  rows.set_rows("not a repeated string");
  CHECK(RepeatedStringBytes(rows) == 0);
}

}  // namespace
}  // namespace vicinity
