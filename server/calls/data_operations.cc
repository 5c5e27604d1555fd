#include "server/calls/data_operations.h"

#include <array>
#include <string>

#include "proto/bulk.pb.h"
#include "proto/health.pb.h"
#include "proto/reflection.pb.h"
#include "proto/service.pb.h"
#include "server/calls/open_bulk.h"
#include "server/calls/typed_exchange.h"
#include "server/handlers/degrees_handler.h"
#include "server/handlers/describe_handler.h"
#include "server/handlers/edge_ids_handler.h"
#include "server/handlers/find_handler.h"
#include "server/handlers/health_handler.h"
#include "server/handlers/live/apply_handler.h"
#include "server/handlers/live/barrier_handler.h"
#include "server/handlers/live/carry_handler.h"
#include "server/handlers/live/changes_handler.h"
#include "server/handlers/live/replicate_handler.h"
#include "server/handlers/ragged_handler.h"
#include "server/handlers/ranking_handler.h"
#include "server/handlers/reflection_handler.h"
#include "server/handlers/resolve_handler.h"
#include "server/handlers/rows_handler.h"
#include "server/handlers/sample_handler.h"
#include "server/handlers/status_handler.h"
#include "server/handlers/walk_handler.h"

namespace vicinity {

template <>
std::string ClientNameIn(const proto::HelloRequest& request) {
  return request.client();
}

namespace {

constexpr char kHello[] = "/vicinity.proto.Graph/Hello";
constexpr char kDescribe[] = "/vicinity.proto.Graph/Describe";
constexpr char kSampleNeighbors[] = "/vicinity.proto.Graph/SampleNeighbors";
constexpr char kFetchRows[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kFetchRagged[] = "/vicinity.proto.Graph/FetchRagged";
constexpr char kFindRows[] = "/vicinity.proto.Graph/FindRows";
constexpr char kResolveKeys[] = "/vicinity.proto.Graph/ResolveKeys";
constexpr char kFetchDegrees[] = "/vicinity.proto.Graph/FetchDegrees";
constexpr char kFetchEdgeIds[] = "/vicinity.proto.Graph/FetchEdgeIds";
constexpr char kWalk[] = "/vicinity.proto.Graph/Walk";
constexpr char kFetchRanking[] = "/vicinity.proto.Graph/FetchRanking";
constexpr char kApply[] = "/vicinity.proto.Graph/Apply";
constexpr char kBarrier[] = "/vicinity.proto.Graph/Barrier";
constexpr char kChanges[] = "/vicinity.proto.Graph/Changes";
constexpr char kReplicate[] = "/vicinity.proto.Graph/Replicate";
constexpr char kCarry[] = "/vicinity.proto.Graph/Carry";
constexpr char kOpenBulk[] = "/vicinity.proto.Bulk/Open";
constexpr char kStatus[] = "/vicinity.proto.Graph/Status";

constexpr std::array kDataOperations = {
    Describes<Hello, kHello, Lane::kSmall>(),
    Describes<Describe, kDescribe, Lane::kSmall>(),
    Describes<SampleNeighbors, kSampleNeighbors, Lane::kData>(),
    Describes<FetchRows, kFetchRows, Lane::kData>(),
    Describes<FetchRagged, kFetchRagged, Lane::kData>(),
    Describes<FindRows, kFindRows, Lane::kData>(),
    Describes<ResolveKeys, kResolveKeys, Lane::kData>(),
    Describes<FetchDegrees, kFetchDegrees, Lane::kData>(),
    Describes<FetchEdgeIds, kFetchEdgeIds, Lane::kData>(),
    Describes<Walk, kWalk, Lane::kData>(),
    Describes<FetchRanking, kFetchRanking, Lane::kData>(),
    Describes<Apply, kApply, Lane::kWrites>(),
    Describes<Barrier, kBarrier, Lane::kSmall>(),
    Describes<Changes, kChanges, Lane::kData>(),
    Describes<Replicate, kReplicate, Lane::kReplicas>(),
    Describes<Carry, kCarry, Lane::kReplicas>(),
    Describes<ReportStatus, kStatus, Lane::kSmall>(),
    Describes<OpenBulk, kOpenBulk, Lane::kSmall>(),
    Uncounted(Describes<CheckHealth, kCheckPath, Lane::kHealth>()),
    Uncounted(AsConversation(Describes<Reflect, kReflectPath, Lane::kSmall>())),
};

}  // namespace

Operations DataOperations() { return kDataOperations; }

}  // namespace vicinity
