#include "proto/common/lock_order.h"

#include <catch2/catch.hpp>

#include "absl/synchronization/mutex.h"

namespace vicinity {
namespace {

// Without the call, Abseil as Debian builds it aborts here.
TEST_CASE("locks taken in another order than before do not end the process", "[lock_order]") {
  IgnoreLockOrder();
  absl::Mutex first, second;
  {
    const absl::MutexLock one(&first);
    const absl::MutexLock two(&second);
  }
  const absl::MutexLock two(&second);
  const absl::MutexLock one(&first);
  SUCCEED("still here");
}

}  // namespace
}  // namespace vicinity
