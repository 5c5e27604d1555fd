// The thread that carries the calls to a server: it reads their sockets and runs what is to happen
// when something has come.
#pragma once

#include <grpcpp/completion_queue.h>

#include <thread>

namespace vicinity {

// Calls use gRPC's completion queues and not its callbacks: with those, gRPC 1.51 ends the process
// (an assertion of its own) where the headers of an answer came damaged.
//
// Threads:  any may use queue(); handlers run in the queue's own thread, one at a time.
// Lifetime: the destructor waits for calls that are still under way, so end them first. It must not
//           run in the queue's own thread.
class CallQueue {
 public:
  // What a tag of queue() points to; stays until its event has come.
  class Handler {
   public:
    virtual void OnEvent(bool ok) = 0;

   protected:
    ~Handler() = default;
  };

  CallQueue();
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  grpc::CompletionQueue* queue() { return &queue_; }

 private:
  void Run();

  grpc::CompletionQueue queue_;
  std::thread thread_;
};

}  // namespace vicinity
