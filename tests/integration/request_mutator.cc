#include "tests/integration/request_mutator.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "proto/admin.pb.h"
#include "proto/health.pb.h"
#include "proto/reflection.pb.h"
#include "proto/service.pb.h"

namespace vicinity::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMostDepth = 3;

void AddMethods(const google::protobuf::FileDescriptor& file, const std::string& service,
                std::vector<HostileMethod>* methods) {
  const google::protobuf::ServiceDescriptor& found = *file.FindServiceByName(service);
  for (int i = 0; i < found.method_count(); ++i) {
    methods->push_back({"/" + found.full_name() + "/" + found.method(i)->name(),
                        google::protobuf::MessageFactory::generated_factory()->GetPrototype(
                            found.method(i)->input_type())});
  }
}

}  // namespace

std::vector<HostileMethod> GraphMethods() {
  std::vector<HostileMethod> methods;
  AddMethods(*vicinity::proto::StatusRequest::descriptor()->file(), "Graph", &methods);
  return methods;
}

std::vector<HostileMethod> AllMethods() {
  std::vector<HostileMethod> methods = GraphMethods();
  AddMethods(*vicinity::proto::DrainRequest::descriptor()->file(), "Admin", &methods);
  const auto drains = [](const HostileMethod& method) {
    return method.request == &vicinity::proto::DrainRequest::default_instance();
  };
  methods.erase(std::remove_if(methods.begin(), methods.end(), drains), methods.end());
  AddMethods(*grpc::health::v1::HealthCheckRequest::descriptor()->file(), "Health", &methods);
  const auto* const reflection =
      &grpc::reflection::v1alpha::ServerReflectionRequest::default_instance();
  for (const char* const path : {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                 "/vicinity.proto.Graph/Nothing", "/no.such.Service/Method", "/"}) {
    methods.push_back({path, reflection});
  }
  return methods;
}

RequestMutator::RequestMutator(uint64_t seed, uint64_t stream, uint64_t fingerprint,
                               std::vector<HostileMethod> methods)
    : random_(seed, stream), fingerprint_(fingerprint), methods_(std::move(methods)) {}

// What some field of some service may take, or very nearly; or a long one.
std::string RequestMutator::Word(uint64_t number) {
  static const char* const kWords[] = {"info",
                                       "error",
                                       "vicinity.proto.Graph",
                                       "grpc.health.v1.Health",
                                       "vicinity.proto.RowsRequest",
                                       "proto/service.proto",
                                       "../../etc/passwd",
                                       "*"};
  if (random_.Below(3) == 0) return kWords[random_.Below(std::size(kWords))];
  // What is no UTF-8 comes of damage: protobuf would complain of it at length.
  return std::string(number % 5000, static_cast<char>(number % 128));
}

uint64_t RequestMutator::Number() {
  static constexpr std::array<uint64_t, 14> kExtremes = {0,
                                                         1,
                                                         2,
                                                         7,
                                                         8,
                                                         1000,
                                                         1 << 20,
                                                         INT32_MAX,
                                                         uint64_t{1} << 31,
                                                         UINT32_MAX,
                                                         uint64_t{1} << 32,
                                                         INT64_MAX,
                                                         uint64_t{1} << 63,
                                                         UINT64_MAX};
  return random_.Below(3) == 0 ? random_.Next64() : kExtremes[random_.Below(kExtremes.size())];
}

std::string RequestMutator::Ids() {
  static constexpr std::array<uint64_t, 8> kCounts = {0, 1, 2, 10, 100, 1000, 1000, 20'000};
  std::string ids;
  const uint64_t count = kCounts[random_.Below(kCounts.size())];
  const bool wild = random_.Below(3) == 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t id = wild ? Number() : random_.Below(20'000);
    ids.append(reinterpret_cast<const char*>(&id), sizeof(id));
  }
  if (random_.Below(4) == 0) ids.append(random_.Below(8), 'x');
  return ids;
}

void RequestMutator::MutateField(Message* message, const FieldDescriptor* field, int depth) {
  const Reflection& reflection = *message->GetReflection();
  const bool repeated = field->is_repeated();
  if (repeated && random_.Below(4) == 0) return reflection.ClearField(message, field);
  const uint64_t times = !repeated ? 1 : random_.Below(20) == 0 ? 2000 : random_.Below(4);
  for (uint64_t i = 0; i < times; ++i) {
    const uint64_t number = Number();
    switch (field->cpp_type()) {
#define VICINITY_SET(Type, value)                  \
  if (repeated) {                                  \
    reflection.Add##Type(message, field, (value)); \
  } else {                                         \
    reflection.Set##Type(message, field, (value)); \
  }                                                \
  break
      case FieldDescriptor::CPPTYPE_INT32:
        VICINITY_SET(Int32, static_cast<int32_t>(number));
      case FieldDescriptor::CPPTYPE_INT64:
        VICINITY_SET(Int64, static_cast<int64_t>(number));
      case FieldDescriptor::CPPTYPE_UINT32:
        VICINITY_SET(UInt32, static_cast<uint32_t>(number));
      case FieldDescriptor::CPPTYPE_UINT64:
        VICINITY_SET(UInt64, number);
      case FieldDescriptor::CPPTYPE_BOOL:
        VICINITY_SET(Bool, number % 2 == 0);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        VICINITY_SET(Double, std::nan(""));
      case FieldDescriptor::CPPTYPE_FLOAT:
        VICINITY_SET(Float, std::nanf(""));
      case FieldDescriptor::CPPTYPE_ENUM:
        VICINITY_SET(EnumValue, static_cast<int>(number));
      case FieldDescriptor::CPPTYPE_STRING:
        VICINITY_SET(String, field->type() == FieldDescriptor::TYPE_STRING ? Word(number) : Ids());
#undef VICINITY_SET
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth < kMostDepth) {
          Mutate(repeated ? reflection.AddMessage(message, field)
                          : reflection.MutableMessage(message, field),
                 depth + 1);
        }
        break;
    }
  }
}

void RequestMutator::Mutate(Message* message, int depth) {
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  const uint64_t changes = random_.Below(6);
  for (uint64_t i = 0; i < changes && type.field_count() > 0; ++i) {
    MutateField(message, type.field(static_cast<int>(random_.Below(type.field_count()))), depth);
  }
  if (random_.Below(10) == 0) {
    auto* const unknown = message->GetReflection()->MutableUnknownFields(message);
    unknown->AddVarint(900, random_.Next64());
    unknown->AddLengthDelimited(901, std::string(random_.Below(300), 'u'));
  }
}

void RequestMutator::Damage(std::string* bytes) {
  if (random_.Below(3) == 0) bytes->resize(random_.Below(bytes->size() + 1));
  const uint64_t flips = bytes->empty() ? 0 : random_.Below(8);
  for (uint64_t i = 0; i < flips; ++i) {
    (*bytes)[random_.Below(bytes->size())] = static_cast<char>(random_.Next32());
  }
  if (random_.Below(4) == 0) {
    for (uint64_t i = random_.Below(100); i > 0; --i) *bytes += static_cast<char>(random_.Next32());
  }
}

MutatedRequest RequestMutator::Next() {
  const HostileMethod& method = methods_[random_.Below(methods_.size())];
  const std::unique_ptr<Message> request(method.request->New());
  const google::protobuf::Descriptor& type = *request->GetDescriptor();
  const Reflection& reflection = *request->GetReflection();
  if (const auto* field = type.FindFieldByName("fingerprint")) {
    reflection.SetUInt64(request.get(), field, fingerprint_);
  }
  for (const char* name : {"rows", "targets", "keys"}) {
    const auto* const field = type.FindFieldByName(name);
    if (field != nullptr) reflection.SetString(request.get(), field, Ids());
  }
  if (auto* const sample = dynamic_cast<vicinity::proto::SampleRequest*>(request.get())) {
    auto* const relation = sample->add_relations();
    relation->set_fanout(1 + static_cast<int64_t>(random_.Below(20)));
    relation->set_num_targets(static_cast<uint32_t>(sample->targets().size() / 8));
  }
  if (random_.Below(8) != 0) Mutate(request.get(), 0);
  MutatedRequest out;
  out.path = method.path;
  out.bytes = request->SerializeAsString();
  out.what = request->ShortDebugString().substr(0, 500);
  if (random_.Below(4) == 0) {
    Damage(&out.bytes);
    out.what += " [and damaged]";
  }
  return out;
}

}  // namespace vicinity::testing
