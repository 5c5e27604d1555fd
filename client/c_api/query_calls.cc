// The part of client/c_api/vicinity.h that concerns queries.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/call.h"
#include "client/c_api/graph_arguments.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/json_fields.h"
#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "client/query/query_text.h"
#include "client/query_loader.h"
#include "client/types/dlpack_type.h"
#include "client/types/result.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {
namespace {

using Json = nlohmann::ordered_json;

Error Prepare(const std::shared_ptr<const Graph>& graph, const char* text, VicinityQuery** given) {
  const Result<Query> query = Query::Parse(text);
  if (!query.ok()) return query.error();
  Result<std::unique_ptr<PreparedQuery>> prepared = PreparedQuery::Make(graph.get(), *query);
  if (!prepared.ok()) return prepared.error();
  auto handle = std::make_unique<VicinityQuery>();
  handle->open.graph = graph;
  handle->open.query = *std::move(prepared);
  *given = handle.release();
  return Error();
}

// Of a PreparedQuery, or a QueryLoader.
template <typename OfQuery>
Json Describe(const OfQuery& query, const Schema& schema) {
  Json inputs = Json::array();
  Json steps = Json::array();
  const std::vector<int32_t> types = query.node_types();
  for (size_t i = 0; i < types.size(); ++i) {
    const QueryStep& step = query.query().steps[i];
    const std::string& type = schema.node_types[types[i]].name;
    if (!step.input.empty()) inputs.push_back({{"name", step.input}, {"node_type", type}});
    steps.push_back({{"name", step.name},
                     {"kind", std::string(StepKindName(step.kind))},
                     {"node_type", type},
                     {"from", step.from},
                     {"columns", step.columns},
                     {"edge_columns", step.edge_columns},
                     {"edge_ids", step.edge_ids},
                     {"among", step.among}});
  }
  return {{"text", query.query().Text()}, {"inputs", inputs}, {"steps", steps}};
}

Error Explain(const PreparedQuery& query, const char* sizes_json, char** json) {
  const nlohmann::json object = ParseObject(sizes_json);
  if (object.is_null()) {
    return Error(ErrorCode::kInvalidArgument, "sizes of inputs are no JSON object");
  }
  InputSizes sizes;
  for (const auto& [name, value] : object.items()) {
    int64_t size = 0;
    if (!JsonFields::Get(value, &size) || size < 0) {
      return Error(ErrorCode::kInvalidArgument,
                   "the size of input " + name + " is " + value.dump() + ": give an integer");
    }
    sizes[name] = size;
  }
  const Result<std::vector<StepCost>> costs = query.Explain(sizes);
  if (!costs.ok()) return costs.error();
  Json steps = Json::array();
  for (const StepCost& cost : *costs) {
    steps.push_back({{"name", cost.name},
                     {"does", cost.does},
                     {"lists", cost.lists},
                     {"nodes", cost.nodes},
                     {"shard_calls", cost.shard_calls},
                     {"bytes", cost.bytes}});
  }
  return GiveText(steps.dump(), json);
}

Result<QueryInputs> Copied(const VicinityInput* inputs, int32_t num_inputs) {
  QueryInputs copied;
  for (int32_t i = 0; i < num_inputs; ++i) {
    if (inputs[i].name == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "an input's name is null");
    }
    Result<std::vector<int64_t>> ids = CopyIds(inputs[i].ids, inputs[i].num_ids);
    if (!ids.ok()) return ids.error();
    copied[inputs[i].name] = *std::move(ids);
  }
  return copied;
}

DLManagedTensor* RowsTensor(const std::shared_ptr<const QueryAnswer>& owner, const Rows& rows) {
  std::vector<int64_t> shape = {rows.num_rows};
  shape.insert(shape.end(), rows.spec.shape.begin(), rows.spec.shape.end());
  return HostTensor(owner, rows.bytes.data(), DlpackType(rows.spec.dtype), std::move(shape));
}

// As many as there are things that have them, unless nobody asked for any.
template <typename Value>
Result<DLManagedTensor*> ForEach(const std::shared_ptr<const QueryAnswer>& owner,
                                 const StepAnswer& step, size_t num,
                                 const std::vector<Value>& values, DType dtype, const char* what) {
  if (values.size() != num) {
    return Error(ErrorCode::kNotFound, "step " + step.name + " has no " + what);
  }
  return HostTensor(owner, values.data(), DlpackType(dtype), {static_cast<int64_t>(values.size())});
}

template <typename Value>
Result<DLManagedTensor*> ForNodes(const std::shared_ptr<const QueryAnswer>& owner,
                                  const StepAnswer& step, const std::vector<Value>& values,
                                  DType dtype, const char* what) {
  return ForEach(owner, step, step.nodes.size(), values, dtype, what);
}

Error NoSubgraph(const StepAnswer& step) {
  return Error(ErrorCode::kNotFound, "step " + step.name + " is no subgraph: it is not induced");
}

// A row of `values` for each walk.
Result<DLManagedTensor*> ForWalks(const std::shared_ptr<const QueryAnswer>& owner,
                                  const StepAnswer& step, const std::vector<int64_t>& values,
                                  int64_t width, const char* what) {
  const auto num_walks = static_cast<int64_t>(step.offsets.size()) - 1;
  if (step.walk_types.empty() || static_cast<int64_t>(values.size()) != num_walks * width) {
    return Error(ErrorCode::kNotFound, "step " + step.name + " has no " + what);
  }
  return HostTensor(owner, values.data(), DlpackType(DType::kInt64), {num_walks, width});
}

Result<DLManagedTensor*> TensorOf(const std::shared_ptr<const QueryAnswer>& owner,
                                  const StepAnswer& step, int32_t part, int32_t index) {
  const auto rows_of = [&](const std::vector<Rows>& rows) -> Result<DLManagedTensor*> {
    if (index < 0 || index >= static_cast<int64_t>(rows.size())) {
      return Error(ErrorCode::kInvalidArgument,
                   "step " + step.name + " has " + std::to_string(rows.size()) +
                       " such columns, not one of the number " + std::to_string(index));
    }
    return RowsTensor(owner, rows[index]);
  };
  switch (part) {
    case VICINITY_STEP_OFFSETS:
      return HostTensor(owner, step.offsets.data(), DlpackType(DType::kInt64),
                        {static_cast<int64_t>(step.offsets.size())});
    case VICINITY_STEP_NODES:
      return ForNodes(owner, step, step.nodes, DType::kInt64, "nodes");
    case VICINITY_STEP_EDGE_IDS:
      return ForEach(
          owner, step,
          step.kind == StepKind::kInduced ? step.edge_index.size() / 2 : step.nodes.size(),
          step.edge_ids, DType::kInt64, "edge_ids: ask for them");
    case VICINITY_STEP_TARGETS:
      if (step.kind != StepKind::kInduced) return NoSubgraph(step);
      return ForEach(owner, step, step.targets.size(), step.targets, DType::kInt64, "targets");
    case VICINITY_STEP_EDGE_INDEX:
      if (step.kind != StepKind::kInduced) return NoSubgraph(step);
      return HostTensor(owner, step.edge_index.data(), DlpackType(DType::kInt64),
                        {2, static_cast<int64_t>(step.edge_index.size()) / 2});
    case VICINITY_STEP_WEIGHTS:
      return ForNodes(owner, step, step.weights, DType::kFloat64, "weights: it is no layer");
    case VICINITY_STEP_COLUMN:
      return rows_of(step.columns);
    case VICINITY_STEP_EDGE_COLUMN:
      return rows_of(step.edge_columns);
    case VICINITY_STEP_WALKS:
      return ForWalks(owner, step, step.walks.nodes, step.walks.length + 1, "walks: it is no walk");
    case VICINITY_STEP_WALK_EDGES:
      return ForWalks(owner, step, step.walks.edge_ids, step.walks.length,
                      "edges of walks: ask for edge_ids");
    case VICINITY_STEP_COUNTS:
      return ForNodes(owner, step, step.counts, DType::kInt64, "counts: it is no visited");
    case VICINITY_STEP_SCORES:
      return ForNodes(owner, step, step.scores, DType::kFloat64, "scores: it is no ppr");
    case VICINITY_STEP_RESIDUALS:
      return ForEach(owner, step, step.offsets.size() - 1, step.residuals, DType::kFloat64,
                     "residuals: it is no ppr");
    default:
      return Error(ErrorCode::kInvalidArgument, "part " + std::to_string(part) + " of a step");
  }
}

Result<DLManagedTensor*> TensorOf(const std::shared_ptr<const QueryAnswer>& answer, int32_t step,
                                  int32_t part, int32_t index) {
  const auto num_steps = static_cast<int32_t>(answer->steps.size());
  if (step >= 0 && step < num_steps) return TensorOf(answer, answer->steps[step], part, index);
  return Error(ErrorCode::kInvalidArgument,
               "step " + std::to_string(step) + " of an answer of " + std::to_string(num_steps));
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::ErrorCode;
using vicinity::Result;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

int32_t vicinity_query_prepare(const VicinityGraph* graph, const char* text,
                               VicinityQuery** query) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph}, {"text", text}, {"query", query}});
    if (!error.ok()) return error;
    return vicinity::c_api::Prepare(graph->graph, text, query);
  });
}

void vicinity_query_release(VicinityQuery* query) { delete query; }

int32_t vicinity_query_describe(const VicinityQuery* query, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"query", query}, {"json", json}});
    if (!error.ok()) return error;
    const vicinity::c_api::OpenQuery& open = query->open;
    return vicinity::c_api::GiveText(
        vicinity::c_api::Describe(*open.query, open.graph->schema()).dump(), json);
  });
}

int32_t vicinity_loader_describe_query(const VicinityLoader* loader, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"loader", loader}, {"json", json}});
    if (!error.ok()) return error;
    const vicinity::c_api::OpenLoader& open = *loader->open;
    if (open.query_loader == nullptr) {
      return Error(ErrorCode::kNotFound, "the loader is not of a query: it makes minibatches");
    }
    return vicinity::c_api::GiveText(
        vicinity::c_api::Describe(*open.query_loader, *open.schema).dump(), json);
  });
}

int32_t vicinity_query_explain(const VicinityQuery* query, const char* sizes_json, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"query", query}, {"sizes_json", sizes_json}, {"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::Explain(*query->open.query, sizes_json, json);
  });
}

int32_t vicinity_query_run(const VicinityQuery* query, const VicinityInput* inputs,
                           int32_t num_inputs, uint64_t run_seed, uint64_t epoch, uint64_t batch,
                           VicinityAnswer** answer) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"query", query}, {"answer", answer}});
    if (error.ok() && num_inputs > 0) error = CheckGiven({{"inputs", inputs}});
    if (!error.ok()) return error;
    const Result<vicinity::QueryInputs> given = vicinity::c_api::Copied(inputs, num_inputs);
    if (!given.ok()) return given.error();
    Result<vicinity::QueryAnswer> made =
        query->open.query->Run(*given, vicinity::DrawId{run_seed, epoch, batch});
    if (!made.ok()) return made.error();
    auto handle = std::make_unique<VicinityAnswer>();
    handle->answer = std::make_shared<const vicinity::QueryAnswer>(*std::move(made));
    *answer = handle.release();
    return Error();
  });
}

int32_t vicinity_batch_answer(const VicinityBatch* batch, VicinityAnswer** answer) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"answer", answer}});
    if (!error.ok()) return error;
    if (batch->open->answer == nullptr) {
      return Error(ErrorCode::kNotFound, "the batch is not of a query's loader: it is a minibatch");
    }
    auto handle = std::make_unique<VicinityAnswer>();
    handle->answer = batch->open->answer;
    *answer = handle.release();
    return Error();
  });
}

void vicinity_answer_release(VicinityAnswer* answer) { delete answer; }

int32_t vicinity_answer_tensor(const VicinityAnswer* answer, int32_t step, int32_t part,
                               int32_t index, DLManagedTensor** tensor) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"answer", answer}, {"tensor", tensor}});
    if (!error.ok()) return error;
    const Result<DLManagedTensor*> made =
        vicinity::c_api::TensorOf(answer->answer, step, part, index);
    if (!made.ok()) return made.error();
    *tensor = *made;
    return Error();
  });
}

}  // extern "C"
