// The part of client/c_api/vicinity.h that concerns batches and tensors.
#include <cstdint>

#include "client/c_api/batch_parts.h"
#include "client/c_api/call.h"
#include "client/c_api/handles.h"
#include "client/c_api/host_tensor.h"
#include "client/c_api/info.h"
#include "client/c_api/vicinity.h"
#include "client/types/result.h"

using vicinity::Error;
using vicinity::ErrorCode;
using vicinity::Result;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

void vicinity_batch_release(VicinityBatch* batch) { delete batch; }

int32_t vicinity_batch_info(const VicinityBatch* batch, VicinityBatchInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill<VicinityBatchInfo>(vicinity::c_api::InfoOf(*batch->open), info);
  });
}

int32_t vicinity_batch_seed_list(const VicinityBatch* batch, int32_t list,
                                 VicinitySeedListInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(vicinity::c_api::SeedListInfoOf(*batch->open->batch, list), info);
  });
}

int32_t vicinity_batch_block(const VicinityBatch* batch, int32_t block, VicinityBlockInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(
        vicinity::c_api::BlockInfoOf(*batch->open->schema, *batch->open->batch, block), info);
  });
}

int32_t vicinity_batch_column(const VicinityBatch* batch, int32_t column,
                              VicinityColumnInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(vicinity::c_api::ColumnInfoOf(*batch->open, column), info);
  });
}

int32_t vicinity_batch_edge_column(const VicinityBatch* batch, int32_t edge_column,
                                   VicinityEdgeColumnInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(
        vicinity::c_api::EdgeColumnInfoOf(*batch->open->batch, edge_column), info);
  });
}

int32_t vicinity_batch_ragged(const VicinityBatch* batch, int32_t ragged,
                              VicinityRaggedInfo* info) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"info", info}});
    if (!error.ok()) return error;
    return vicinity::c_api::Fill(vicinity::c_api::RaggedInfoOf(*batch->open->batch, ragged), info);
  });
}

int32_t vicinity_batch_tensor(const VicinityBatch* batch, int32_t part, int32_t index,
                              int64_t stream, DLManagedTensor** tensor) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"batch", batch}, {"tensor", tensor}});
    if (!error.ok()) return error;
    const Result<DLManagedTensor*> made =
        vicinity::c_api::TensorOf(batch->open, part, index, stream);
    if (!made.ok()) return made.error();
    *tensor = *made;
    return Error();
  });
}

int32_t vicinity_tensor_share(const DLManagedTensor* tensor, DLManagedTensor** other) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"tensor", tensor}, {"other", other}});
    if (!error.ok()) return error;
    DLManagedTensor* const shared = vicinity::c_api::ShareHostTensor(*tensor);
    if (shared == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "the tensor is not in host memory, or not of ours");
    }
    *other = shared;
    return Error();
  });
}

void vicinity_tensor_free(DLManagedTensor* tensor) {
  if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

}  // extern "C"
