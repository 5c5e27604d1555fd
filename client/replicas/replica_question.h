// What is asked of a shard, in a form that can be asked again and again, and apart.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"

namespace vicinity {

struct ReplicaQuestion {
  using Ask = std::function<void(ShardAccess&, const CallContext&, Done)>;
  // An answer to buffers of its own, so that a second attempt never writes where the first does.
  struct Apart {
    Ask ask;
    std::function<void()> take;  // into the caller's buffers, after an answer
  };
  int operation = 0;        // kRequestIndex
  const char* method = "";  // for errors: "SampleNeighbors"
  bool of_writer = false;   // only the server that writes the shard can answer
  int64_t bytes = 0;        // about, both ways: for the load and for the limits of time
  Ask ask;                  // straight into the caller's buffers, whatever is there
  std::function<Apart()> apart;
};

template <typename Request, typename = void>
struct MayAskWriter : std::false_type {};
template <typename Request>
struct MayAskWriter<Request, std::void_t<decltype(std::declval<const Request&>().of_writer)>>
    : std::true_type {};

// It keeps the request as ShardAccess says: what that points to, and `out`, must live until the
// call is over.
template <typename Request>
ReplicaQuestion QuestionOf(const Request& request) {
  ReplicaQuestion question;
  question.operation = kRequestIndex<Request>;
  question.method = Request::kMethod;
  if constexpr (MayAskWriter<Request>::value) question.of_writer = request.of_writer;
  question.bytes = request.bytes();
  question.ask = [request](ShardAccess& shard, const CallContext& context, Done done) {
    request.Forget();
    shard.Ask(request, context, std::move(done));
  };
  question.apart = [request] {
    RequestApart<Request> apart = request.Apart();
    ReplicaQuestion::Apart other;
    other.ask = [asked = std::move(apart.request)](ShardAccess& shard, const CallContext& context,
                                                   Done done) {
      shard.Ask(asked, context, std::move(done));
    };
    other.take = std::move(apart.take);
    return other;
  };
  return question;
}

}  // namespace vicinity
