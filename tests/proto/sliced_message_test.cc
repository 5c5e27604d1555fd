#include "proto/sliced_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/bulk_fields.h"
#include "proto/service.pb.h"

namespace vicinity {
namespace {

proto::SampleChunk Chunk() {
  proto::SampleChunk chunk;
  chunk.set_relation(3);
  chunk.set_more(true);
  chunk.set_checksum(~uint64_t{0});
  chunk.set_counts("abcdefgh");
  chunk.set_sources(std::string(1000, 's') + "end");
  return chunk;
}

std::string Flat(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  REQUIRE(buffer.Dump(&slices).ok());
  std::string flat;
  for (const grpc::Slice& slice : slices) {
    flat.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return flat;
}

grpc::ByteBuffer InPieces(const std::string& bytes, size_t piece) {
  std::vector<grpc::Slice> slices;
  for (size_t i = 0; i < bytes.size(); i += piece) slices.emplace_back(bytes.substr(i, piece));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string Copied(const SlicedBytes& bytes) {
  std::string copy(bytes.size(), '-');
  bytes.CopyTo(&copy[0]);
  return copy;
}

TEST_CASE("a packed message is what protobuf itself writes", "[sliced_message]") {
  proto::SampleChunk chunk = Chunk();
  const std::string expected = chunk.SerializeAsString();
  CHECK(Flat(PackMessage(&chunk, BulkFields(&chunk))) == expected);
  CHECK(chunk.sources().empty());
  proto::HelloReply plain;
  plain.set_dataset("d");
  CHECK(Flat(PackMessage(&plain, BulkFields(&plain))) == plain.SerializeAsString());
  proto::RowsChunk nothing;
  CHECK(Flat(PackMessage(&nothing, BulkFields(&nothing))).empty());
}

TEST_CASE("a bulk field's bytes are sent from where they lie", "[sliced_message]") {
  proto::RowsChunk chunk;
  chunk.set_rows(std::string(1 << 20, 'r'));
  const char* const at = chunk.rows().data();
  const grpc::ByteBuffer buffer = PackMessage(&chunk, BulkFields(&chunk));
  std::vector<grpc::Slice> slices;
  REQUIRE(buffer.Dump(&slices).ok());
  REQUIRE(slices.size() == 2);
  CHECK(reinterpret_cast<const char*>(slices[1].begin()) == at);
}

TEST_CASE("a message is read however it is cut", "[sliced_message]") {
  const proto::SampleChunk chunk = Chunk();
  const std::string wire = chunk.SerializeAsString();
  for (size_t piece = 1; piece <= wire.size(); piece += piece < 30 ? 1 : 97) {
    CAPTURE(piece);
    grpc::ByteBuffer buffer = InPieces(wire, piece);
    proto::SampleChunk small;
    SlicedMessage message;
    REQUIRE(message.Parse(&buffer, &small));
    CHECK(small.relation() == 3);
    CHECK(small.more());
    CHECK(small.sources().empty());
    CHECK(Copied(message[proto::SampleChunk::kCountsFieldNumber]) == chunk.counts());
    CHECK(Copied(message[proto::SampleChunk::kSourcesFieldNumber]) == chunk.sources());
    CHECK(message[proto::SampleChunk::kEdgeIdsFieldNumber].empty());
    CHECK(message.BulkBytes() == 1011);
    CHECK(ReplyChecksum(1, small, message.Sums()) == ReplyChecksum(1, chunk));
    SlicedBytes::Cursor cursor(message[proto::SampleChunk::kSourcesFieldNumber]);
    std::string read(1003, '-');
    for (size_t at = 0; at < read.size(); at += 17) {
      cursor.Read(&read[at], std::min<size_t>(17, read.size() - at));
    }
    CHECK(read == chunk.sources());
  }
}

TEST_CASE("fields in another order, twice or unknown are read as protobuf reads them",
          "[sliced_message]") {
  proto::RowsChunk rows;
  rows.set_rows("old");
  proto::RowsChunk again;
  again.set_rows("new");
  proto::RowsChunk first;
  first.set_first(9);
  proto::HelloReply other;
  other.set_server("a field that rows do not have");
  const std::string wire = rows.SerializeAsString() + first.SerializeAsString() +
                           other.SerializeAsString() + again.SerializeAsString();
  grpc::ByteBuffer buffer = InPieces(wire, 5);
  proto::RowsChunk small;
  SlicedMessage message;
  REQUIRE(message.Parse(&buffer, &small));
  CHECK(small.first() == 9);
  CHECK(Copied(message[proto::RowsChunk::kRowsFieldNumber]) == "new");
}

TEST_CASE("a message of countless unknown fields is read in one pass", "[sliced_message]") {
  std::string wire;
  google::protobuf::io::StringOutputStream out(&wire);
  {
    google::protobuf::io::CodedOutputStream to(&out);
    for (uint32_t field = kLastBulkField + 1; field < 1'000'000; ++field) {
      to.WriteTag(field << 3 | 2);  // all different, each of no bytes
      to.WriteVarint32(0);
    }
  }
  proto::RowsChunk rows;
  rows.set_rows("r");
  wire += rows.SerializeAsString();
  grpc::ByteBuffer buffer = InPieces(wire, 1 << 20);
  proto::RowsChunk small;
  SlicedMessage message;
  REQUIRE(message.Parse(&buffer, &small));  // within the test's time: seconds, not hours
  CHECK(message.Sums().size() == 1);
  CHECK(Copied(message[proto::RowsChunk::kRowsFieldNumber]) == "r");
}

TEST_CASE("what is no message is refused, whatever it is", "[sliced_message]") {
  const std::string wire = Chunk().SerializeAsString();
  for (size_t size = 1; size < wire.size(); ++size) {
    grpc::ByteBuffer buffer = InPieces(wire.substr(0, size), 7);
    proto::SampleChunk small;
    SlicedMessage message;
    proto::SampleChunk whole;
    CAPTURE(size);
    CHECK(message.Parse(&buffer, &small) == whole.ParseFromString(wire.substr(0, size)));
  }
  for (const std::string& bytes : {std::string("\x7a\xff\xff\xff\xff\xff", 6), std::string(1, 0),
                                   std::string("\x0c"), std::string(20, '\xff')}) {
    grpc::ByteBuffer buffer = InPieces(bytes, 3);
    proto::SampleChunk small;
    SlicedMessage message;
    CHECK_FALSE(message.Parse(&buffer, &small));
  }
  grpc::ByteBuffer none;
  proto::SampleChunk small;
  SlicedMessage message;
  CHECK_FALSE(message.Parse(&none, &small));
}

}  // namespace
}  // namespace vicinity
