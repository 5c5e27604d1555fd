#include "client/graph.h"

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/async_calls.h"
#include "client/graph_impl.h"
#include "client/metrics/metrics_exporter.h"
#include "client/shards/call_context.h"
#include "client/shards/edge_rows.h"
#include "client/shards/lookups.h"
#include "client/shards/pinned_shards.h"
#include "client/shards/ragged_rows.h"
#include "client/shards/routed_walks.h"
#include "client/shards/routed_weights.h"
#include "client/shards/shard_router.h"
#include "client/types/error.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/metrics_text.h"
#include "proto/telemetry/registry.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/proximity/forward_push.h"

namespace vicinity {
namespace {

// What every operation on nodes of a type looks at first.
absl::Status CheckCall(const GraphImpl& graph, int32_t node_type) {
  VICINITY_RETURN_IF_ERROR(graph.CheckProcess());
  return CheckNodeType(graph.router().schema(), node_type);
}

// Of those along an edge type.
absl::Status CheckEdgeCall(const GraphImpl& graph, int32_t edge_type) {
  VICINITY_RETURN_IF_ERROR(graph.CheckProcess());
  const auto num_types = static_cast<int32_t>(graph.router().schema().edge_types.size());
  if (edge_type >= 0 && edge_type < num_types) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("edge type ", edge_type, " does not exist, there are ", num_types));
}

MinibatchDraw DrawOf(const DrawId& draw) {
  MinibatchDraw minibatch;
  minibatch.run_seed = draw.run_seed;
  minibatch.epoch = draw.epoch;
  minibatch.batch = draw.batch;
  return minibatch;
}

absl::StatusOr<SampledGraph> SampleSeeds(const GraphImpl& graph,
                                         const std::vector<SeedNodes>& seeds,
                                         const SamplingSpec& spec, const DrawId& draw,
                                         EdgeDetail detail, const CallContext& context) {
  VICINITY_RETURN_IF_ERROR(graph.CheckProcess());
  std::vector<TypedSeeds> lists;
  for (const SeedNodes& list : seeds) {
    VICINITY_RETURN_IF_ERROR(CheckCall(graph, list.node_type));
    lists.push_back({NodeTypeId{list.node_type}, list.ids, list.times});
  }
  const ShardRouter& router = graph.router();
  RoutedSource source(router, DrawOf(draw), context);
  MinibatchSampler sampler(router.schema(), router.book());
  return sampler.Sample(spec, lists, detail, &source);
}

absl::StatusOr<Rows> FetchColumn(const GraphImpl& graph, int32_t node_type,
                                 const std::string& column, const std::vector<int64_t>& nodes,
                                 const CallContext& context) {
  VICINITY_RETURN_IF_ERROR(CheckCall(graph, node_type));
  const ShardRouter& router = graph.router();
  const NodeTypeId type{node_type};
  const NodeTypeSpec& spec = router.schema().node_types[type.value];
  VICINITY_ASSIGN_OR_RETURN(const int32_t found, FindNodeColumn(spec, column));
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, type, nodes));
  Rows rows;
  rows.spec = spec.columns[found];
  rows.num_rows = static_cast<int64_t>(nodes.size());
  rows.bytes.resize(rows.num_rows * rows.spec.row_bytes());
  const ColumnFetch fetch{type, found, nodes, {}, rows.bytes.data()};
  VICINITY_RETURN_IF_ERROR(router.FetchRows({fetch}, context));
  return rows;
}

absl::StatusOr<RaggedRows> FetchRaggedColumn(const GraphImpl& graph, int32_t node_type,
                                             const std::string& column,
                                             const std::vector<int64_t>& nodes) {
  VICINITY_RETURN_IF_ERROR(CheckCall(graph, node_type));
  const ShardRouter& router = graph.router();
  const NodeTypeId type{node_type};
  VICINITY_ASSIGN_OR_RETURN(const int32_t found,
                            FindRaggedColumn(router.schema().node_types[type.value], column));
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, type, nodes));
  return FetchRaggedRows(router, type, found, nodes, StartOperation());
}

// `work` as AsyncCalls has it.
template <typename T, typename Work>
Result<AsyncCall> BeginCall(const GraphImpl& graph, std::chrono::milliseconds timeout, Work work,
                            std::function<void(Result<T>)> on_done) {
  if (const absl::Status ready = graph.CheckProcess(); !ready.ok()) return ToError(ready);
  if (!on_done) return Error(ErrorCode::kInvalidArgument, "on_done is empty");
  const absl::StatusOr<std::shared_ptr<AsyncCalls>> calls = graph.Calls();
  if (!calls.ok()) return ToError(calls.status());
  return ToResult((*calls)->Begin(timeout, std::move(work), std::move(on_done)));
}

}  // namespace

Result<std::unique_ptr<Graph>> Graph::Open(const GraphOptions& options) {
  absl::StatusOr<std::shared_ptr<GraphImpl>> impl =
      WithinResources([&options] { return GraphImpl::Open(options); });
  if (!impl.ok()) return ToError(impl.status());
  return std::unique_ptr<Graph>(new Graph(*std::move(impl)));
}

Graph::Graph(std::shared_ptr<GraphImpl> impl) : impl_(std::move(impl)) {}

Graph::~Graph() {
  // In a forked child gRPC's threads are gone, and taking its channels down would wait for them.
  if (!impl_->CheckProcess().ok()) {
    static_cast<void>(new std::shared_ptr<GraphImpl>(std::move(impl_)));
    return;
  }
  impl_->StopCalls();  // while all is there that callbacks may use
}

bool Graph::is_live() const { return impl_->router().book().grows(); }

Result<std::vector<VersionName>> Graph::Versions() const {
  if (const absl::Status ready = impl_->CheckProcess(); !ready.ok()) return ToError(ready);
  const auto now = ReadVersions(impl_->router(), StartOperation());
  if (!now.ok()) return ToError(now.status());
  std::vector<VersionName> versions;
  for (const ShardVersion& shard : *now) versions.emplace_back(shard.version, shard.term);
  return versions;
}

Result<std::unique_ptr<Graph>> Graph::At(const std::vector<VersionName>& versions) const {
  if (const absl::Status ready = impl_->CheckProcess(); !ready.ok()) return ToError(ready);
  absl::StatusOr<std::shared_ptr<GraphImpl>> pinned = impl_->At(versions);
  if (!pinned.ok()) return ToError(pinned.status());
  return std::unique_ptr<Graph>(new Graph(*std::move(pinned)));
}

const Schema& Graph::schema() const { return impl_->router().schema(); }
const std::string& Graph::name() const { return impl_->name(); }
uint64_t Graph::fingerprint() const { return impl_->fingerprint(); }
int32_t Graph::num_shards() const { return impl_->router().book().num_shards(); }

int64_t Graph::num_nodes(int32_t node_type) const {
  return impl_->router().book().num_nodes(NodeTypeId{node_type});
}

int32_t Graph::OwnerOf(int32_t node_type, int64_t global_id) const {
  return impl_->router().book().OwnerOf(NodeTypeId{node_type}, GlobalNode{global_id}).value;
}

bool Graph::IsLocal(int32_t node_type, int64_t global_id) const {
  return impl_->router().IsLocal(ShardId{OwnerOf(node_type, global_id)});
}

Result<std::vector<int32_t>> Graph::OwnersOf(int32_t node_type,
                                             const std::vector<int64_t>& nodes) const {
  absl::Status ready = CheckCall(*impl_, node_type);
  if (ready.ok()) ready = CheckNodes(impl_->router(), NodeTypeId{node_type}, nodes);
  if (!ready.ok()) return ToError(ready);
  std::vector<int32_t> shards;
  shards.reserve(nodes.size());
  for (const int64_t node : nodes) shards.push_back(OwnerOf(node_type, node));
  return shards;
}

Result<std::vector<uint8_t>> Graph::AreLocal(int32_t node_type,
                                             const std::vector<int64_t>& nodes) const {
  const Result<std::vector<int32_t>> shards = OwnersOf(node_type, nodes);
  if (!shards.ok()) return shards.error();
  std::vector<uint8_t> local;
  local.reserve(shards->size());
  for (const int32_t shard : *shards) local.push_back(impl_->router().IsLocal(ShardId{shard}));
  return local;
}

Result<std::vector<int64_t>> Graph::Resolve(int32_t node_type,
                                            const std::vector<int64_t>& user_ids) const {
  const absl::Status ready = CheckCall(*impl_, node_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(ResolveIntegers(impl_->router(), NodeTypeId{node_type}, user_ids));
}

Result<std::vector<int64_t>> Graph::Resolve(int32_t node_type,
                                            const std::vector<std::string>& user_ids) const {
  const absl::Status ready = CheckCall(*impl_, node_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(ResolveNames(impl_->router(), NodeTypeId{node_type}, user_ids));
}

Result<std::vector<int64_t>> Graph::UserIds(int32_t node_type,
                                            const std::vector<int64_t>& nodes) const {
  const absl::Status ready = CheckCall(*impl_, node_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(IntegersOf(impl_->router(), NodeTypeId{node_type}, nodes));
}

Result<std::vector<std::string>> Graph::UserNames(int32_t node_type,
                                                  const std::vector<int64_t>& nodes) const {
  const absl::Status ready = CheckCall(*impl_, node_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(NamesOf(impl_->router(), NodeTypeId{node_type}, nodes));
}

Result<std::vector<int64_t>> Graph::Degrees(int32_t edge_type,
                                            const std::vector<int64_t>& nodes) const {
  const absl::Status ready = CheckEdgeCall(*impl_, edge_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(
      WithinResources([&] { return DegreesOf(impl_->router(), EdgeTypeId{edge_type}, nodes); }));
}

Result<std::vector<int64_t>> Graph::EdgeIds(int32_t edge_type, const std::vector<int64_t>& sources,
                                            const std::vector<int64_t>& targets) const {
  const absl::Status ready = CheckEdgeCall(*impl_, edge_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(WithinResources(
      [&] { return EdgeIdsOf(impl_->router(), EdgeTypeId{edge_type}, sources, targets); }));
}

Result<std::vector<int64_t>> Graph::NodesOf(int32_t node_type, Split split,
                                            const std::vector<int32_t>& shards) const {
  const absl::Status ready = CheckCall(*impl_, node_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(NodesOfSplit(impl_->router(), NodeTypeId{node_type}, split, shards));
}

Result<SampledGraph> Graph::Sample(int32_t seed_type, const std::vector<int64_t>& seeds,
                                   const SamplingSpec& spec, const DrawId& draw,
                                   EdgeDetail detail) const {
  return Sample({SeedNodes{seed_type, seeds}}, spec, draw, detail);
}

Result<SampledGraph> Graph::Sample(const std::vector<SeedNodes>& seeds, const SamplingSpec& spec,
                                   const DrawId& draw, EdgeDetail detail) const {
  return ToResult(SampleSeeds(*impl_, seeds, spec, draw, detail, StartOperation()));
}

Result<AsyncCall> Graph::SampleAsync(SampleRequest request, OnSampled on_done) const {
  const std::chrono::milliseconds timeout = request.timeout;
  auto work = [&graph = *impl_, request = std::move(request)](const CallContext& context) {
    return SampleSeeds(graph, request.seeds, request.spec, request.draw, request.detail, context);
  };
  return BeginCall(*impl_, timeout, std::move(work), std::move(on_done));
}

Result<Walks> Graph::Walk(const std::vector<int64_t>& starts, const WalkSpec& spec,
                          const DrawId& draw, bool want_edge_ids) const {
  const absl::Status ready = impl_->CheckProcess();
  if (!ready.ok()) return ToError(ready);
  return ToResult(WithinResources([&] {
    return RouteWalks(impl_->router(), spec, starts, DrawOf(draw), want_edge_ids, StartOperation());
  }));
}

Result<TopVisited> Graph::MostVisited(const std::vector<int64_t>& starts, const VisitSpec& spec,
                                      const DrawId& draw) const {
  const std::string problem = VisitProblem(schema(), spec, static_cast<int64_t>(starts.size()));
  if (!problem.empty()) return Error(ErrorCode::kInvalidArgument, problem);
  const Result<Walks> walks = Walk(RepeatStarts(starts, spec.num_walks), spec.walk, draw);
  if (!walks.ok()) return walks.error();
  return ToResult(WithinResources(
      [&]() -> absl::StatusOr<TopVisited> { return CountVisits(schema(), spec, *walks); }));
}

Result<PprScores> Graph::PersonalizedPageRank(int32_t seed_type, const std::vector<int64_t>& seeds,
                                              const PprSpec& spec, const DrawId& draw) const {
  const absl::Status ready = CheckCall(*impl_, seed_type);
  if (!ready.ok()) return ToError(ready);
  return ToResult(WithinResources([&] {
    const ShardRouter& router = impl_->router();
    const CallContext context = StartOperation();
    RoutedSource source(router, DrawOf(draw), context);
    RoutedWeights weights(router, context);
    ForwardPush push(router.schema(), router.book(), &source, &weights);
    return push.Rank(spec, {seed_type}, seeds);
  }));
}

Result<RaggedRows> Graph::FetchRagged(int32_t node_type, const std::string& column,
                                      const std::vector<int64_t>& nodes) const {
  return ToResult(FetchRaggedColumn(*impl_, node_type, column, nodes));
}

Result<std::vector<EdgeRows>> Graph::FetchEdges(const SampledGraph& graph, int32_t edge_type,
                                                const std::string& column) const {
  const absl::Status ready = impl_->CheckProcess();
  if (!ready.ok()) return ToError(ready);
  const ShardRouter& router = impl_->router();
  const absl::StatusOr<EdgeColumnPlan> plan = FindEdgeColumn(router.schema(), edge_type, column);
  if (!plan.ok()) return ToError(plan.status());
  return ToResult(FetchEdgeRows(router, graph, {*plan}, StartOperation()));
}

Result<Rows> Graph::Fetch(int32_t node_type, const std::string& column,
                          const std::vector<int64_t>& nodes) const {
  return ToResult(FetchColumn(*impl_, node_type, column, nodes, StartOperation()));
}

Result<AsyncCall> Graph::FetchAsync(FetchRequest request, OnFetched on_done) const {
  const std::chrono::milliseconds timeout = request.timeout;
  auto work = [&graph = *impl_, request = std::move(request)](const CallContext& context) {
    return FetchColumn(graph, request.node_type, request.column, request.nodes, context);
  };
  return BeginCall(*impl_, timeout, std::move(work), std::move(on_done));
}

Result<RankedList> Graph::Ranked(const std::string& name, const std::vector<int32_t>& home,
                                 int32_t node_type, int64_t count) const {
  const absl::Status ready = CheckCall(*impl_, node_type);
  if (!ready.ok()) return ToError(ready);
  absl::StatusOr<RankedNodes> ranked =
      FetchRanking(impl_->router(), name, home, NodeTypeId{node_type}, count);
  if (!ranked.ok()) return ToError(ranked.status());
  RankedList list;
  list.nodes = std::move(ranked->nodes);
  list.probabilities = std::move(ranked->probabilities);
  return list;
}

TrafficStats Graph::traffic() const { return impl_->traffic(); }

std::vector<MetricValue> Graph::metrics() const {
  std::vector<MetricValue> values;
  for (MetricRegistry::Reading& reading : impl_->metrics()->Read()) {
    values.push_back({std::move(reading.metric.name), std::move(reading.metric.help),
                      reading.metric.kind == MetricKind::kCounter, std::move(reading.labels),
                      reading.value});
  }
  return values;
}

std::string Graph::MetricsText() const {
  const MetricsExporter* const exporter = impl_->exporter();
  return exporter == nullptr ? vicinity::MetricsText(*impl_->metrics()) : exporter->Text();
}

std::string Graph::metrics_address() const {
  const MetricsExporter* const exporter = impl_->exporter();
  return exporter == nullptr ? "" : exporter->address();
}

}  // namespace vicinity
