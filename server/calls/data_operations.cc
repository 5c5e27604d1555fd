#include "server/calls/data_operations.h"

#include <array>
#include <cstdint>
#include <string>

#include "proto/health.pb.h"
#include "proto/reflection.pb.h"
#include "proto/service.pb.h"
#include "server/calls/typed_exchange.h"
#include "server/handlers/describe_handler.h"
#include "server/handlers/health_handler.h"
#include "server/handlers/ranking_handler.h"
#include "server/handlers/reflection_handler.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/resolve_handler.h"
#include "server/handlers/rows_handler.h"
#include "server/handlers/sample_handler.h"
#include "server/handlers/status_handler.h"

namespace vicinity {

// Of a request for data.
template <typename Request>
struct SizedRequest : AnyRequest<Request> {
  static int64_t ReplyBytes(const ServerState& state, const Request& request) {
    return vicinity::ReplyBytes(*state.dataset, request);
  }
};

template <>
struct RequestTraits<proto::SampleRequest> : SizedRequest<proto::SampleRequest> {
  static int NumParts(const proto::SampleRequest& request) { return request.relations_size(); }
};
template <>
struct RequestTraits<proto::RankingRequest> : SizedRequest<proto::RankingRequest> {
  static int NumParts(const proto::RankingRequest& request) { return request.home_size(); }
};
template <>
struct RequestTraits<proto::RowsRequest> : SizedRequest<proto::RowsRequest> {};
template <>
struct RequestTraits<proto::NamesRequest> : SizedRequest<proto::NamesRequest> {};
template <>
struct RequestTraits<proto::ResolveRequest> : SizedRequest<proto::ResolveRequest> {};

template <>
struct RequestTraits<proto::HelloRequest> : AnyRequest<proto::HelloRequest> {
  static std::string ClientName(const proto::HelloRequest& request) { return request.client(); }
};

template <>
struct ReplyTraits<proto::NamesChunk> {
  static int64_t NameBytes(const proto::NamesChunk& chunk) {
    int64_t bytes = 0;
    for (const std::string& name : chunk.names()) bytes += static_cast<int64_t>(name.size());
    return bytes;
  }
};

namespace {

constexpr char kHello[] = "/vicinity.proto.Graph/Hello";
constexpr char kDescribe[] = "/vicinity.proto.Graph/Describe";
constexpr char kSampleNeighbors[] = "/vicinity.proto.Graph/SampleNeighbors";
constexpr char kFetchRows[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kFetchNames[] = "/vicinity.proto.Graph/FetchNames";
constexpr char kResolveKeys[] = "/vicinity.proto.Graph/ResolveKeys";
constexpr char kFetchRanking[] = "/vicinity.proto.Graph/FetchRanking";
constexpr char kStatus[] = "/vicinity.proto.Graph/Status";

constexpr std::array kDataOperations = {
    Describes<Hello, kHello>(Lane::kSmall, Method::kHello),
    Describes<Describe, kDescribe>(Lane::kSmall, Method::kDescribe),
    Describes<SampleNeighbors, kSampleNeighbors>(Lane::kData, Method::kSampleNeighbors),
    Describes<FetchRows, kFetchRows>(Lane::kData, Method::kFetchRows),
    Describes<FetchNames, kFetchNames>(Lane::kData, Method::kFetchNames),
    Describes<ResolveKeys, kResolveKeys>(Lane::kData, Method::kResolveKeys),
    Describes<FetchRanking, kFetchRanking>(Lane::kData, Method::kFetchRanking),
    Describes<ReportStatus, kStatus>(Lane::kSmall, Method::kStatus),
    Describes<CheckHealth, kCheckPath>(Lane::kHealth),
    AsConversation(Describes<Reflect, kReflectPath>(Lane::kSmall)),
};

}  // namespace

Operations DataOperations() { return kDataOperations; }

}  // namespace vicinity
