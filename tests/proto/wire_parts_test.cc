#include "proto/wire_parts.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/common/random.h"
#include "proto/service.pb.h"
#include "tests/proto/parsed_parts.h"

namespace vicinity {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using testing::ParsedParts;

constexpr WireParts kAny = {INT64_MAX, INT64_MAX};

// In pieces of `piece` bytes.
std::optional<WireParts> Count(const std::string& bytes, const Message& kind,
                               const WireParts& most = kAny, int piece = -1) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()),
                                                piece);
  return CountWireParts(*kind.GetDescriptor(), static_cast<int64_t>(bytes.size()), most, &stream);
}

proto::SampleRequest Request(int relations, int terms, int numbers) {
  proto::SampleRequest request;
  request.set_fingerprint(~uint64_t{0});
  request.mutable_draw()->set_hop(1);
  request.set_targets(std::string(1'000, '\x0a'));
  for (int i = 0; i < relations; ++i) {
    proto::Condition* const where = request.add_relations()->mutable_spec()->mutable_where();
    for (int j = 0; j < terms; ++j) {
      proto::Condition::Term* const term = where->add_terms();
      for (int k = 0; k < numbers; ++k) term->add_whole(k - 1'000'000);
      term->add_real(0.5);
    }
  }
  return request;
}

// Fills about half of the fields, repeated ones up to three times, and adds unknown ones.
void Fill(NodeDraws* random, int depth, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message->GetDescriptor()->field(i);
    const auto count = static_cast<int>(random->Below(field->is_repeated() ? 4 : 2));
    for (int k = 0; k < count; ++k) {
      const bool again = field->is_repeated();
      const std::string text(random->Below(9), 'x');
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          if (depth == 0) break;
          Fill(random, depth - 1,
               again ? reflection.AddMessage(message, field)
                     : reflection.MutableMessage(message, field));
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          again ? reflection.AddString(message, field, text)
                : reflection.SetString(message, field, text);
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          if (again) reflection.AddInt32(message, field, -static_cast<int>(random->Below(300)));
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          if (again) reflection.AddInt64(message, field, -static_cast<int>(random->Below(300)));
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          if (again) reflection.AddDouble(message, field, 0.5);
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          if (!again) reflection.SetUInt64(message, field, random->Below(1 << 20));
          break;
        default:
          break;
      }
    }
  }
  google::protobuf::UnknownFieldSet* unknown = reflection.MutableUnknownFields(message);
  if (random->Below(4) == 0) unknown->AddVarint(1'000, random->Below(1 << 20));
  if (random->Below(4) == 0) unknown->AddLengthDelimited(1'001)->assign("text");
  if (random->Below(4) == 0) unknown->AddFixed32(1'002, 7);
  if (random->Below(4) == 0) unknown->AddGroup(1'003)->AddGroup(2)->AddFixed64(3, 8);
}

std::vector<const Message*> Kinds() {
  return {&proto::SampleRequest::default_instance(), &proto::FindRequest::default_instance(),
          &proto::WalkRequest::default_instance(),   &proto::RankingRequest::default_instance(),
          &proto::DescribeReply::default_instance(), &proto::StatusReply::default_instance()};
}

TEST_CASE("messages within a message are counted, and numbers in lists apart", "[wire_parts]") {
  const proto::SampleRequest request = Request(3, 2, 5);
  const std::optional<WireParts> found = Count(request.SerializeAsString(), request);
  REQUIRE(found.has_value());
  CHECK(found->parts == 1 + 3 * (3 + 2));  // the draw; relation, spec, condition, terms
  CHECK(found->numbers == 3 * 2 * (5 + 1));
  const std::optional<WireParts> none = Count("", request);
  REQUIRE(none.has_value());
  CHECK(none->parts + none->numbers == 0);
}

TEST_CASE("counts of bytes are those of the message that protobuf makes of them", "[wire_parts]") {
  NodeDraws random(7, 0);
  for (int i = 0; i < 3'000; ++i) {
    for (const Message* const kind : Kinds()) {
      const std::unique_ptr<Message> message(kind->New());
      Fill(&random, 4, message.get());
      const std::string bytes = message->SerializeAsString();
      const std::optional<WireParts> found =
          Count(bytes, *kind, kAny, 1 + static_cast<int>(random.Below(40)));
      REQUIRE(found.has_value());
      const WireParts expected = ParsedParts(*message);
      REQUIRE(found->parts == expected.parts);
      REQUIRE(found->numbers == expected.numbers);
    }
  }
}

TEST_CASE("what protobuf reads of damaged bytes is counted, all that it keeps of them",
          "[wire_parts]") {
  NodeDraws random(8, 0);
  const google::protobuf::LogSilencer quiet;  // of texts that are no UTF-8
  int64_t num_read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Message& kind = *Kinds()[random.Below(Kinds().size())];
    const std::unique_ptr<Message> message(kind.New());
    Fill(&random, 4, message.get());
    std::string bytes = message->SerializeAsString();
    if (bytes.empty()) continue;
    for (uint64_t k = random.Below(4); k > 0; --k) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Next32());
    }
    message->Clear();
    if (!message->ParseFromString(bytes)) continue;
    ++num_read;
    const std::optional<WireParts> found = Count(bytes, kind, kAny, 16);
    REQUIRE(found.has_value());
    const WireParts kept = ParsedParts(*message);
    REQUIRE(found->parts >= kept.parts);
    REQUIRE(found->numbers >= kept.numbers);
  }
  CHECK(num_read > 5'000);
}

TEST_CASE("counting ends at the first part too many", "[wire_parts]") {
  const proto::SampleRequest request = Request(3, 100, 5);
  const std::string bytes = request.SerializeAsString();
  CHECK(Count(bytes, request, {308, INT64_MAX})->parts == 309);
  CHECK(Count(bytes, request, {310, INT64_MAX})->parts == 310);
  CHECK(Count(bytes, request, {INT64_MAX, 100})->numbers == 101);
  CHECK(Count(bytes, request, {INT64_MAX, 1'800})->numbers == 1'800);
}

TEST_CASE("a message that says to be longer than what it is in is none", "[wire_parts]") {
  // protobuf reads on behind the end of the outer one, and makes what it finds there, before it
  // sees that.
  const proto::SampleRequest kind;
  const std::string outer("\x32\x02\x12\x7f", 4);  // a relation of 2 bytes, a spec of 127
  CHECK(!Count(outer + std::string(127, '\x32'), kind).has_value());
  CHECK(!Count(std::string("\x32\x05", 2), kind).has_value());
}

TEST_CASE("groups that are too deep, without an end, or end another are no message",
          "[wire_parts]") {
  const proto::SampleRequest kind;
  const std::string begin("\xc3\x3e", 2);  // of group 1000
  const std::string end("\xc4\x3e", 2);
  CHECK(Count(begin + begin + end + end, kind)->parts == 2);
  CHECK(!Count(begin, kind).has_value());
  CHECK(!Count(end, kind).has_value());
  CHECK(!Count(begin + std::string("\xcc\x3e", 2), kind).has_value());
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += begin;
  CHECK(!Count(deep, kind).has_value());
}

}  // namespace
}  // namespace vicinity
