// Which fields of service.proto's messages are bulk arrays.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace vicinity {

// A `bytes` field with a number from the first to the last is one. No other field has such a
// number, in any message: who reads a message takes what has one for bulk (proto/sliced_message.h).
// In a message that has any, no other field has a higher one.
inline constexpr int kFirstBulkField = 13;
inline constexpr int kLastBulkField = 31;

struct BulkField {
  int number;
  std::string* bytes;
};

// Those of a message, by rising number.
inline std::vector<BulkField> BulkFields(proto::SampleRequest* message) {
  return {{proto::SampleRequest::kTreesFieldNumber, message->mutable_trees()},
          {proto::SampleRequest::kTargetsFieldNumber, message->mutable_targets()}};
}
inline std::vector<BulkField> BulkFields(proto::SampleChunk* message) {
  return {{proto::SampleChunk::kCountsFieldNumber, message->mutable_counts()},
          {proto::SampleChunk::kEdgeIdsFieldNumber, message->mutable_edge_ids()},
          {proto::SampleChunk::kSourcesFieldNumber, message->mutable_sources()},
          {proto::SampleChunk::kEdgePositionsFieldNumber, message->mutable_edge_positions()}};
}
inline std::vector<BulkField> BulkFields(proto::RowsRequest* message) {
  return {{proto::RowsRequest::kRowsFieldNumber, message->mutable_rows()}};
}
inline std::vector<BulkField> BulkFields(proto::RowsChunk* message) {
  return {{proto::RowsChunk::kRowsFieldNumber, message->mutable_rows()}};
}
inline std::vector<BulkField> BulkFields(proto::NamesRequest* message) {
  return {{proto::NamesRequest::kRowsFieldNumber, message->mutable_rows()}};
}
inline std::vector<BulkField> BulkFields(proto::ResolveRequest* message) {
  return {{proto::ResolveRequest::kKeysFieldNumber, message->mutable_keys()}};
}
inline std::vector<BulkField> BulkFields(proto::ResolveReply* message) {
  return {{proto::ResolveReply::kGlobalIdsFieldNumber, message->mutable_global_ids()}};
}
inline std::vector<BulkField> BulkFields(proto::RankingChunk* message) {
  return {{proto::RankingChunk::kGlobalIdsFieldNumber, message->mutable_global_ids()},
          {proto::RankingChunk::kProbabilitiesFieldNumber, message->mutable_probabilities()}};
}
template <typename Message>
std::vector<BulkField> BulkFields(Message*) {
  return {};
}

// Bytes in those of any message.
inline int64_t BulkBytes(const google::protobuf::Message& message) {
  const google::protobuf::Descriptor* type = message.GetDescriptor();
  int64_t bytes = 0;
  std::string unused;
  for (int i = 0; i < type->field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *type->field(i);
    if (field.type() != google::protobuf::FieldDescriptor::TYPE_BYTES) continue;
    if (field.number() < kFirstBulkField || field.number() > kLastBulkField) continue;
    bytes += static_cast<int64_t>(
        message.GetReflection()->GetStringReference(message, type->field(i), &unused).size());
  }
  return bytes;
}

}  // namespace vicinity
