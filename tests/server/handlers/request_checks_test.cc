#include "server/handlers/request_checks.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Packed;

TEST_CASE("another dataset's fingerprint is answered with both", "[request_checks]") {
  const testing::Serving serving(testing::RandomGraph({}));
  VICINITY_CHECK_OK(CheckFingerprint(serving.state(), serving.fingerprint()));
  const absl::Status status = CheckFingerprint(serving.state(), 0x1234);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains("0000000000001234"));
  CHECK_THAT(std::string(status.message()),
             Catch::Contains(absl::StrCat(absl::Hex(serving.fingerprint(), absl::kZeroPad16))));
}

TEST_CASE("only shards that are served here and sound are found", "[request_checks]") {
  testing::Serving serving(testing::RandomGraph({}), {ShardId{0}, ShardId{2}});
  const ServerState& state = serving.state();
  const uint64_t good = serving.fingerprint();
  VICINITY_ASSERT_OK_AND_ASSIGN(const Shard* shard, FindShard(state, good, 2));
  CHECK(shard == serving.dataset().shard(ShardId{2}));
  VICINITY_CHECK_CODE(FindShard(state, good + 1, 2), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(FindShard(state, good, 3), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(FindShard(state, good, -1), absl::StatusCode::kInvalidArgument);

  const absl::Status elsewhere = FindShard(state, good, 1).status();
  VICINITY_CHECK_CODE(elsewhere, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(elsewhere.message()), Catch::Contains("shard 1"));
  CHECK_THAT(std::string(elsewhere.message()), Catch::Contains("0, 2"));

  VerifiedFile* const file = serving.dataset().shard(ShardId{2})->files()[0].get();
  file->Condemn("torn").IgnoreError();
  const absl::Status faulty = FindShard(state, good, 2).status();
  VICINITY_CHECK_CODE(faulty, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(faulty.message()), Catch::Contains(file->path() + ": torn"));
  VICINITY_CHECK_OK(FindShard(state, good, 0));
}

TEST_CASE("node types outside the schema are refused", "[request_checks]") {
  const Schema schema = testing::TypedGraph(9, 9, 9, 1).schema;
  CHECK(FindNodeType(schema, 2).value() == NodeTypeId{2});
  for (const int32_t type : {-1, 3, INT32_MAX, INT32_MIN}) {
    VICINITY_CHECK_CODE(FindNodeType(schema, type), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("ids of a bytes field are read where they lie", "[request_checks]") {
  const std::vector<uint64_t> ids = {7, UINT64_MAX, 0};
  const std::string bytes = Packed(ids);
  std::vector<uint64_t> copy;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto read, ReadIds("ids", bytes, Limits(), &copy));
  CHECK(std::vector<uint64_t>(read.begin(), read.end()) == ids);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto none, ReadIds("ids", "", Limits(), &copy));
  CHECK(none.empty());
}

TEST_CASE("what is not whole ids, or too many, is refused", "[request_checks]") {
  std::vector<uint64_t> copy;
  const size_t size = GENERATE(size_t{1}, size_t{7}, size_t{9}, size_t{8001});
  VICINITY_CHECK_CODE(ReadIds("ids", std::string(size, 'x'), Limits(), &copy),
                      absl::StatusCode::kInvalidArgument);
  Limits limits;
  limits.max_ids = 4;
  VICINITY_CHECK_OK(ReadIds("ids", std::string(32, 'x'), limits, &copy));
  VICINITY_CHECK_CODE(ReadIds("ids", std::string(40, 'x'), limits, &copy),
                      absl::StatusCode::kInvalidArgument);
  CHECK(copy.empty());
}

TEST_CASE("a row that the shard does not have is told with its place", "[request_checks]") {
  const testing::Serving serving(testing::RandomGraph({}));
  const Shard& shard = *serving.dataset().shard(ShardId{1});
  const std::vector<uint64_t> good = {0, 4, 4, 1};
  VICINITY_CHECK_OK(CheckRows(good, 5, shard, "node"));
  VICINITY_CHECK_OK(CheckRows({}, 0, shard, "node"));
  const std::vector<uint64_t> bad = {0, 5, UINT64_MAX};
  const absl::Status status = CheckRows(bad, 5, shard, "node");
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()), Catch::Contains("row 5 at position 1"));
}

}  // namespace
}  // namespace vicinity
