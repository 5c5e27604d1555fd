// Kernels as values: each knows how its threads run on the host, and how it gets into a CUDA
// stream. So devices know no kernel, and a new one changes none of them. It is files of its own:
//
//   x.h          what it works on, a plain struct X; what one thread does, for both compilers
//   x.cc         Kernel KernelOf(const X&), by MakeKernel
//   x.cu         int LaunchOnCuda(void* stream, const X&); its threads are those of x.h
//   x_absent.cc  the same function in builds without CUDA
//
// cache/device/copy_rows.h is an example.
#pragma once

#include <cstdint>
#include <functional>

namespace vicinity {

// The order in which a kernel's threads run on the host, each once.
struct ThreadOrder {
  int64_t num_threads = 0;
  int64_t first = 0;  // below num_threads
  int64_t step = 1;   // from each to the next, round; has no divisor in common with num_threads

  template <typename Thread>
  void ForEach(const Thread& thread) const {
    int64_t t = first;
    for (int64_t i = 0; i < num_threads; ++i) {
      thread(t);
      t += step;
      if (t >= num_threads) t -= num_threads;
    }
  }
};

// With copies of what it works on; the memory that this names must live until the stream is past
// the kernel.
//
// Threads: any number may use one at once.
struct Kernel {
  const char* name = "";    // lives as long as the process; errors have it
  int64_t num_threads = 0;  // without any, nothing is done
  std::function<void(const ThreadOrder&)> run_on_host;
  // Into a cudaStream_t of the current device. What CUDA says of the launch, a cudaError_t; of the
  // work itself later calls tell. Asked for by CUDA devices alone.
  std::function<int(void* stream)> launch_on_cuda;
};

// What a launcher says in a build without CUDA: cudaErrorNotSupported.
inline constexpr int kNoCuda = 801;

// `thread(work, t)` is what the t-th thread does. LaunchOnCuda is found beside the work.
template <typename Work, typename Thread>
Kernel MakeKernel(const char* name, const Work& work, int64_t num_threads, const Thread& thread) {
  Kernel kernel;
  kernel.name = name;
  kernel.num_threads = num_threads;
  kernel.run_on_host = [work, thread](const ThreadOrder& order) {
    order.ForEach([&](int64_t t) { thread(work, t); });
  };
  kernel.launch_on_cuda = [work](void* stream) { return LaunchOnCuda(stream, work); };
  return kernel;
}

}  // namespace vicinity
