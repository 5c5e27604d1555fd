#include "cache/vip/bundled_messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/draw_chance.h"
#include "cache/vip/edge_bundles.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

// Parts ahead whose neighbour's record is asked for.
constexpr size_t kAhead = 8;

}  // namespace

BundledMessages::BundledMessages(const VipGraph& graph, const VipRecords& v_records,
                                 absl::Span<const EdgeTypeId> types, const LinkHelp& help)
    : graph_(&graph),
      help_(&help),
      v_records_(v_records),
      v_chances_(v_records.num_hops),
      u_chances_(v_records.num_hops),
      together_(v_records.lanes) {
  for (const EdgeTypeId type : types) types_.push_back({type, graph.RulesOf(type), {}});
}

void BundledMessages::SetSources(const VipRecords& u_records) {
  u_records_ = u_records;
  const NodeTypeId u_type = graph_->SourceType(types_[0].type);
  const NodeTypeId v_type = graph_->TargetType(types_[0].type);
  for (int32_t type = 0; type < graph_->num_edge_types(); ++type) {
    const EdgeTypeId list{type};
    if (!(graph_->TargetType(list) == u_type && graph_->SourceType(list) == v_type)) continue;
    if (!graph_->IsFollowed(list, v_records_.num_hops) || graph_->reverse(list) < 0) continue;
    lists_.push_back({list, graph_->RulesOf(list), {}});
    for (size_t i = 0; i < types_.size(); ++i) {
      if (graph_->reverse(types_[i].type) == type) lists_.back().returns.push_back(i);
    }
  }
}

void BundledMessages::Collect(const std::vector<List>& lists, const Shard& shard, int64_t row) {
  bundles_.Clear();
  for (const List& list : lists) {
    bundles_.Add(BaseLists(shard, list.type), graph_->WeightsOf(list.type, shard), row);
  }
  bundles_.Join();
}

size_t BundledMessages::EndOf(size_t first) const {
  const auto parts = bundles_.parts();
  size_t last = first + 1;
  while (last < parts.size() && parts[last].neighbor == parts[first].neighbor) ++last;
  return last;
}

void BundledMessages::Join(const VipRecords& records, int64_t node, int slot,
                           const std::vector<DrawRule>& rules, double amount, int hop,
                           std::vector<float>* chances) {
  for (int h = 0; h < hop; ++h) {
    const double rate = static_cast<double>(records.chance(node, slot, h + 1));
    float& chance = (*chances)[h];  // by sums, so that small ones stay apart
    chance += static_cast<float>(DrawChance(rules[h], rate, amount)) * (1 - chance);
  }
}

// Lets `count` edges of the type to `target` be among the links.
void BundledMessages::AddLinks(EdgeTypeId type, int64_t target, int64_t count) {
  if (help_->edges == nullptr || !(help_->edges->type == type)) return;
  const int64_t home = int64_t{help_->edges->home_of[target]} - help_->first_home;
  if (home < 0 || home >= static_cast<int64_t>(help_->chances.size())) return;
  float& together = together_[home];
  for (int64_t i = 0; i < count; ++i) together += help_->chances[home] * (1 - together);
}

void BundledMessages::ChancesOfTarget(int64_t v, size_t first, size_t last, int hop) {
  std::fill(v_chances_.begin(), v_chances_.end(), 0.0F);
  std::fill(together_.begin(), together_.end(), 0.0F);
  for (size_t i = first; i < last; ++i) {
    const EdgeBundles::Part& part = bundles_.parts()[i];
    const List& list = types_[part.list];
    Join(v_records_, v, graph_->slot(list.type), list.rules, part.amount, hop, &v_chances_);
    AddLinks(list.type, v, part.count);
  }
}

void BundledMessages::ChancesOfPair(int64_t v, int64_t u, size_t first, size_t last, int hop) {
  std::fill(v_chances_.begin(), v_chances_.end(), 0.0F);
  std::fill(together_.begin(), together_.end(), 0.0F);
  std::fill(u_chances_.begin(), u_chances_.end(), 0.0F);
  for (size_t i = first; i < last; ++i) {
    const EdgeBundles::Part& part = bundles_.parts()[i];
    const List& list = lists_[part.list];
    Join(u_records_, u, graph_->slot(list.type), list.rules, part.amount, hop, &u_chances_);
    AddLinks(list.type, u, part.count);
    for (const size_t type : list.returns) {
      Join(v_records_, v, graph_->slot(types_[type].type), types_[type].rules, part.amount, hop,
           &v_chances_);
      AddLinks(types_[type].type, v, part.count);
    }
  }
}

void BundledMessages::Gather(const Shard& shard, int64_t row, int64_t u, int hop, bool only_new,
                             double* met) {
  Collect(lists_, shard, row);
  const auto parts = bundles_.parts();
  const bool one_type = graph_->SourceType(types_[0].type) == graph_->TargetType(types_[0].type);
  double messages[8];
  for (size_t first = 0, last; first < parts.size(); first = last) {
    last = EndOf(first);
    if (first + kAhead < parts.size()) {
      __builtin_prefetch(v_records_.record(parts[first + kAhead].neighbor));
    }
    const int64_t v = parts[first].neighbor;
    if (one_type && v == u) continue;  // who draws itself meets nobody
    ChancesOfPair(v, u, first, last, hop);
    PairMessages({v_records_, v, v_chances_.data()}, {u_records_, u, u_chances_.data()},
                 together_.data(), hop, only_new, messages);
    for (int lane = 0; lane < v_records_.lanes; ++lane) {
      met[lane] += messages[lane] * (1 - met[lane]);
    }
  }
}

}  // namespace vicinity
