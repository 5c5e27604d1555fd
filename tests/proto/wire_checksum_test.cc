#include "proto/wire_checksum.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
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
  Words& Field(int number, uint64_t value) { return Add(number).Add(value); }
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
            .Field(proto::SampleRequest::kFingerprintFieldNumber, 11)
            .Field(proto::SampleRequest::kShardFieldNumber, 2)
            .Add(proto::SampleRequest::kDrawFieldNumber)
            .Field(proto::Draw::kRunSeedFieldNumber, 3)
            .Field(proto::Draw::kBatchFieldNumber, 5)
            .Add(0)  // the draw's end
            .Field(proto::SampleRequest::kWantEdgeIdsFieldNumber, 1)
            .Field(proto::SampleRequest::kRelationsFieldNumber, 1)  // one
            .Field(proto::SampleRequest::Relation::kEdgeTypeFieldNumber, 6)
            .Add(proto::SampleRequest::Relation::kSpecFieldNumber)
            .Field(proto::DrawSpec::kFanoutFieldNumber, UINT64_MAX)
            .Add(0)  // the spec's end
            .Field(proto::SampleRequest::Relation::kNumTargetsFieldNumber, 1)
            .Add(0)  // the relation's end
            .Add(proto::SampleRequest::kTargetsFieldNumber)
            .Bytes("12345678")
            .Sum());
  proto::RowsRequest rows;
  rows.set_column(-1);
  rows.set_precision(proto::PRECISION_BFLOAT16);
  CHECK(RequestChecksum("FetchRows", rows) ==
        Words()
            .Bytes("FetchRows")
            .Field(proto::RowsRequest::kColumnFieldNumber, UINT64_MAX)
            .Field(proto::RowsRequest::kPrecisionFieldNumber, 2)
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
  CHECK(ReplyChecksum(42, chunk) == Words()
                                        .Add(42)
                                        .Field(proto::RaggedChunk::kFirstFieldNumber, 7)
                                        .Add(proto::RaggedChunk::kLengthsFieldNumber)
                                        .Bytes("length")
                                        .Sum());
  proto::MethodStatus status;
  status.set_method("x");
  status.set_busy_seconds(1.5);
  CHECK(ReplyChecksum(1, status) ==
        Words()
            .Add(1)
            .Add(proto::MethodStatus::kMethodFieldNumber)
            .Bytes("x")
            .Field(proto::MethodStatus::kBusySecondsFieldNumber, 0x3ff8000000000000)
            .Sum());
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
                                                 .Add(proto::ApplyRequest::kBatchFieldNumber)
                                                 .Field(proto::WriteBatch::kNewEdgesFieldNumber, 1)
                                                 .Field(proto::NewEdges::kSourcesFieldNumber, 2)
                                                 .Add(5)
                                                 .Add(UINT64_MAX)
                                                 .Field(proto::NewEdges::kTargetsFieldNumber, 2)
                                                 .Add(4)
                                                 .Add(UINT64_MAX - 1)
                                                 .Add(0)  // the part's end
                                                 .Add(0)  // the batch's end
                                                 .Sum());
}

// A message type as a version knows it, with fields 1 to `fields`: a number, a text, a list, a
// message and bytes.
class Version {
 public:
  explicit Version(int fields) {
    using google::protobuf::FieldDescriptorProto;
    google::protobuf::FileDescriptorProto file;
    file.set_name("m.proto");
    file.set_syntax("proto3");
    google::protobuf::DescriptorProto* const type = file.add_message_type();
    type->set_name("M");
    const std::vector<FieldDescriptorProto::Type> types = {
        FieldDescriptorProto::TYPE_INT64, FieldDescriptorProto::TYPE_STRING,
        FieldDescriptorProto::TYPE_UINT64, FieldDescriptorProto::TYPE_MESSAGE,
        FieldDescriptorProto::TYPE_BYTES};
    for (int number = 1; number <= fields; ++number) {
      FieldDescriptorProto* const field = type->add_field();
      field->set_name("f" + std::to_string(number));
      field->set_number(number);
      field->set_type(types[number - 1]);
      field->set_label(number == 3 ? FieldDescriptorProto::LABEL_REPEATED
                                   : FieldDescriptorProto::LABEL_OPTIONAL);
      if (number == 4) field->set_type_name(".M");
    }
    message_.reset(factory_.GetPrototype(pool_.BuildFile(file)->message_type(0))->New());
  }
  // Of what comes over the wire.
  uint64_t Sum(const std::string& bytes) {
    REQUIRE(message_->ParseFromString(bytes));
    return ReplyChecksum(1, *message_);
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_{&pool_};
  std::unique_ptr<google::protobuf::Message> message_;
};

TEST_CASE("who does not know a field has the same checksum while that holds its default",
          "[wire_checksum]") {
  const std::string known("\x08\x05\x12\x01x", 5);  // f1 is 5, f2 "x"
  const uint64_t sum = Version(2).Sum(known);
  for (int fields = 3; fields <= 5; ++fields) CHECK(Version(fields).Sum(known) == sum);
  CHECK(Version(5).Sum(known + std::string("\x22\x00", 2)) == sum);  // f4 says nothing
  std::set<uint64_t> sums = {sum};
  for (const std::string& more : {std::string("\x1a\x01\x00", 3), std::string("\x2a\x01\x00", 3),
                                  std::string("\x22\x02\x08\x05", 4)}) {
    sums.insert(Version(5).Sum(known + more));
  }
  CHECK(sums.size() == 4);
}

TEST_CASE("a hint is in no checksum, so that who does not know it has the same one",
          "[wire_checksum]") {
  proto::HelloReply with;
  with.set_server("a");
  const proto::HelloReply without = with;
  with.set_bulk(true);
  CHECK(ReplyChecksum(5, with) == ReplyChecksum(5, without));
}

TEST_CASE("what ends in a message and what comes after it are told apart", "[wire_checksum]") {
  // f4 {f4 {f1}} f5, and f4 {f4 {f1} f5}: the same fields in the same order.
  const std::string after("\x22\x04\x22\x02\x08\x05\x2a\x01x", 9);
  const std::string within("\x22\x07\x22\x02\x08\x05\x2a\x01x", 9);
  CHECK(Version(5).Sum(after) != Version(5).Sum(within));
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
