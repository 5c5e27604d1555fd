// A minibatch as libtorch tensors that share its memory.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "client/loader.h"
#include "client/train/message_flow.h"
#include "client/types/result.h"
#include "client/types/row_buffer.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity {

// One layer's LayerFlow, its arrays as tensors.
struct LayerTensors {
  std::vector<LayerFlow::Range> self;
  torch::Tensor offsets;  // int64 [outputs + 1]
  torch::Tensor sources;  // int32 [edges]
};

// Lifetime: each tensor keeps what it shares alive; the batch itself need not be kept.
struct BatchTensors {
  std::vector<torch::Tensor> features;  // by node type, float32 [nodes, values]; undefined: none
  std::vector<int64_t> num_nodes;       // by node type
  torch::Tensor seed_rows;              // int64: of each seed, its row among the model's outputs
  torch::Tensor labels;                 // int64: of each seed, -1: none
  std::vector<LayerTensors> layers;     // in the order of use
};

// `num_rows` rows of a column as float32 [num_rows, values of a row]: the bytes themselves if they
// are float32, else widened or narrowed from whatever number type they are. `owner` keeps `bytes`
// alive; they must be aligned for their type. kInvalidArgument if there are not as many bytes as
// the rows take.
Result<torch::Tensor> RowsAsFloat(const ColumnSpec& spec, int64_t num_rows, const RowBuffer& bytes,
                                  const std::shared_ptr<const void>& owner);

// Takes the batch over. At most one column a node type; features of columns on a device are
// there too, all else is on the host. kInvalidArgument naming what does not fit.
Result<BatchTensors> ToTensors(const Schema& schema, Expansion expansion,
                               std::unique_ptr<MiniBatch> batch);

}  // namespace vicinity
