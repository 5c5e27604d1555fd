#include "server/handlers/reply_size.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"
#include "server/handlers/ranking_handler.h"
#include "server/handlers/resolve_handler.h"
#include "server/handlers/rows_handler.h"
#include "server/handlers/sample_handler.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::Collect;

class ReplySizeTest {
 protected:
  std::string Ids(size_t count) const { return std::string(count * 8, '\0'); }

  const testing::Serving serving_{testing::TypedGraph(200, 100, 50, 3)};
};

TEST_CASE_METHOD(ReplySizeTest, "rows take what they take", "[reply_size]") {
  proto::RowsRequest request;
  request.set_fingerprint(serving_.fingerprint());
  request.set_column(GENERATE(-1, 0));
  const bool range = GENERATE(false, true);
  if (range) {
    request.set_count(5);
  } else {
    request.set_rows(Ids(5));
  }
  std::vector<proto::RowsChunk> chunks;
  VICINITY_CHECK_OK(Collect(FetchRows, serving_.state(), request, &chunks));
  int64_t sent = 0;
  for (const proto::RowsChunk& chunk : chunks) sent += static_cast<int64_t>(chunk.rows().size());
  CHECK(sent > 0);
  CHECK(ReplyBytes(serving_.state(), request) == sent);
}

TEST_CASE_METHOD(ReplySizeTest, "rows of edges have the size of the edge type's column",
                 "[reply_size]") {
  proto::RowsRequest request;
  request.set_fingerprint(serving_.fingerprint());
  request.set_of_edges(true);  // user:buys:item; the features of node type 0 are wider
  request.set_count(5);
  std::vector<proto::RowsChunk> chunks;
  VICINITY_CHECK_OK(Collect(FetchRows, serving_.state(), request, &chunks));
  int64_t sent = 0;
  for (const proto::RowsChunk& chunk : chunks) sent += static_cast<int64_t>(chunk.rows().size());
  CHECK(sent == 5 * 4);
  CHECK(ReplyBytes(serving_.state(), request) == sent);
  request.set_column(-1);  // edges have no keys
  CHECK(ReplyBytes(serving_.state(), request) == 0);
}

TEST_CASE_METHOD(ReplySizeTest, "samples take at most what is said", "[reply_size]") {
  proto::SampleRequest request;
  request.set_fingerprint(serving_.fingerprint());
  request.set_want_edge_ids(GENERATE(false, true));
  request.set_want_edge_positions(GENERATE(false, true));
  request.set_targets(Ids(10));
  request.add_relations()->set_edge_type(0);
  request.mutable_relations(0)->set_num_targets(10);
  request.mutable_relations(0)->mutable_spec()->set_replace(true);
  request.mutable_relations(0)->mutable_spec()->set_fanout(GENERATE(1, 7));
  std::vector<proto::SampleChunk> chunks;
  VICINITY_CHECK_OK(Collect(SampleNeighbors, serving_.state(), request, &chunks));
  int64_t sent = 0;
  for (const proto::SampleChunk& chunk : chunks) {
    sent += static_cast<int64_t>(chunk.counts().size() + chunk.sources().size() +
                                 chunk.edge_ids().size() + chunk.edge_positions().size());
  }
  CHECK(sent > 0);
  CHECK(ReplyBytes(serving_.state(), request) >= sent);
  const int64_t per_neighbor =
      8 * (1 + (request.want_edge_ids() ? 1 : 0) + (request.want_edge_positions() ? 1 : 0));
  CHECK(ReplyBytes(serving_.state(), request) ==
        10 * (4 + per_neighbor * request.relations(0).spec().fanout()));
  request.mutable_relations(0)->mutable_spec()->set_fanout(-1);
  CHECK(ReplyBytes(serving_.state(), request) >= 40);
}

TEST_CASE_METHOD(ReplySizeTest, "keys and ranks have sizes", "[reply_size]") {
  proto::ResolveRequest keys;
  keys.set_keys(Ids(9));
  CHECK(ReplyBytes(serving_.state(), keys) == 72);
  proto::RankingRequest ranking;
  const int64_t users = serving_.dataset().book().num_nodes(NodeTypeId{0});
  CHECK(ReplyBytes(serving_.state(), ranking) == users * 12);
  ranking.set_count(3);
  CHECK(ReplyBytes(serving_.state(), ranking) == 36);
  ranking.set_count(UINT64_MAX);
  CHECK(ReplyBytes(serving_.state(), ranking) == users * 12);
}

TEST_CASE_METHOD(ReplySizeTest, "whatever is asked for, the size does not overflow",
                 "[reply_size]") {
  proto::RowsRequest rows;
  rows.set_count(UINT64_MAX);
  CHECK(ReplyBytes(serving_.state(), rows) == INT64_MAX);
  proto::SampleRequest sample;
  for (int i = 0; i < 10'000; ++i) {
    sample.add_relations()->set_edge_type(0);
    sample.mutable_relations(i)->set_num_targets(UINT32_MAX);
    sample.mutable_relations(i)->mutable_spec()->set_fanout(INT64_MAX);
  }
  CHECK(ReplyBytes(serving_.state(), sample) == INT64_MAX);
  sample.mutable_relations(0)->mutable_spec()->set_fanout(INT64_MIN);
  CHECK(ReplyBytes(serving_.state(), sample) > 0);
}

TEST_CASE_METHOD(ReplySizeTest, "what is not there has no size", "[reply_size]") {
  const int32_t nothing = GENERATE(-2, 99, INT32_MIN, INT32_MAX);
  proto::RowsRequest rows;
  rows.set_count(5);
  rows.set_column(nothing);
  CHECK(ReplyBytes(serving_.state(), rows) == 0);
  rows.set_column(0);
  rows.set_node_type(nothing);
  CHECK(ReplyBytes(serving_.state(), rows) == 0);
  proto::SampleRequest sample;
  sample.add_relations()->set_edge_type(nothing);
  CHECK(ReplyBytes(serving_.state(), sample) == 0);
  sample.mutable_relations(0)->set_edge_type(0);
  sample.mutable_relations(0)->set_num_targets(3);
  sample.mutable_relations(0)->mutable_spec()->set_fanout(-1);
  sample.set_shard(nothing);
  CHECK(ReplyBytes(serving_.state(), sample) == 12);
  proto::RankingRequest ranking;
  ranking.set_node_type(nothing);
  CHECK(ReplyBytes(serving_.state(), ranking) == 0);
}

}  // namespace
}  // namespace vicinity
