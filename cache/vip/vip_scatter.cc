#include "cache/vip/vip_scatter.h"

#include <algorithm>
#include <cstddef>

#include "cache/vip/threads.h"
#include "cache/vip/vip_kernel.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"

namespace vicinity {
namespace {

constexpr int64_t kProgressEvery = 1 << 14;  // targets

}  // namespace

VipScatter::Stripes::Stripes(int num_threads) {
  for (size_t i = 0; i < owner_.size(); ++i) owner_[i] = static_cast<uint8_t>(i % num_threads);
}

VipScatter::VipScatter(const VipGraph& graph, const LinkHelp& help, std::vector<VipState>* states)
    : graph_(graph), help_(help), states_(*states), stripes_(graph.num_threads()) {}

bool VipScatter::only_new() const { return graph_.spec().expansion == Expansion::kNewNodes; }

int64_t VipScatter::Run(NodeTypeId target, NodeTypeId source, int hop, const Progress& progress) {
  const std::vector<EdgeTypeId> types = graph_.EdgeTypesBetween(target, source, hop, false);
  if (types.empty()) return 0;
  int64_t done = 0;
  for (const auto& shard : graph_.dataset().shards()) {
    RunThreads(graph_.num_threads(), [&](int thread) {
      if (graph_.is_bundled(types[0])) {
        ScatterBundles(types, *shard, hop, thread);
        return;
      }
      for (const EdgeTypeId type : types) {
        Scatter(type, *shard, hop, thread, [&](int64_t edges) { progress(done + edges); });
      }
    });
    for (const EdgeTypeId type : types) done += BaseLists(*shard, type).num_edges();
    progress(done);
  }
  return done;
}

// Adds a message to a source that this thread owns. Who draws itself meets nobody.
void VipScatter::Deliver(const double* messages, int64_t source, int64_t self, int thread,
                         double* met) const {
  if (source == self || stripes_.OwnerOf(source) != thread) return;
  const int lanes = states_[0].records.lanes;
  double* const to = met + source * lanes;
  for (int lane = 0; lane < lanes; ++lane) to[lane] += messages[lane] * (1 - to[lane]);
}

// The messages of all targets v of the shard.
void VipScatter::Scatter(EdgeTypeId type, const Shard& shard, int hop, int thread,
                         const Progress& progress) const {
  const NodeTypeId target = graph_.TargetType(type), source = graph_.SourceType(type);
  const BaseLists edges(shard, type);
  const Book& book = graph_.dataset().book();
  const int64_t base = book.First(target, shard.id()).value;
  const VipRecords& records = states_[target.value].records;
  double* const met = states_[source.value].met.data();
  double messages[kMaxVipLanes];
  for (int64_t row = 0; row < book.num_nodes(target, shard.id()); ++row) {
    if (thread == 0 && row % kProgressEvery == 0) {
      progress(edges.begin(row));
    }
    const int64_t begin = edges.begin(row), end = begin + edges.degree(row);
    if (begin == end) continue;
    const int64_t v = base + row;
    LonelyMessages({records, v, &records.chance(v, graph_.slot(type), 1)}, nullptr, hop, only_new(),
                   messages);
    if (std::all_of(messages, messages + records.lanes, [](double m) { return m == 0; })) continue;
    for (int64_t i = begin; i < end; ++i) {
      Deliver(messages, edges.source(i), source == target ? v : -1, thread, met);
    }
  }
}

// The same where each neighbour's edges of all types make one message.
void VipScatter::ScatterBundles(const std::vector<EdgeTypeId>& types, const Shard& shard, int hop,
                                int thread) const {
  const NodeTypeId target = graph_.TargetType(types[0]), source = graph_.SourceType(types[0]);
  const Book& book = graph_.dataset().book();
  const int64_t base = book.First(target, shard.id()).value;
  const VipRecords& records = states_[target.value].records;
  double* const met = states_[source.value].met.data();
  BundledMessages bundled(graph_, records, types, help_);
  for (int64_t row = 0; row < book.num_nodes(target, shard.id()); ++row) {
    const int64_t v = base + row;
    if (!IsMet(records, v, hop - 1)) continue;
    bundled.FromTarget(shard, row, v, hop, only_new(),
                       [&](int64_t neighbor, const double* messages) {
                         Deliver(messages, neighbor, target == source ? v : -1, thread, met);
                       });
  }
}

// By any home, in hops 0 .. hop.
bool VipScatter::IsMet(const VipRecords& records, int64_t node, int hop) const {
  const auto any = [&](int h) {
    const float* const met = records.met(node, h);
    return std::any_of(met, met + records.lanes, [](float chance) { return chance > 0; });
  };
  return any(hop) || any(0);
}

}  // namespace vicinity
