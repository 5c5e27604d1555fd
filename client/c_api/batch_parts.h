// What a batch of the C interface consists of: its blocks in order, and its parts as tensors.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <memory>

#include "client/c_api/handles.h"
#include "client/c_api/vicinity.h"
#include "client/types/result.h"

namespace vicinity::c_api {

// All fields but struct_size.
VicinityBatchInfo InfoOf(const OpenBatch& open);
// kInvalidArgument, with how many there are, for an index that is out of range.
Result<VicinitySeedListInfo> SeedListInfoOf(const MiniBatch& batch, int32_t list);
Result<VicinityBlockInfo> BlockInfoOf(const Schema& schema, const MiniBatch& batch, int32_t block);
Result<VicinityColumnInfo> ColumnInfoOf(const OpenBatch& open, int32_t column);
Result<VicinityEdgeColumnInfo> EdgeColumnInfoOf(const MiniBatch& batch, int32_t edge_column);
Result<VicinityRaggedInfo> RaggedInfoOf(const MiniBatch& batch, int32_t ragged);

// As vicinity_batch_tensor.
Result<DLManagedTensor*> TensorOf(const std::shared_ptr<const OpenBatch>& open, int32_t part,
                                  int32_t index, int64_t stream);

}  // namespace vicinity::c_api
