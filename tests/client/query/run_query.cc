#include "tests/client/query/run_query.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/query/query_steps.h"
#include "client/query/query_text.h"
#include "partition/schema/schema.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

void WalksToPositions(const RoutedGraph& graph, StepAnswer* step) {
  const int64_t width = step->walks.length + 1;
  for (size_t i = 0; i < step->walks.nodes.size(); ++i) {
    const NodeTypeId type{step->walk_types[i % width]};
    step->walks.nodes[i] = ToPositions(graph, type, {step->walks.nodes[i]}).front();
  }
}

void TargetsToPositions(const RoutedGraph& graph, const ResolvedStep& resolved, StepAnswer* step) {
  if (step->kind != StepKind::kInduced) return;
  const Schema& schema = graph.router().schema();
  const NodeTypeId type{schema.edge_types[resolved.edge_type.value].target_type};
  step->targets = ToPositions(graph, type, step->targets);
}

template <typename Value>
void AddBytes(const std::vector<Value>& values, std::string* text) {
  *text += "\n" + std::to_string(values.size()) + ": ";
  text->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

}  // namespace

std::unique_ptr<QueryRunner> Make(const RoutedGraph& graph, const std::string& text) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  absl::StatusOr<std::unique_ptr<QueryRunner>> runner =
      QueryRunner::Make(graph.router(), query, nullptr);
  VICINITY_REQUIRE_OK(runner.status());
  return *std::move(runner);
}

std::vector<int64_t> ToGlobal(const RoutedGraph& graph, NodeTypeId type,
                              const std::vector<int64_t>& positions) {
  const std::vector<int64_t> ids = graph.GlobalIds(type);
  std::vector<int64_t> nodes;
  for (const int64_t position : positions) nodes.push_back(ids[position]);
  return nodes;
}

std::vector<int64_t> ToPositions(const RoutedGraph& graph, NodeTypeId type,
                                 const std::vector<int64_t>& nodes) {
  std::vector<int64_t> positions;
  for (const int64_t node : nodes) {
    positions.push_back(node < 0 ? node : graph.placement().PositionOf(type, GlobalNode{node}));
  }
  return positions;
}

void ToPositions(const RoutedGraph& graph, const QueryRunner& runner, QueryAnswer* answer) {
  for (StepAnswer& step : answer->steps) {
    step.nodes = ToPositions(graph, NodeTypeId{step.node_type}, step.nodes);
    WalksToPositions(graph, &step);
    TargetsToPositions(graph, runner.steps()[&step - answer->steps.data()], &step);
  }
}

std::string Describe(const QueryAnswer& answer) {
  std::string text;
  for (const StepAnswer& step : answer.steps) {
    text += "\n" + step.name + " " + std::to_string(static_cast<int>(step.kind)) + " " +
            std::to_string(step.node_type) + " " + std::to_string(step.walks.length);
    for (const std::vector<int64_t>* const each :
         {&step.offsets, &step.nodes, &step.edge_ids, &step.walks.nodes, &step.walks.edge_ids,
          &step.counts, &step.targets, &step.edge_index}) {
      AddBytes(*each, &text);
    }
    AddBytes(step.walk_types, &text);
    for (const std::vector<double>* const each : {&step.weights, &step.scores, &step.residuals}) {
      AddBytes(*each, &text);
    }
    for (const std::vector<Rows>* const each : {&step.columns, &step.edge_columns}) {
      for (const Rows& rows : *each) {
        text += "\n" + rows.spec.name + " " + std::to_string(rows.num_rows) + ": ";
        text.append(rows.bytes.begin(), rows.bytes.end());
      }
    }
  }
  return text;
}

MinibatchDraw Draw(uint64_t batch) {
  MinibatchDraw draw;
  draw.run_seed = 5;
  draw.batch = batch;
  return draw;
}

QueryAnswer Run(const RoutedGraph& graph, const QueryRunner& runner,
                const std::vector<int64_t>& seeds, uint64_t batch) {
  QueryInputs inputs;
  for (const ResolvedStep& step : runner.steps()) {
    if (step.step.input.empty()) continue;
    inputs[step.step.input] = ToGlobal(graph, step.node_type, seeds);
  }
  absl::StatusOr<QueryAnswer> answer = runner.Run(inputs, Draw(batch), nullptr);
  VICINITY_REQUIRE_OK(answer.status());
  ToPositions(graph, runner, &*answer);
  return *std::move(answer);
}

QueryAnswer Run(const RoutedGraph& graph, const std::string& text,
                const std::vector<int64_t>& seeds, uint64_t batch) {
  return Run(graph, *Make(graph, text), seeds, batch);
}

std::vector<int64_t> ListOf(const StepAnswer& step, size_t i) {
  return {step.nodes.begin() + step.offsets[i], step.nodes.begin() + step.offsets[i + 1]};
}

}  // namespace vicinity::testing
