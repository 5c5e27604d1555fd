// What waits to be sent over one bulk connection, and the sending of it.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/bulk/byte_stream.h"
#include "proto/bulk/frame.h"
#include "proto/common/mutex.h"

namespace vicinity::bulk {

// Whoever has something to send sends it, in its own thread, without another being woken; while one
// thread does, others leave what they have to it. Only when the socket takes nothing more the
// owner's event loop is asked to go on.
//
//   nothing --Send--> a thread sends --all gone--> nothing
//                       |      ^
//        socket is full v      | CanWrite
//                       waits for the socket          any state --Break, an error--> broken
//
// Small frames go before large ones, and those of one size class in the order in which they came.
//
// Threads:  any.
// Lifetime: `stream` and `owner` outlive it. Whoever calls a method keeps it until that returns.
// Memory:   that of the frames; bounding it is its owner's.
class FrameSender {
 public:
  // Called without a lock, by whichever thread is sending.
  class Owner {
   public:
    // CanWrite is to be called, but not from here, once the stream takes more, or is ended.
    virtual void AwaitWritable() = 0;
    // Nothing goes any more. Once, unless Break was called.
    virtual void OnBroken(const absl::Status& status) = 0;

   protected:
    ~Owner() = default;
  };

  class Waiter {
   public:
    virtual ~Waiter() = default;
    // The frame has gone, or (false) never will. May send more.
    virtual void OnSent(bool ok) = 0;
  };

  struct Frame {
    FrameHeader header;  // without the sizes, which Send fills in
    std::string head{};
    grpc::ByteBuffer payload{};
    std::shared_ptr<Waiter> waiter{};  // null: nobody waits. Shared with the owner's calls
  };

  FrameSender(ByteStream* stream, Owner* owner) : stream_(stream), owner_(owner) {}

  // `head` is kMaxHeadBytes at most, a payload what its kind may have.
  // After about `most` bytes, others' frames among them, the owner is asked to go on later.
  void Send(Frame frame, size_t most = SIZE_MAX);
  // Sends kSomeBytes of what waits, so that a thread of many connections gets to the others.
  static constexpr size_t kSomeBytes = 512 << 10;
  void CanWrite();
  // Frames that wait.
  size_t num_waiting() const;
  // All that waits, and what comes from now on, is not sent.
  void Break();

 private:
  // A frame that has begun to go, or goes with the next write.
  struct Going {
    std::string start;  // header and head
    std::vector<grpc::Slice> slices;
    size_t size = 0;
    grpc::ByteBuffer payload;
    std::shared_ptr<Waiter> waiter;
  };

  void Flush(size_t most);
  // False: there is nothing to send, and nobody sends any more.
  bool TakeFrames();
  void FillPieces();
  void Went(size_t count);
  void FailAll();

  ByteStream* const stream_;
  Owner* const owner_;
  mutable Mutex mu_;
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Going> small_ ABSL_GUARDED_BY(mu_);
  std::deque<Going> large_ ABSL_GUARDED_BY(mu_);
  // Of who has made sending_ true.
  std::deque<Going> going_;
  size_t gone_ = 0;         // bytes of its first
  size_t num_offered_ = 0;  // of them, those that the stream has seen: nothing comes before them
  std::vector<iovec> pieces_;
};

}  // namespace vicinity::bulk
