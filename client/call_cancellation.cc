#include "client/call_cancellation.h"

#include "client/shards/cancellation.h"
#include "client/shards/thread_cancellation.h"

namespace vicinity {

CallCancellation::CallCancellation() : cancellation_(std::make_shared<Cancellation>()) {}

void CallCancellation::Enter() const { SetThreadCancellation(cancellation_); }

void CallCancellation::Leave() { SetThreadCancellation(nullptr); }

void CallCancellation::Cancel() const { cancellation_->Cancel(); }

}  // namespace vicinity
