#include "cache/vip/vip_analysis.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/status.h"

namespace vicinity {

VipAnalysis::VipAnalysis(const VipGraph& graph, int32_t num_homes, const LinkEdges* links,
                         std::vector<float> link_chances)
    : graph_(graph),
      num_homes_(num_homes),
      link_chances_(std::move(link_chances)),
      scatter_(graph, help_, &states_),
      gather_(graph, help_, &states_) {
  help_.edges = links;
}

absl::StatusOr<VipScores> VipAnalysis::Run(const ChancesOfHome& chances_of, Progress* progress) {
  const Book& book = graph_.dataset().book();
  const int num_groups = (num_homes_ + kMaxVipLanes - 1) / kMaxVipLanes;
  scores_.num_homes = num_homes_;
  for (int32_t type = 0; type < num_node_types(); ++type) {
    scores_.values.emplace_back(static_cast<size_t>(book.num_nodes({type})) * num_homes_);
  }
  progress_ = progress;
  progress->Begin("inclusion probabilities", graph_.CountEdges() * num_groups, "edges");
  for (int first = 0; first < num_homes_; first += kMaxVipLanes) {
    group_.first = first;
    group_.size = std::min(kMaxVipLanes, num_homes_ - first);
    group_.lanes = LanesFor(group_.size);
    VICINITY_RETURN_IF_ERROR(RunGroup(chances_of));
  }
  progress->End();
  return std::move(scores_);
}

int32_t VipAnalysis::num_node_types() const { return graph_.dataset().book().num_node_types(); }

absl::Status VipAnalysis::RunGroup(const ChancesOfHome& chances_of) {
  help_.first_home = group_.first;
  if (help_.edges != nullptr) {
    const auto first = link_chances_.begin() + group_.first;
    help_.chances.assign(first, first + group_.size);
  }
  VICINITY_RETURN_IF_ERROR(MakeStates());
  VICINITY_RETURN_IF_ERROR(AddSeeds(chances_of));
  for (int hop = 1; hop <= graph_.spec().num_hops(); ++hop) RunHop(hop);
  states_.clear();
  return absl::OkStatus();
}

absl::Status VipAnalysis::MakeStates() {
  for (int32_t type = 0; type < num_node_types(); ++type) {
    VICINITY_ASSIGN_OR_RETURN(VipState state, MakeVipState(graph_, {type}, group_.lanes));
    states_.push_back(std::move(state));
  }
  return absl::OkStatus();
}

absl::Status VipAnalysis::AddSeeds(const ChancesOfHome& chances_of) {
  const Book& book = graph_.dataset().book();
  for (int lane = 0; lane < group_.size; ++lane) {
    const int home = group_.first + lane;
    const absl::StatusOr<std::vector<SeedChances>> chances = chances_of(home);
    if (!chances.ok()) return At(absl::StrCat("home ", home), chances.status());
    for (const SeedChances& of_type : *chances) {
      SetSeeds(of_type, book.num_nodes(of_type.type), lane, &states_[of_type.type.value]);
    }
  }
  return absl::OkStatus();
}

void VipAnalysis::RunHop(int hop) {
  const auto tell = [this](int64_t edges) { progress_->Update(done_ + edges); };
  for (VipState& state : states_) std::fill(state.met.begin(), state.met.end(), 0.0);
  for (int32_t target = 0; target < num_node_types(); ++target) {
    for (int32_t source = 0; source < num_node_types(); ++source) {
      done_ += scatter_.Run({target}, {source}, hop, tell);
    }
  }
  for (int32_t type = 0; type < num_node_types(); ++type) {
    done_ += gather_.Run({type}, hop, RowsOf({type}, hop), tell);
  }
}

VipRows VipAnalysis::RowsOf(NodeTypeId type, int hop) {
  if (graph_.dataset().book().num_nodes(type) == 0) return {};
  if (hop < graph_.spec().num_hops()) {
    const VipRecords& records = states_[type.value].records;
    return {records.met(0, hop), records.stride(), group_.lanes};
  }
  return {scores_.values[type.value].data() + group_.first, num_homes_, group_.size};
}

}  // namespace vicinity
