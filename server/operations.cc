#include "server/operations.h"

#include <google/protobuf/message.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/bulk_fields.h"
#include "proto/common/status.h"
#include "proto/health.pb.h"
#include "proto/reflection.pb.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "proto/wire_checksum.h"
#include "server/describe_handler.h"
#include "server/health_handler.h"
#include "server/ranking_handler.h"
#include "server/reflection_handler.h"
#include "server/reply_size.h"
#include "server/resolve_handler.h"
#include "server/rows_handler.h"
#include "server/sample_handler.h"
#include "server/status_handler.h"

namespace vicinity {
namespace {

// Far more than a request that is meant well has.
constexpr int kMostParts = 65'536;

// Of what a request repeats.
int NumParts(const proto::SampleRequest& request) { return request.relations_size(); }
int NumParts(const proto::RankingRequest& request) { return request.home_size(); }
template <typename Request>
int NumParts(const Request&) {
  return 0;
}

// Payload of a reply beside its bulk fields: names. What is small counts as nothing.
int64_t NameBytes(const proto::NamesChunk& chunk) {
  int64_t bytes = 0;
  for (const std::string& name : chunk.names()) bytes += static_cast<int64_t>(name.size());
  return bytes;
}
template <typename Reply>
int64_t NameBytes(const Reply&) {
  return 0;
}

// Messages of our own carry checksums; those of gRPC's own services do not.
template <typename Message, typename = void>
struct HasChecksum : std::false_type {};
template <typename Message>
struct HasChecksum<Message, std::void_t<decltype(std::declval<Message>().checksum())>>
    : std::true_type {};

// What a small reply can have, and is not worth to be counted.
template <typename Request>
int64_t ReplyBytesOf(const ServerState& state, const Request& request) {
  if constexpr (std::is_same_v<Request, proto::SampleRequest> ||
                std::is_same_v<Request, proto::RowsRequest> ||
                std::is_same_v<Request, proto::NamesRequest> ||
                std::is_same_v<Request, proto::ResolveRequest> ||
                std::is_same_v<Request, proto::RankingRequest>) {
    return ReplyBytes(*state.dataset, request);
  } else {
    return 0;
  }
}

// A reply of one message that its handler has made whole.
template <typename Reply>
class OneReply final : public ChunkSource<Reply> {
 public:
  explicit OneReply(Reply reply) : reply_(std::move(reply)) {}
  absl::StatusOr<Piece> Next(Reply* reply, IsGone) override {
    *reply = std::move(reply_);
    return Piece::kLast;
  }

 private:
  Reply reply_;
};

// Handlers of either kind, as sources.
template <typename Reply>
absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> AsSource(absl::StatusOr<Reply> reply) {
  if (!reply.ok()) return reply.status();
  return std::make_unique<OneReply<Reply>>(*std::move(reply));
}
template <typename Reply>
absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> AsSource(
    absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> source) {
  return source;
}

template <typename Request, typename Reply>
class TypedExchange final : public Exchange {
 public:
  using Open = absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> (*)(const ServerState&,
                                                                       const Request&);

  TypedExchange(absl::string_view name, Open open) : name_(name), open_(open) {}

  bool Parse(grpc::ByteBuffer* bytes) {
    return grpc::SerializationTraits<Request>::Deserialize(bytes, &request_).ok();
  }

  int64_t reply_bytes(const ServerState& state) const override {
    return ReplyBytesOf(state, request_);
  }
  int64_t request_bytes() const override { return BulkBytes(request_); }
  std::string client_name() const override {
    if constexpr (std::is_same_v<Request, proto::HelloRequest>) return request_.client();
    return "";
  }

  absl::Status Begin(const ServerState& state) override {
    // Before the checksum, which looks at every part: an empty one takes two bytes on the wire.
    if (NumParts(request_) > kMostParts) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ": the request has ", NumParts(request_),
                       " relations or homes, the limit is ", kMostParts));
    }
    VICINITY_RETURN_IF_ERROR(CheckChecksum());
    VICINITY_ASSIGN_OR_RETURN(source_, open_(state, request_));
    return absl::OkStatus();
  }

  absl::StatusOr<Piece> Next(Message* message, IsGone is_gone) override {
    VICINITY_ASSIGN_OR_RETURN(const Piece piece, source_->Next(&reply_, is_gone));
    if (piece != Piece::kNothing) Pack(message);
    return piece;
  }

 private:
  absl::Status CheckChecksum() {
    if constexpr (HasChecksum<Request>::value) {
      asked_ = RequestChecksum(name_, request_);
      if (request_.checksum() != 0 && request_.checksum() != asked_) {
        return absl::AbortedError(
            absl::StrCat(name_, ": the request was damaged on the way: its checksum is ",
                         absl::Hex(asked_, absl::kZeroPad16), ", the sender's ",
                         absl::Hex(request_.checksum(), absl::kZeroPad16)));
      }
    }
    return absl::OkStatus();
  }

  // Gives the reply its checksum and takes it apart. As bytes gRPC sends it from where it lies;
  // generated code would have it copied once more.
  void Pack(Message* message) {
    if constexpr (HasChecksum<Reply>::value) {
      reply_.set_checksum(ReplyChecksum(asked_, reply_));
    }
    const int64_t names = NameBytes(reply_);
    const int64_t bulk = BulkBytes(reply_);
    message->payload = bulk + names;
    message->copied = bulk + 2 * names;  // by the handler; names by protobuf once more
    message->bytes = PackMessage(&reply_, BulkFields(&reply_));
  }

  const std::string name_;
  const Open open_;
  Request request_;
  uint64_t asked_ = 0;  // the request's checksum, by which those of the replies go
  std::unique_ptr<ChunkSource<Reply>> source_;
  Reply reply_;
};

absl::string_view NameOf(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

template <auto kHandler>
struct HandlerTraits;
template <typename Request, typename Reply,
          absl::StatusOr<Reply> (*kHandler)(const ServerState&, const Request&)>
struct HandlerTraits<kHandler> {
  using RequestType = Request;
  using ReplyType = Reply;
};
template <typename Request, typename Reply,
          absl::StatusOr<std::unique_ptr<ChunkSource<Reply>>> (*kHandler)(const ServerState&,
                                                                          const Request&)>
struct HandlerTraits<kHandler> {
  using RequestType = Request;
  using ReplyType = Reply;
};

template <auto kHandler, const char* kPath>
std::unique_ptr<Exchange> Parse(grpc::ByteBuffer* bytes) {
  using Request = typename HandlerTraits<kHandler>::RequestType;
  using Reply = typename HandlerTraits<kHandler>::ReplyType;
  auto exchange = std::make_unique<TypedExchange<Request, Reply>>(
      NameOf(kPath), [](const ServerState& state, const Request& request) {
        return AsSource<Reply>(kHandler(state, request));
      });
  if (!exchange->Parse(bytes)) return nullptr;
  return exchange;
}

constexpr char kHello[] = "/vicinity.proto.Graph/Hello";
constexpr char kDescribe[] = "/vicinity.proto.Graph/Describe";
constexpr char kSampleNeighbors[] = "/vicinity.proto.Graph/SampleNeighbors";
constexpr char kFetchRows[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kFetchNames[] = "/vicinity.proto.Graph/FetchNames";
constexpr char kResolveKeys[] = "/vicinity.proto.Graph/ResolveKeys";
constexpr char kFetchRanking[] = "/vicinity.proto.Graph/FetchRanking";
constexpr char kStatus[] = "/vicinity.proto.Graph/Status";
constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kReflect[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

template <auto kHandler, const char* kPath>
constexpr Operation Describes(Lane lane, std::optional<Method> method = std::nullopt) {
  return {kPath, lane, method, &Parse<kHandler, kPath>, false};
}

constexpr Operation AsConversation(Operation operation) {
  operation.is_conversation = true;
  return operation;
}

constexpr std::array kOperations = {
    Describes<Hello, kHello>(Lane::kSmall, Method::kHello),
    Describes<Describe, kDescribe>(Lane::kSmall, Method::kDescribe),
    Describes<SampleNeighbors, kSampleNeighbors>(Lane::kData, Method::kSampleNeighbors),
    Describes<FetchRows, kFetchRows>(Lane::kData, Method::kFetchRows),
    Describes<FetchNames, kFetchNames>(Lane::kData, Method::kFetchNames),
    Describes<ResolveKeys, kResolveKeys>(Lane::kData, Method::kResolveKeys),
    Describes<FetchRanking, kFetchRanking>(Lane::kData, Method::kFetchRanking),
    Describes<ReportStatus, kStatus>(Lane::kSmall, Method::kStatus),
    Describes<CheckHealth, kCheck>(Lane::kHealth),
    AsConversation(Describes<Reflect, kReflect>(Lane::kSmall)),
};

}  // namespace

const Operation* FindOperation(absl::string_view path) {
  for (const Operation& operation : kOperations) {
    if (path == operation.path) return &operation;
  }
  return nullptr;
}

}  // namespace vicinity
