#include "client/c_api/batch_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/host_tensor.h"
#include "client/types/device_tensor.h"
#include "client/types/dlpack_type.h"
#include "client/types/loader_values.h"
#include "client/types/row_buffer.h"
#include "partition/schema/schema.h"
#include "proto/common/mutex.h"
#include "sampler/sampled_graph.h"

namespace vicinity::c_api {
namespace {

using Tensor = Result<DLManagedTensor*>;
using Shared = std::shared_ptr<const OpenBatch>;

Error CheckIndex(const char* what, int64_t index, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count) return Error();
  return Error(ErrorCode::kInvalidArgument, std::string("there is no ") + what + " " +
                                                std::to_string(index) + ": the batch has " +
                                                std::to_string(count));
}

int64_t NumBlocks(const MiniBatch& batch) {
  size_t blocks = 0;
  for (const std::vector<Block>& hop : batch.graph.hops) blocks += hop.size();
  return static_cast<int64_t>(blocks);
}

struct PlacedBlock {
  int32_t hop;
  const Block* block;
};

// The index must be in range.
PlacedBlock FindBlock(const MiniBatch& batch, int32_t index) {
  int32_t hop = 0;
  while (index >= static_cast<int32_t>(batch.graph.hops[hop].size())) {
    index -= static_cast<int32_t>(batch.graph.hops[hop++].size());
  }
  return {hop, &batch.graph.hops[hop][index]};
}

template <typename Value>
Tensor Share(const Shared& open, const std::vector<Value>& values, DType dtype) {
  return HostTensor(open, values.data(), DlpackType(dtype), {static_cast<int64_t>(values.size())});
}

Tensor ShareRows(const Shared& open, const RowBuffer& bytes, const ColumnSpec& spec,
                 int64_t num_rows) {
  std::vector<int64_t> shape = spec.shape;
  shape.insert(shape.begin(), num_rows);
  return HostTensor(open, bytes.data(), DlpackType(spec.dtype), std::move(shape));
}

Tensor NodePart(const Shared& open, int32_t part, int32_t index) {
  const SampledNodes& nodes = open->batch->graph.nodes[index];
  if (part == VICINITY_NODES) return Share(open, nodes.ids, DType::kInt64);
  if (part == VICINITY_HOP_ENDS) return Share(open, nodes.hop_ends, DType::kInt64);
  if (nodes.trees.size() != nodes.ids.size()) {
    return Error(ErrorCode::kNotFound, "there are trees with \"disjoint\": true alone");
  }
  return Share(open, nodes.trees, DType::kInt32);  // positions of seeds: none is beyond int32
}

// Of each edge the number of its target.
std::vector<int32_t> TargetsOf(const Block& block) {
  std::vector<int32_t> targets;
  targets.reserve(block.sources.size());
  for (int64_t i = 0; i < block.num_targets(); ++i) {
    targets.insert(targets.end(), block.offsets[i + 1] - block.offsets[i], static_cast<int32_t>(i));
  }
  return targets;
}

Error NoEdgeIds() {
  return Error(ErrorCode::kNotFound, "there are edge ids with \"edge_ids\": true alone");
}

Tensor BlockPart(const Shared& open, int32_t part, int32_t index) {
  const Block& block = *FindBlock(*open->batch, index).block;
  if (part == VICINITY_BLOCK_OFFSETS) return Share(open, block.offsets, DType::kInt64);
  if (part == VICINITY_BLOCK_SOURCES) return Share(open, block.sources, DType::kInt32);
  if (part == VICINITY_BLOCK_TARGETS) return HostTensor(TargetsOf(block), DType::kInt32);
  if (block.edge_ids.size() != block.sources.size()) {
    return NoEdgeIds();
  }
  return Share(open, block.edge_ids, DType::kInt64);
}

// Of all blocks of an edge type, hop by hop.
std::vector<const Block*> BlocksOf(const MiniBatch& batch, int32_t edge_type) {
  std::vector<const Block*> blocks;
  for (const std::vector<Block>& hop : batch.graph.hops) {
    for (const Block& block : hop) {
      if (block.edge_type == edge_type) blocks.push_back(&block);
    }
  }
  return blocks;
}

int64_t CountEdges(const std::vector<const Block*>& blocks) {
  int64_t num_edges = 0;
  for (const Block* block : blocks) num_edges += static_cast<int64_t>(block->sources.size());
  return num_edges;
}

Tensor EdgeIndex(const MiniBatch& batch, int32_t edge_type) {
  const std::vector<const Block*> blocks = BlocksOf(batch, edge_type);
  const int64_t num_edges = CountEdges(blocks);
  const std::shared_ptr<int64_t[]> index(new int64_t[2 * num_edges]);  // without zeros at first
  int64_t* source = index.get();
  int64_t* target = index.get() + num_edges;
  for (const Block* block : blocks) {
    source = std::copy(block->sources.begin(), block->sources.end(), source);
    for (int64_t i = 0; i < block->num_targets(); ++i) {
      target =
          std::fill_n(target, block->offsets[i + 1] - block->offsets[i], block->first_target + i);
    }
  }
  return HostTensor(index, index.get(), DlpackType(DType::kInt64), {2, num_edges});
}

Tensor EdgeIds(const MiniBatch& batch, int32_t edge_type) {
  const std::vector<const Block*> blocks = BlocksOf(batch, edge_type);
  std::vector<int64_t> ids;
  ids.reserve(CountEdges(blocks));
  for (const Block* block : blocks) {
    ids.insert(ids.end(), block->edge_ids.begin(), block->edge_ids.end());
  }
  if (static_cast<int64_t>(ids.size()) != CountEdges(blocks)) return NoEdgeIds();
  return HostTensor(std::move(ids), DType::kInt64);
}

// A column in device memory has one owner, who gets it here.
Tensor HandOver(DeviceColumn* column, int32_t index, int64_t stream) {
  if (stream == 0 || stream < -1) {
    return Error(ErrorCode::kInvalidArgument,
                 "stream " + std::to_string(stream) + ": 1 is the default stream, -1 none");
  }
  if (column->tensor == nullptr) {
    return Error(ErrorCode::kFailedPrecondition,
                 "column " + std::to_string(index) +
                     " was handed over before: in device memory it has one owner");
  }
  return DeviceTensor::HandOver(std::move(column->tensor), stream);
}

Tensor ColumnPart(const Shared& open, int32_t index, int64_t stream) {
  {
    MutexLock lock(&open->mu);
    const auto placed = open->on_device.find(index);
    if (placed != open->on_device.end()) return HandOver(&placed->second, index, stream);
  }
  const BatchColumn& column = open->batch->columns[index];
  return ShareRows(open, column.bytes, column.spec, column.num_rows);
}

Tensor UserIds(const Shared& open, int32_t node_type) {
  for (const BatchColumn& column : open->batch->user_ids) {
    if (column.node_type != node_type) continue;
    return ShareRows(open, column.bytes, column.spec, column.num_rows);
  }
  return Error(ErrorCode::kNotFound,
               "the batch has no user ids of node type \"" +
                   open->schema->node_types[node_type].name +
                   "\": they come with \"user_ids\": true, of types whose ids are integers");
}

Tensor InputPositions(const Shared& open) {
  const bool has_seeds = open->batch->graph.num_seeds() > 0 || open->answer != nullptr;
  if (open->batch->input_positions.empty() && has_seeds) {
    return Error(
        ErrorCode::kNotFound,
        "the batch does not know which of the loader's seeds it has: with \"seed_policy\": "
        "\"home\" that is not known, nor in a sample");
  }
  return Share(open, open->batch->input_positions, DType::kInt64);
}

Tensor Labels(const Shared& open) {
  if (open->batch->labels.empty()) {
    return Error(ErrorCode::kNotFound,
                 "the batch has no labels: its seeds have none, or the loader has \"labels\": "
                 "false, or it is "
                 "a sample");
  }
  return Share(open, open->batch->labels, DType::kInt64);
}

Tensor QuerySeeds(const Shared& open, int32_t input) {
  if (open->answer == nullptr) {
    return Error(ErrorCode::kNotFound, "the batch is not of a query's loader: it is a minibatch");
  }
  const Error error = CheckIndex("input", input, open->query_seeds.size());
  return error.ok() ? Share(open, open->query_seeds[input], DType::kInt64) : Tensor(error);
}

Tensor RaggedPart(const Shared& open, int32_t part, int32_t index) {
  const RaggedRows& rows = open->batch->ragged[index].rows;
  if (part == VICINITY_RAGGED_ROW_ENDS) return Share(open, rows.row_ends, DType::kInt64);
  if (part == VICINITY_RAGGED_VALUES) {
    return HostTensor(open, rows.values.data(), DlpackType(rows.spec.dtype), {rows.num_values()});
  }
  if (rows.spec.is_sparse()) return Share(open, rows.indices, DType::kInt32);
  return Error(ErrorCode::kNotFound,
               "column " + rows.spec.name + " is of lists, which have no indices");
}

}  // namespace

VicinityBatchInfo InfoOf(const OpenBatch& open) {
  const MiniBatch& batch = *open.batch;
  VicinityBatchInfo info = {};
  info.epoch = batch.epoch;
  info.step = batch.step;
  info.batches_done = batch.batches_done;
  info.num_seed_lists = static_cast<int32_t>(batch.graph.seeds.size());
  info.num_node_types = static_cast<int32_t>(batch.graph.nodes.size());
  info.num_hops = static_cast<int32_t>(batch.graph.hops.size());
  info.num_blocks = static_cast<int32_t>(NumBlocks(batch));
  info.num_columns = static_cast<int32_t>(batch.columns.size());
  info.num_edge_columns = static_cast<int32_t>(batch.edge_columns.size());
  info.has_labels = batch.labels.empty() ? 0 : 1;
  info.num_ragged = static_cast<int32_t>(batch.ragged.size());
  info.has_answer = open.answer == nullptr ? 0 : 1;
  info.draw = open.draw;
  return info;
}

Result<VicinitySeedListInfo> SeedListInfoOf(const MiniBatch& batch, int32_t list) {
  Error error = CheckIndex("list of seeds", list, batch.graph.seeds.size());
  if (!error.ok()) return error;
  const SampledSeeds& seeds = batch.graph.seeds[list];
  VicinitySeedListInfo info = {};
  info.node_type = seeds.node_type;
  info.count = static_cast<int64_t>(seeds.positions.size());
  return info;
}

Result<VicinityBlockInfo> BlockInfoOf(const Schema& schema, const MiniBatch& batch, int32_t block) {
  Error error = CheckIndex("block", block, NumBlocks(batch));
  if (!error.ok()) return error;
  const PlacedBlock placed = FindBlock(batch, block);
  VicinityBlockInfo info = {};
  info.hop = placed.hop;
  info.edge_type = placed.block->edge_type;
  info.source_type = schema.edge_types[info.edge_type].source_type;
  info.target_type = schema.edge_types[info.edge_type].target_type;
  info.first_target = placed.block->first_target;
  info.num_targets = placed.block->num_targets();
  info.num_sources = batch.graph.nodes[info.source_type].hop_ends[placed.hop + 1];
  info.num_edges = static_cast<int64_t>(placed.block->sources.size());
  return info;
}

Result<VicinityColumnInfo> ColumnInfoOf(const OpenBatch& open, int32_t column) {
  const MiniBatch& batch = *open.batch;
  Error error = CheckIndex("column", column, batch.columns.size());
  if (!error.ok()) return error;
  VicinityColumnInfo info = {};
  info.node_type = batch.columns[column].node_type;
  info.device_type = kDLCPU;
  info.name = batch.columns[column].spec.name.c_str();
  MutexLock lock(&open.mu);
  const auto placed = open.on_device.find(column);
  if (placed != open.on_device.end() && placed->second.kind == DeviceKind::kCuda) {
    info.device_type = kDLCUDA;
    info.device_id = placed->second.ordinal;
  }
  return info;
}

Result<VicinityEdgeColumnInfo> EdgeColumnInfoOf(const MiniBatch& batch, int32_t edge_column) {
  Error error = CheckIndex("edge column", edge_column, batch.edge_columns.size());
  if (!error.ok()) return error;
  VicinityEdgeColumnInfo info = {};
  info.hop = batch.edge_columns[edge_column].hop;
  info.edge_type = batch.edge_columns[edge_column].edge_type;
  info.name = batch.edge_columns[edge_column].spec.name.c_str();
  return info;
}

Result<VicinityRaggedInfo> RaggedInfoOf(const MiniBatch& batch, int32_t ragged) {
  Error error = CheckIndex("ragged column", ragged, batch.ragged.size());
  if (!error.ok()) return error;
  const RaggedSpec& spec = batch.ragged[ragged].rows.spec;
  VicinityRaggedInfo info = {};
  info.node_type = batch.ragged[ragged].node_type;
  info.num_columns = spec.num_columns;
  info.name = spec.name.c_str();
  return info;
}

Result<DLManagedTensor*> TensorOf(const Shared& open, int32_t part, int32_t index, int64_t stream) {
  const MiniBatch& batch = *open->batch;
  Error error;
  switch (part) {
    case VICINITY_NODES:
    case VICINITY_HOP_ENDS:
    case VICINITY_TREES:
      error = CheckIndex("node type", index, batch.graph.nodes.size());
      return error.ok() ? NodePart(open, part, index) : Tensor(error);
    case VICINITY_SEEDS:
      error = CheckIndex("list of seeds", index, batch.graph.seeds.size());
      return error.ok() ? Share(open, batch.graph.seeds[index].positions, DType::kInt32)
                        : Tensor(error);
    case VICINITY_USER_IDS:
      error = CheckIndex("node type", index, batch.graph.nodes.size());
      return error.ok() ? UserIds(open, index) : Tensor(error);
    case VICINITY_EDGE_INDEX:
    case VICINITY_EDGE_IDS:
      error = CheckIndex("edge type", index, open->schema->edge_types.size());
      if (!error.ok()) return error;
      return part == VICINITY_EDGE_INDEX ? EdgeIndex(batch, index) : EdgeIds(batch, index);
    case VICINITY_INPUT_POSITIONS:
      return InputPositions(open);
    case VICINITY_LABELS:
      return Labels(open);
    case VICINITY_QUERY_SEEDS:
      return QuerySeeds(open, index);
    case VICINITY_COLUMN:
      error = CheckIndex("column", index, batch.columns.size());
      return error.ok() ? ColumnPart(open, index, stream) : Tensor(error);
    case VICINITY_EDGE_COLUMN: {
      error = CheckIndex("edge column", index, batch.edge_columns.size());
      if (!error.ok()) return error;
      const EdgeRows& rows = batch.edge_columns[index];
      return ShareRows(open, rows.bytes, rows.spec, rows.num_rows);
    }
    case VICINITY_RAGGED_ROW_ENDS:
    case VICINITY_RAGGED_INDICES:
    case VICINITY_RAGGED_VALUES:
      error = CheckIndex("ragged column", index, batch.ragged.size());
      return error.ok() ? RaggedPart(open, part, index) : Tensor(error);
    case VICINITY_BLOCK_OFFSETS:
    case VICINITY_BLOCK_SOURCES:
    case VICINITY_BLOCK_TARGETS:
    case VICINITY_BLOCK_EDGE_IDS:
      error = CheckIndex("block", index, NumBlocks(batch));
      return error.ok() ? BlockPart(open, part, index) : Tensor(error);
    default:
      return Error(ErrorCode::kInvalidArgument, "there is no part " + std::to_string(part));
  }
}

}  // namespace vicinity::c_api
