// One shard, wherever it is: everything above the wire asks through this interface alone.
//
// Implemented by a mapped shard (client/shards/mapped_shard.h), by one behind a server
// (client/rpc/remote_shard.h), by several of those together (client/replicas/replicated_shard.h),
// and by tests' fakes.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_requests.h"
#include "partition/dataset/shard_reader.h"

namespace vicinity {

template <typename Request>
class Answers {
 public:
  virtual ~Answers() = default;
  virtual void Ask(const Request& request, const CallContext& context, Done done) = 0;
};

template <typename List>
class AnswersAll;
template <typename... Requests>
class AnswersAll<RequestList<Requests...>> : public Answers<Requests>... {
 public:
  using Answers<Requests>::Ask...;
};

// It has an Ask(request, context, done) for each of ShardRequests.
//
// Threads:  all methods may be called from any number of threads at once.
// Lifetime: what a request points to, its `out` and the cancellation must live until `done` has
// been
//           called; the request itself is copied. `done` is called exactly once, whatever happens.
//           After an error the content of `out` is unspecified.
// Errors:   name the shard, and for a remote one server, address and operation. Answers are
//           checked: counts match, ids are in range, else Internal. Cancelled after
//           the context's Cancel().
class ShardAccess : public AnswersAll<ShardRequests> {
 public:
  // True where calls end in other processes: those are started first, so that they run meanwhile.
  virtual bool remote() const = 0;

  // Of a shard whose files are mapped here, which need not ask to read them; null elsewhere.
  virtual const ShardReader* mapped() const { return nullptr; }
  // Of who draws edges from mapped() by himself: how many, for the counters.
  virtual void CountSampledEdges(int64_t /*count*/) const {}
};

// For a shard that treats all requests alike: its Ask of each is its one
//   template <typename Request> void AskAny(const Request&, const CallContext&, Done);
// class MyShard final : public AnswersAlike<MyShard> { ... };
template <typename Shard, typename List = ShardRequests>
class AnswersAlike;
template <typename Shard>
class AnswersAlike<Shard, RequestList<>> : public ShardAccess {
 public:
  using ShardAccess::Ask;
};
template <typename Shard, typename First, typename... Rest>
class AnswersAlike<Shard, RequestList<First, Rest...>>
    : public AnswersAlike<Shard, RequestList<Rest...>> {
 public:
  using AnswersAlike<Shard, RequestList<Rest...>>::Ask;
  void Ask(const First& request, const CallContext& context, Done done) final {
    static_cast<Shard*>(this)->AskAny(request, context, std::move(done));
  }
};

}  // namespace vicinity
