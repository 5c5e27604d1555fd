#include "server/resource_check.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/common/machine.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

std::string LimitText(__rlimit_resource_t resource, rlim_t unit) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return absl::StrCat(limit.rlim_cur / unit);
}

absl::Status CheckAddressSpace(int64_t bytes) {
  void* const reserved = mmap(nullptr, static_cast<size_t>(bytes), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a server needs ", bytes >> 20,
        " MiB of address space beside its data, and has not got it: ", std::strerror(errno),
        " (ulimit -v, in KiB: ", LimitText(RLIMIT_AS, 1024), ")"));
  }
  munmap(reserved, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

// Threads that are there until all of them have started.
class ThreadsAtOnce {
 public:
  absl::Status Start(int num_threads) {
    for (int i = 0; i < num_threads; ++i) {
      VICINITY_ASSIGN_OR_RETURN(std::thread thread, StartThread([this] { WaitForEnd(); }));
      threads_.push_back(std::move(thread));
    }
    return absl::OkStatus();
  }
  int size() const { return static_cast<int>(threads_.size()); }

  ~ThreadsAtOnce() {
    {
      const MutexLock lock(&mu_);
      over_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void WaitForEnd() {
    const MutexLock lock(&mu_);
    while (!over_) changed_.WaitFor(&mu_, std::chrono::seconds(1));
  }

  Mutex mu_;
  CondVar changed_;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

absl::Status CheckThreads(int num_threads) {
  ThreadsAtOnce threads;
  if (threads.Start(num_threads).ok()) return absl::OkStatus();
  const int64_t of_container = AvailableTasks();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a server needs ", num_threads, " threads at its start, and can have ", threads.size(),
      " (ulimit -u: ", LimitText(RLIMIT_NPROC, 1), "; left in the container (pids): ",
      of_container == INT64_MAX ? "unlimited" : absl::StrCat(of_container),
      "; ulimit -v, in KiB: ", LimitText(RLIMIT_AS, 1024), ")"));
}

}  // namespace

absl::Status CheckResources(const ResourceNeeds& needs) {
  VICINITY_RETURN_IF_ERROR(CheckThreads(needs.num_threads));
  return CheckAddressSpace(needs.address_bytes);
}

}  // namespace vicinity
