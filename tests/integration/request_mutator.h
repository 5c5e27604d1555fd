// Requests that are wrong, by what their fields can say and beyond: of every service.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/common/random.h"

namespace vicinity::testing {

struct HostileMethod {
  std::string path;                                    // "/vicinity.proto.Graph/Hello"
  const google::protobuf::Message* request = nullptr;  // an empty one, which lives for ever
};

// Those of proto/service.proto.
std::vector<HostileMethod> GraphMethods();
// Of every service that a server has on any port, but Drain, which is meant to end it; and some
// that no server has.
std::vector<HostileMethod> AllMethods();

struct MutatedRequest {
  std::string path;
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
  RequestMutator(uint64_t seed, uint64_t stream, uint64_t fingerprint,
                 std::vector<HostileMethod> methods = GraphMethods());
  MutatedRequest Next();

 private:
  void Mutate(google::protobuf::Message* message, int depth);
  void MutateField(google::protobuf::Message* message,
                   const google::protobuf::FieldDescriptor* field, int depth);
  std::string Ids();
  std::string Word(uint64_t number);
  uint64_t Number();
  void Damage(std::string* bytes);

  NodeDraws random_;
  const uint64_t fingerprint_;
  const std::vector<HostileMethod> methods_;
};

}  // namespace vicinity::testing
