#include "client/rpc/process_guard.h"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "absl/strings/str_cat.h"

namespace vicinity {

absl::Status ClaimProcessForRpc() {
  // As gRPC's state is the whole process's, so is this.
  static std::atomic<pid_t> owner{0};
  pid_t claimed = 0;
  const pid_t self = getpid();
  if (owner.compare_exchange_strong(claimed, self) || claimed == self) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "process ", self, " was forked from process ", claimed,
      " after that had connected to servers, and gRPC does not work in such a child: fork before "
      "the first graph is opened, or start the child by spawn or exec"));
}

}  // namespace vicinity
