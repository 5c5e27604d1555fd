#include "client/shards/thread_cancellation.h"

#include <utility>

namespace vicinity {
namespace {

std::shared_ptr<Cancellation>& OfThisThread() {
  static thread_local std::shared_ptr<Cancellation> cancellation;
  return cancellation;
}

}  // namespace

void SetThreadCancellation(std::shared_ptr<Cancellation> cancellation) {
  OfThisThread() = std::move(cancellation);
}

Cancellation* ThreadCancellation() { return OfThisThread().get(); }

}  // namespace vicinity
