#include "proto/bulk_fields.h"

#include <google/protobuf/descriptor.h>

#include <catch2/catch.hpp>
#include <set>

namespace vicinity {
namespace {

// The numbers of fields that the rule says are bulk arrays.
template <typename Message>
std::set<int> ByTheRule() {
  std::set<int> numbers;
  bool has_higher = false;
  const google::protobuf::Descriptor* type = Message::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = type->field(i);
    has_higher |= field->number() > kLastBulkField;
    if (field->number() < kFirstBulkField || field->number() > kLastBulkField) continue;
    CHECK(field->type() == google::protobuf::FieldDescriptor::TYPE_BYTES);
    CHECK_FALSE(field->is_repeated());
    numbers.insert(field->number());
  }
  CHECK((numbers.empty() || !has_higher));
  return numbers;
}

template <typename Message>
void CheckList() {
  CAPTURE(Message::descriptor()->name());
  Message message;
  std::set<int> listed;
  int last = 0;
  for (const BulkField& field : BulkFields(&message)) {
    CHECK(field.number > last);
    last = field.number;
    listed.insert(field.number);
    *field.bytes = "12";
  }
  CHECK(listed == ByTheRule<Message>());
  CHECK(BulkBytes(message) == static_cast<int64_t>(2 * listed.size()));
}

TEST_CASE("every message lists its fields from 13 to 31, and those are bytes", "[bulk_fields]") {
  CheckList<proto::HelloRequest>();
  CheckList<proto::HelloReply>();
  CheckList<proto::DescribeRequest>();
  CheckList<proto::DescribeReply>();
  CheckList<proto::SampleRequest>();
  CheckList<proto::SampleChunk>();
  CheckList<proto::RowsRequest>();
  CheckList<proto::RowsChunk>();
  CheckList<proto::RaggedRequest>();
  CheckList<proto::RaggedChunk>();
  CheckList<proto::FindRequest>();
  CheckList<proto::FindChunk>();
  CheckList<proto::ResolveRequest>();
  CheckList<proto::ResolveReply>();
  CheckList<proto::RankingRequest>();
  CheckList<proto::RankingChunk>();
  CheckList<proto::StatusRequest>();
  CheckList<proto::StatusReply>();
}

}  // namespace
}  // namespace vicinity
