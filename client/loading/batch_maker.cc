#include "client/loading/batch_maker.h"

#include <cstddef>
#include <utility>

#include "proto/common/status.h"

namespace vicinity {
namespace {

template <typename Value>
int64_t BytesOf(const std::vector<Value>& values) {
  return static_cast<int64_t>(values.size() * sizeof(Value));
}

int64_t BytesOf(const StepAnswer& step) {
  int64_t bytes = BytesOf(step.offsets) + BytesOf(step.nodes) + BytesOf(step.edge_ids) +
                  BytesOf(step.weights) + BytesOf(step.walks.nodes) + BytesOf(step.walks.edge_ids) +
                  BytesOf(step.counts) + BytesOf(step.scores) + BytesOf(step.residuals) +
                  BytesOf(step.targets) + BytesOf(step.edge_index);
  for (const Rows& rows : step.columns) bytes += static_cast<int64_t>(rows.bytes.size());
  for (const Rows& rows : step.edge_columns) bytes += static_cast<int64_t>(rows.bytes.size());
  return bytes;
}

}  // namespace

std::vector<NodeList> MadeBatch::lists() const {
  std::vector<NodeList> lists;
  if (answer == nullptr) {
    for (const SampledNodes& of_type : graph.nodes) lists.push_back({of_type.ids, {}});
    return lists;
  }
  for (size_t i = 0; i < answer->steps.size(); ++i) {
    if (unique[i].nodes.empty()) {
      lists.push_back({answer->steps[i].nodes, {}});
    } else {
      lists.push_back({unique[i].nodes, unique[i].places});
    }
  }
  return lists;
}

int64_t MadeBatch::num_bytes() const {
  int64_t bytes = graph.num_bytes();
  for (const UniqueNodes& nodes : unique) bytes += BytesOf(nodes.nodes) + BytesOf(nodes.places);
  if (answer == nullptr) return bytes;
  for (const auto& [name, nodes] : inputs) bytes += BytesOf(nodes);
  for (const StepAnswer& step : answer->steps) bytes += BytesOf(step);
  return bytes;
}

int64_t MadeBatch::num_nodes() const {
  size_t nodes = 0;
  for (const SampledNodes& of_type : graph.nodes) nodes += of_type.ids.size();
  if (answer == nullptr) return static_cast<int64_t>(nodes);
  for (const StepAnswer& step : answer->steps) nodes += step.nodes.size();
  return static_cast<int64_t>(nodes);
}

GraphMaker::GraphMaker(std::unique_ptr<BatchSampler> sampler) : sampler_(std::move(sampler)) {}

absl::StatusOr<MadeBatch> GraphMaker::Make(absl::Span<const TypedSeeds> seeds,
                                           const MinibatchDraw& draw, const CallContext& context) {
  MadeBatch made;
  VICINITY_ASSIGN_OR_RETURN(made.graph, sampler_->Sample(seeds, draw, context));
  return made;
}

AnswerMaker::AnswerMaker(const QueryRunner& runner, std::vector<std::string> inputs)
    : runner_(runner), inputs_(std::move(inputs)) {}

absl::StatusOr<MadeBatch> AnswerMaker::Make(absl::Span<const TypedSeeds> seeds,
                                            const MinibatchDraw& draw, const CallContext& context) {
  MadeBatch made;
  for (size_t i = 0; i < inputs_.size(); ++i) made.inputs[inputs_[i]] = seeds[i].ids;
  VICINITY_ASSIGN_OR_RETURN(QueryAnswer answer, runner_.RunSteps(made.inputs, draw, context));
  made.answer = std::make_unique<QueryAnswer>(std::move(answer));
  made.unique.resize(made.answer->steps.size());
  for (size_t i = 0; i < made.unique.size(); ++i) {
    if (runner_.steps()[i].columns.empty()) continue;
    const std::vector<int64_t>& nodes = made.answer->steps[i].nodes;
    UniqueNodes unique = Unique(nodes);
    if (unique.nodes.size() < nodes.size()) made.unique[i] = std::move(unique);
  }
  return made;
}

}  // namespace vicinity
