// The kernels, as functions that put one into a CUDA stream; nothing here needs nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include "cache/device/copy_rows.h"
#include "cache/device/index_work.h"

namespace vicinity {

// On the current device, which is the stream's. What CUDA says of the launch; of the work itself
// later calls tell.
cudaError_t LaunchOn(cudaStream_t stream, const CopyRows& work);
cudaError_t LaunchOn(cudaStream_t stream, const WriteCells& work);
cudaError_t LaunchOn(cudaStream_t stream, const LookUpIds& work);
cudaError_t LaunchOn(cudaStream_t stream, const PublishCounts& work);

}  // namespace vicinity
