// What Graph::SampleAsync and Graph::FetchAsync are asked (client/graph.h), and the hold that their
// caller has on a call under way.
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/types/graph_values.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// The arguments of Graph::Sample.
struct SampleRequest {
  std::vector<SeedNodes> seeds;
  SamplingSpec spec;
  DrawId draw{};
  EdgeDetail detail{};
  // From SampleAsync to on_done, the wait for a free thread included; above 0.
  std::chrono::milliseconds timeout{60000};
};

// The arguments of Graph::Fetch.
struct FetchRequest {
  int32_t node_type = 0;
  std::string column;
  std::vector<int64_t> nodes;                // global ids
  std::chrono::milliseconds timeout{60000};  // as above
};

class AsyncCalls;

// A call that was begun. A value: copies mean the same call, which goes on whether they are kept or
// not.
//
// Threads:  Cancel from any number of threads at once, callbacks included.
// Lifetime: may outlive the call and the graph.
class AsyncCall {
 public:
  AsyncCall() = default;  // of no call

  // Ends the call soon, its RPCs included: on_done gets kCancelled, or the answer if that was there
  // already. It is not called in here, and may be called before or after this returns. Does nothing
  // once on_done has been called.
  void Cancel() const;

 private:
  friend class AsyncCalls;
  AsyncCall(std::weak_ptr<AsyncCalls> calls, int64_t number)
      : calls_(std::move(calls)), number_(number) {}

  std::weak_ptr<AsyncCalls> calls_;
  int64_t number_ = 0;
};

}  // namespace vicinity
