// Requests of proto/service.proto that are wrong, by what their fields can say and beyond.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>

#include "proto/common/random.h"

namespace vicinity::testing {

struct MutatedRequest {
  std::string method;
  std::string bytes;
  std::string what;  // for people
};

// Begins with requests that are right, for a graph of one shard, and changes up to six of their
// fields: extreme numbers, ids that are not there, doubled and unsorted ones, sizes that are no
// whole ids, many repeats, unknown fields. One in four is then damaged as bytes, too.
//
// Threads: one at a time. Order: depends on seed and stream alone.
class RequestMutator {
 public:
  RequestMutator(uint64_t seed, uint64_t stream, uint64_t fingerprint);
  MutatedRequest Next();

 private:
  void Mutate(google::protobuf::Message* message, int depth);
  void MutateField(google::protobuf::Message* message,
                   const google::protobuf::FieldDescriptor* field, int depth);
  std::string Ids();
  uint64_t Number();
  void Damage(std::string* bytes);

  NodeDraws random_;
  const uint64_t fingerprint_;
};

}  // namespace vicinity::testing
