// Threads and memory that the system may refuse: the standard library throws then, our own code
// returns a status.
#pragma once

#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace vicinity {

// ResourceExhausted where no further thread can be had: the limits of processes (ulimit -u), of the
// container (pids) or of memory are met.
template <typename Work>
absl::StatusOr<std::thread> StartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread: ", error.what(),
                     " (see the limits of processes and memory: ulimit -u, ulimit -v, the "
                     "container's pids and memory)"));
  }
}

// What work() returns, a status or StatusOr; ResourceExhausted if memory or a thread could not be
// had on the way. For the borders of a library, whose callers need not expect exceptions.
template <typename Work>
auto WithinResources(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "out of memory (see the limits of memory: ulimit -v, the container's)");
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat(error.what(),
                     " (see the limits of processes and memory: ulimit -u, ulimit -v, "
                     "the container's pids and memory)"));
  }
}

}  // namespace vicinity
