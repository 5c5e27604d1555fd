#include "proto/wire_checksum.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/common/checksum.h"
#include "proto/schema.pb.h"
#include "proto/service.pb.h"

namespace vicinity {
namespace {

// The words as service.proto says, written out by hand.
struct Words {
  std::vector<uint64_t> words;
  Words& Add(uint64_t word) {
    words.push_back(word);
    return *this;
  }
  Words& Bytes(std::string_view bytes) { return Add(bytes.size()).Add(Checksum(bytes)); }
  uint64_t Sum() const {
    return Checksum({reinterpret_cast<const char*>(words.data()), words.size() * 8});
  }
};

proto::SampleRequest Sample() {
  proto::SampleRequest request;
  request.set_fingerprint(11);
  request.set_shard(2);
  request.mutable_draw()->set_run_seed(3);
  request.mutable_draw()->set_batch(5);
  request.set_want_edge_ids(true);
  proto::SampleRequest::Relation* relation = request.add_relations();
  relation->set_edge_type(6);
  relation->mutable_spec()->set_fanout(-1);
  relation->set_num_targets(1);
  request.set_targets("12345678");
  request.set_checksum(99);  // counts for nothing
  return request;
}

TEST_CASE("a request's checksum is that of its method and its words", "[wire_checksum]") {
  CHECK(RequestChecksum("SampleNeighbors", Sample()) ==
        Words()
            .Bytes("SampleNeighbors")
            .Add(11)
            .Add(2)
            .Add(3)
            .Add(0)
            .Add(5)
            .Add(0)  // the draw's hop
            .Add(1)  // edge ids
            .Add(1)  // one relation
            .Add(6)
            .Add(UINT64_MAX)
            .Add(0)  // not replaced
            .Add(0)  // not weighted
            .Add(0)  // at any time
            .Add(0)  // by chance
            .Add(0)  // any edges
            .Add(0)  // each target for itself
            .Add(0)
            .Add(0)
            .Add(0)
            .Add(1)
            .Add(0)  // no excluded edges
            .Add(0)
            .Add(0)  // no edge positions
            .Add(0)  // no edge times
            .Add(0)  // at no version
            .Add(0)  // nor exactly at one
            .Add(0)  // nor of a term
            .Add(0)
            .Bytes("")  // no excluded edges' targets
            .Bytes("")  // no trees
            .Bytes("12345678")
            .Bytes("")  // no excluded edges' sources
            .Bytes("")  // no times, neither latest
            .Bytes("")  // nor earliest
            .Sum());
  proto::RowsRequest rows;
  rows.set_column(-1);
  rows.set_precision(proto::PRECISION_BFLOAT16);
  CHECK(RequestChecksum("FetchRows", rows) == Words()
                                                  .Bytes("FetchRows")
                                                  .Add(0)
                                                  .Add(0)
                                                  .Add(0)
                                                  .Add(UINT64_MAX)
                                                  .Add(0)
                                                  .Add(0)
                                                  .Add(2)
                                                  .Add(0)  // not of edges
                                                  .Add(0)  // at no version
                                                  .Add(0)  // nor exactly at one
                                                  .Add(0)  // nor of a term
                                                  .Add(0)
                                                  .Bytes("")
                                                  .Sum());
  proto::FindRequest find;
  find.set_of_edges(true);
  find.set_count(9);
  CHECK(RequestChecksum("FindRows", find) == Words()
                                                 .Bytes("FindRows")
                                                 .Add(0)
                                                 .Add(0)
                                                 .Add(0)
                                                 .Add(1)
                                                 .Add(0)
                                                 .Add(9)
                                                 .Add(0)  // a condition without terms
                                                 .Add(0)  // at no version
                                                 .Add(0)  // nor exactly at one
                                                 .Add(0)  // nor of a term
                                                 .Add(0)
                                                 .Sum());
  // A message that is not there is as one that is empty.
  CHECK(RequestChecksum("SampleNeighbors", proto::SampleRequest()) == [] {
    proto::SampleRequest request;
    request.mutable_draw();
    return RequestChecksum("SampleNeighbors", request);
  }());
}

TEST_CASE("a reply's checksum is that of the question and its words", "[wire_checksum]") {
  proto::RaggedChunk chunk;
  chunk.set_first(7);
  chunk.set_lengths("length");
  chunk.set_rows("");
  chunk.set_checksum(1);
  CHECK(ReplyChecksum(42, chunk) ==
        Words().Add(42).Add(7).Add(0).Add(0).Bytes("length").Bytes("").Sum());
  proto::MethodStatus status;
  status.set_method("x");
  status.set_busy_seconds(1.5);
  CHECK(ReplyChecksum(1, status) ==
        Words().Add(1).Bytes("x").Add(0).Add(0).Add(0).Add(0x3ff8000000000000).Add(0).Add(0).Sum());
}

TEST_CASE("every number of a batch of changes counts, and how many there are", "[wire_checksum]") {
  proto::ApplyRequest request;
  proto::NewEdges* const edges = request.mutable_batch()->add_new_edges();
  for (const uint64_t id : {uint64_t{5}, UINT64_MAX}) {
    edges->add_sources(id);
    edges->add_targets(id - 1);
  }
  CHECK(RequestChecksum("Apply", request) == Words()
                                                 .Bytes("Apply")
                                                 .Add(0)
                                                 .Add(0)
                                                 .Bytes("")  // the session
                                                 .Add(0)
                                                 .Add(0)  // no new nodes
                                                 .Add(1)  // a part of new edges
                                                 .Add(0)
                                                 .Add(2)
                                                 .Add(5)
                                                 .Add(UINT64_MAX)
                                                 .Add(2)
                                                 .Add(4)
                                                 .Add(UINT64_MAX - 1)
                                                 .Add(0)  // no columns
                                                 .Add(0)  // no rows, ragged rows, rows of edges
                                                 .Add(0)
                                                 .Add(0)
                                                 .Add(0)  // nothing goes
                                                 .Add(0)
                                                 .Add(0)
                                                 .Add(0)  // on disk
                                                 .Sum());
}

TEST_CASE("bytes beside a message count as if they were in it", "[wire_checksum]") {
  const std::string rows(1000, 'r');
  proto::RowsChunk chunk;
  chunk.set_first(3);
  const uint64_t beside =
      ReplyChecksum(8, chunk, {{proto::RowsChunk::kRowsFieldNumber, 1000, Checksum(rows)}});
  chunk.set_rows(rows);
  CHECK(ReplyChecksum(8, chunk) == beside);
}

TEST_CASE("no flipped bit of a message keeps its checksum", "[wire_checksum]") {
  const proto::SampleRequest request = Sample();
  const uint64_t sum = RequestChecksum("SampleNeighbors", request);
  const std::string good = request.SerializeAsString();
  int parsed = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    proto::SampleRequest damaged;
    if (!damaged.ParseFromString(bad)) continue;
    damaged.DiscardUnknownFields();
    if (damaged.SerializeAsString() == good) continue;  // true by another number, say
    ++parsed;
    CAPTURE(bit);
    CHECK((damaged.checksum() != 99 || RequestChecksum("SampleNeighbors", damaged) != sum));
  }
  CHECK(parsed > 100);
}

TEST_CASE("the same fields asked of another method are another question", "[wire_checksum]") {
  proto::DegreesRequest degrees;
  proto::ResolveRequest keys;
  for (const std::string method : {"FetchDegrees", "ResolveKeys"}) {
    CHECK(RequestChecksum(method, degrees) == RequestChecksum(method, keys));
  }
  CHECK(RequestChecksum("FetchDegrees", degrees) != RequestChecksum("ResolveKeys", keys));
}

TEST_CASE("a schema's every part counts", "[wire_checksum]") {
  proto::DescribeReply reply;
  std::set<uint64_t> sums = {ReplyChecksum(0, reply)};
  proto::NodeType* type = reply.mutable_schema()->add_node_types();
  sums.insert(ReplyChecksum(0, reply));
  type->set_id_kind(proto::STRING);
  sums.insert(ReplyChecksum(0, reply));
  proto::Column* column = type->add_columns();
  column->set_name("x");
  sums.insert(ReplyChecksum(0, reply));
  column->add_shape(-3);
  sums.insert(ReplyChecksum(0, reply));
  column->set_of_source("y");
  sums.insert(ReplyChecksum(0, reply));
  reply.mutable_book()->add_node_types()->add_begins(9);
  sums.insert(ReplyChecksum(0, reply));
  reply.add_rankings()->set_replace(true);
  sums.insert(ReplyChecksum(0, reply));
  CHECK(sums.size() == 8);
}

}  // namespace
}  // namespace vicinity
