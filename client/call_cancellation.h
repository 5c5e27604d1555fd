// Gives up, from another thread, the calls that a thread makes and waits for.
//
//   CallCancellation given_up;            // in one thread:
//   given_up.Enter();
//   Result<Rows> rows = graph.Fetch(...); // kCancelled soon after another has called Cancel()
//   CallCancellation::Leave();
//
// For the C interface; C++ has Graph::SampleAsync and FetchAsync, whose AsyncCall is cancelled.
#pragma once

#include <memory>

namespace vicinity {

class Cancellation;

// What ends with kCancelled is what waits for servers: Graph::Open, methods of graphs and of
// prepared queries, and Loader::Create while it reads seeds. What is mapped is read to its end.
// Loaders' own threads and asynchronous calls go on.
//
// Threads:  Cancel from any, also while calls begin and end; Enter and Leave concern the thread
// that
//           calls them, between two of its calls.
// Lifetime: it may go while a thread is in calls that belong to it.
class CallCancellation {
 public:
  CallCancellation();
  CallCancellation(const CallCancellation&) = delete;
  CallCancellation& operator=(const CallCancellation&) = delete;

  // This thread's calls belong to it from now on, and to no other.
  void Enter() const;
  // This thread's calls belong to none.
  static void Leave();

  // Ends the calls that belong to it: those under way, and those that begin from now on.
  void Cancel() const;

 private:
  const std::shared_ptr<Cancellation> cancellation_;
};

}  // namespace vicinity
