#include "server/handlers/ranking_handler.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/ranking.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"
#include "proto/service.pb.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using proto::RankingChunk;
using proto::RankingRequest;
using testing::Collect;
using testing::Serving;
using testing::Unpacked;

constexpr int64_t kNumRanked = 20;

// The made-up ranking of a home: node 3 i + salt with probability 1 / (i + 1).
RankedNodes Ranked(int64_t salt) {
  RankedNodes ranked;
  for (int64_t i = 0; i < kNumRanked; ++i) {
    ranked.nodes.push_back(3 * i + salt);
    ranked.probabilities.push_back(1.0F / static_cast<float>(i + 1));
  }
  return ranked;
}

// Shards 0 and 1 of three, with a ranking for the homes {0}, {2} and {1, 2}.
class RankingTest {
 public:
  RankingTest() : serving_(testing::RandomGraph({}), {ShardId{0}, ShardId{1}}, Limits64()) {
    proto::Ranking description;
    description.set_name("near");
    description.set_seeds("train");
    description.add_homes()->add_shards(0);
    description.add_homes()->add_shards(2);
    description.add_homes()->add_shards(1);
    description.mutable_homes(2)->add_shards(2);
    VICINITY_REQUIRE_OK(
        WriteRanking(serving_.directory(), description, {{Ranked(0)}, {Ranked(1)}, {Ranked(2)}}));
    serving_.Reopen();
    good_.set_fingerprint(serving_.fingerprint());
    good_.add_home(0);
    good_.set_name("near");
  }

 protected:
  static Limits Limits64() {
    Limits limits;
    limits.max_chunk_bytes = 64;
    return limits;
  }
  absl::Status Fetch(const RankingRequest& request, std::vector<RankingChunk>* chunks) {
    return Collect(FetchRanking, serving_.state(), request, chunks);
  }

  Serving serving_;
  RankingRequest good_;
};

RankedNodes Joined(const std::vector<RankingChunk>& chunks) {
  RankedNodes all;
  for (const RankingChunk& chunk : chunks) {
    CHECK(chunk.global_ids().size() + chunk.probabilities().size() <= 64);
    for (const int64_t node : Unpacked<int64_t>(chunk.global_ids())) all.nodes.push_back(node);
    for (const float p : Unpacked<float>(chunk.probabilities())) all.probabilities.push_back(p);
  }
  return all;
}

TEST_CASE_METHOD(RankingTest, "a ranking comes whole and in order", "[ranking_handler]") {
  std::vector<RankingChunk> chunks;
  VICINITY_REQUIRE_OK(Fetch(good_, &chunks));
  CHECK(chunks.size() > 1);
  const RankedNodes joined = Joined(chunks);
  CHECK(joined.nodes == Ranked(0).nodes);
  CHECK(joined.probabilities == Ranked(0).probabilities);
}

TEST_CASE_METHOD(RankingTest, "a home of several shards is served where one of them is",
                 "[ranking_handler]") {
  RankingRequest request = good_;
  request.clear_home();
  request.add_home(1);
  request.add_home(2);
  std::vector<RankingChunk> chunks;
  VICINITY_REQUIRE_OK(Fetch(request, &chunks));
  CHECK(Joined(chunks).nodes == Ranked(2).nodes);
}

TEST_CASE_METHOD(RankingTest, "a part of a ranking is that part, cut at its end",
                 "[ranking_handler]") {
  struct Part {
    uint64_t first;
    uint64_t count;
    int64_t expected;
  };
  const Part part = GENERATE(values<Part>({{0, 1, 1},
                                           {7, 9, 9},
                                           {7, 0, kNumRanked - 7},
                                           {19, 5, 1},
                                           {3, UINT64_MAX, kNumRanked - 3},
                                           {kNumRanked, 4, 0}}));
  CAPTURE(part.first, part.count);
  RankingRequest request = good_;
  request.set_first(part.first);
  request.set_count(part.count);
  std::vector<RankingChunk> chunks;
  VICINITY_REQUIRE_OK(Fetch(request, &chunks));
  const RankedNodes all = Ranked(0);
  const auto begin = all.nodes.begin() + static_cast<int64_t>(part.first);
  CHECK(Joined(chunks).nodes == std::vector<int64_t>(begin, begin + part.expected));
}

TEST_CASE_METHOD(RankingTest, "a wrong ranking request is refused", "[ranking_handler]") {
  struct Bad {
    const char* what;
    std::function<void(RankingRequest*)> change;
    absl::StatusCode code;
  };
  const absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
  const absl::StatusCode not_found = absl::StatusCode::kNotFound;
  const absl::StatusCode elsewhere = absl::StatusCode::kFailedPrecondition;
  const std::vector<Bad> bad = {
      {"another dataset", [](RankingRequest* r) { r->set_fingerprint(1); }, elsewhere},
      {"no home", [](RankingRequest* r) { r->clear_home(); }, invalid},
      {"home not served", [](RankingRequest* r) { r->set_home(0, 2); }, elsewhere},
      {"no such shard", [](RankingRequest* r) { r->set_home(0, 3); }, invalid},
      {"home without ranking", [](RankingRequest* r) { r->set_home(0, 1); }, not_found},
      {"unknown name", [](RankingRequest* r) { r->set_name("far"); }, not_found},
      {"no such type", [](RankingRequest* r) { r->set_node_type(1); }, invalid},
      {"past the end", [](RankingRequest* r) { r->set_first(kNumRanked + 1); }, invalid},
  };
  std::vector<RankingChunk> chunks;
  for (const Bad& one : bad) {
    CAPTURE(one.what);
    RankingRequest request = good_;
    one.change(&request);
    VICINITY_CHECK_CODE(Fetch(request, &chunks), one.code);
  }
  CHECK(chunks.empty());
}

}  // namespace
}  // namespace vicinity
