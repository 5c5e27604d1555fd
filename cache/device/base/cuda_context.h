// A GPU's context, made the calling thread's for a while. What the thread had before comes back:
// in a trainer's thread that is PyTorch's.
#pragma once

#include <cuda.h>  // types alone: the driver's functions are asked for, so that nothing links it

#include <cstdint>

#include "absl/status/statusor.h"

namespace vicinity {

// Threads: any number. Lifetime: the process; it is the context that CUDA's runtime has for the
// GPU, PyTorch's too.
class CudaContext {
 public:
  // Makes the context if there is none yet, which takes device memory.
  static absl::StatusOr<CudaContext> Of(int32_t ordinal);

  // The context is the calling thread's while this lives.
  class Scope {
   public:
    explicit Scope(const CudaContext& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CUresult (*pop_)(CUcontext*);  // null: there is nothing to put back
  };

 private:
  CUcontext context_ = nullptr;
  CUresult (*push_)(CUcontext) = nullptr;
  CUresult (*pop_)(CUcontext*) = nullptr;
};

}  // namespace vicinity
