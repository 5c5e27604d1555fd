#include "client/train/tensors.h"

#include <ATen/DLConvertor.h>

#include <string>
#include <utility>

#include "client/train/torch_error.h"
#include "client/types/device_tensor.h"

namespace vicinity {
namespace {

torch::ScalarType TorchType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return torch::kBool;
    case DType::kInt8:
      return torch::kInt8;
    case DType::kUint8:
      return torch::kUInt8;
    case DType::kInt16:
      return torch::kInt16;
    case DType::kInt32:
      return torch::kInt32;
    case DType::kInt64:
      return torch::kInt64;
    case DType::kFloat16:
      return torch::kFloat16;
    case DType::kBfloat16:
      return torch::kBFloat16;
    case DType::kFloat32:
      return torch::kFloat32;
    case DType::kFloat64:
      return torch::kFloat64;
  }
  return torch::kFloat32;
}

// libtorch asks for a pointer to non-const; nothing here writes through it.
torch::Tensor Share(const void* data, torch::IntArrayRef shape, torch::ScalarType type,
                    const std::shared_ptr<const void>& owner) {
  return torch::from_blob(
      const_cast<void*>(data), shape, [owner](void*) {}, torch::TensorOptions(type));
}

template <typename T>
torch::Tensor ShareVector(const std::vector<T>& values, torch::ScalarType type,
                          const std::shared_ptr<const void>& owner) {
  return Share(values.data(), {static_cast<int64_t>(values.size())}, type, owner);
}

// A column on a device, without a copy if it is of float32. Its rows are there for what comes next
// in the default stream, which libtorch works in unless it is told otherwise.
Result<torch::Tensor> TensorAsFloat(BatchColumn* column) {
  constexpr int64_t kDefaultStream = 1;
  const int64_t num_values = column->spec.num_values();
  Result<DLManagedTensor*> handed_over =
      DeviceTensor::HandOver(std::move(column->tensor), kDefaultStream);
  if (!handed_over.ok()) return handed_over.error();
  std::unique_ptr<DLManagedTensor, void (*)(DLManagedTensor*)> owner(
      *handed_over, [](DLManagedTensor* tensor) { tensor->deleter(tensor); });
  torch::Tensor rows;
  const Error error = CatchTorch(ErrorCode::kInternal, column->spec.name, [&] {
    rows = at::fromDLPack(owner.get());
    static_cast<void>(owner.release());  // the tensor has it
    rows = rows.reshape({column->num_rows, num_values}).to(torch::kFloat32);
  });
  if (!error.ok()) return error;
  return rows;
}

Error AddFeatures(const Schema& schema, const std::shared_ptr<MiniBatch>& batch,
                  BatchTensors* tensors) {
  tensors->features.resize(schema.node_types.size());
  for (const SampledNodes& nodes : batch->graph.nodes) {
    tensors->num_nodes.push_back(static_cast<int64_t>(nodes.ids.size()));
  }
  for (BatchColumn& column : batch->columns) {
    const std::string name = schema.node_types[column.node_type].name + "." + column.spec.name;
    if (column.num_rows != tensors->num_nodes[column.node_type]) {
      return Error(ErrorCode::kInvalidArgument,
                   name + ": " + std::to_string(column.num_rows) + " rows for " +
                       std::to_string(tensors->num_nodes[column.node_type]) + " nodes");
    }
    torch::Tensor& features = tensors->features[column.node_type];
    if (features.defined()) {
      return Error(ErrorCode::kInvalidArgument, name + ": a second column of its node type");
    }
    Result<torch::Tensor> rows =
        column.tensor != nullptr ? TensorAsFloat(&column)
                                 : RowsAsFloat(column.spec, column.num_rows, column.bytes, batch);
    if (!rows.ok()) return rows.error();
    features = *rows;
  }
  return Error();
}

void AddLayers(const Schema& schema, Expansion expansion, const SampledGraph& graph,
               BatchTensors* tensors) {
  const auto flows =
      std::make_shared<const std::vector<LayerFlow>>(MakeLayerFlows(schema, graph, expansion));
  for (const LayerFlow& flow : *flows) {
    tensors->layers.push_back({flow.self, ShareVector(flow.offsets, torch::kInt64, flows),
                               ShareVector(flow.sources, torch::kInt32, flows)});
  }
}

}  // namespace

Result<torch::Tensor> RowsAsFloat(const ColumnSpec& spec, int64_t num_rows, const RowBuffer& bytes,
                                  const std::shared_ptr<const void>& owner) {
  if (static_cast<int64_t>(bytes.size()) != num_rows * spec.row_bytes()) {
    return Error(ErrorCode::kInvalidArgument, spec.name + ": " + std::to_string(bytes.size()) +
                                                  " bytes for " + std::to_string(num_rows) +
                                                  " rows of " + std::to_string(spec.row_bytes()));
  }
  torch::Tensor rows;
  const Error error = CatchTorch(ErrorCode::kInternal, spec.name, [&] {
    rows = Share(bytes.data(), {num_rows, spec.num_values()}, TorchType(spec.dtype), owner)
               .to(torch::kFloat32);
  });
  if (!error.ok()) return error;
  return rows;
}

Result<BatchTensors> ToTensors(const Schema& schema, Expansion expansion,
                               std::unique_ptr<MiniBatch> batch) {
  const std::shared_ptr<MiniBatch> shared = std::move(batch);
  const SampledGraph& graph = shared->graph;
  const std::vector<int32_t>& seeds = graph.seeds.front().positions;
  if (seeds.size() != shared->labels.size()) {
    return Error(ErrorCode::kInvalidArgument, std::to_string(shared->labels.size()) +
                                                  " labels for " + std::to_string(seeds.size()) +
                                                  " seeds");
  }
  BatchTensors tensors;
  const Error error = CatchTorch(ErrorCode::kInternal, "minibatch", [&] {
    AddLayers(schema, expansion, graph, &tensors);
    tensors.seed_rows = ShareVector(seeds, torch::kInt32, shared).to(torch::kInt64);
    tensors.labels = ShareVector(shared->labels, torch::kInt64, shared);
    return AddFeatures(schema, shared, &tensors);
  });
  if (!error.ok()) return error;
  return tensors;
}

}  // namespace vicinity
