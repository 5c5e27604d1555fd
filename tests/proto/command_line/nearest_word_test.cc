#include "proto/command_line/nearest_word.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("the nearest word is the one that was meant, or none", "[nearest_word]") {
  const std::vector<std::string> words = {"status", "shards", "partition", "get", "top"};
  CHECK(NearestWord("statsu", words) == "status");
  CHECK(NearestWord("stats", words) == "status");
  CHECK(NearestWord("partitoin", words) == "partition");
  CHECK(NearestWord("shard", words) == "shards");
  CHECK(NearestWord("gte", words) == "get");
  CHECK(NearestWord("frobnicate", words).empty());
  CHECK(NearestWord("x", words).empty());
  CHECK(NearestWord("", words).empty());
  CHECK(NearestWord("get", {}).empty());
  CHECK(NearestWord("--max-cals", {"--max-calls", "--ca"}) == "--max-calls");
  CHECK(NearestWord("--name", {"--ca", "--key"}).empty());
  CHECK(NearestWord("--", {"--ca"}).empty());
  CHECK(DidYouMean("statsu", words) == "; did you mean status?");
  CHECK(DidYouMean("frobnicate", words).empty());
}

}  // namespace
}  // namespace vicinity
