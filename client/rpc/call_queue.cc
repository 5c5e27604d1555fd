#include "client/rpc/call_queue.h"

namespace vicinity {

CallQueue::CallQueue() : thread_([this] { Run(); }) {}

CallQueue::~CallQueue() {
  queue_.Shutdown();
  thread_.join();
}

void CallQueue::Run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) static_cast<Handler*>(tag)->OnEvent(ok);
}

}  // namespace vicinity
