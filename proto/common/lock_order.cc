#include "proto/common/lock_order.h"

#include "absl/synchronization/mutex.h"

namespace vicinity {

void IgnoreLockOrder() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

}  // namespace vicinity
