#include "client/shards/piece_run.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "proto/common/mutex.h"

namespace vicinity {
namespace {

class PieceRun : public std::enable_shared_from_this<PieceRun> {
 public:
  PieceRun(int64_t num_pieces, int width, StartPiece start, Done done)
      : num_pieces_(num_pieces),
        width_(width),
        start_(std::move(start)),
        finished_(std::move(done)) {}

  // Starts what there is room for. One thread at a time is the starter; a piece that ends inside
  // start_ leaves its successor to the loop that started it, so the stack stays flat.
  void Pump() {
    {
      MutexLock lock(&mu_);
      if (starting_) return;
      starting_ = true;
    }
    for (int64_t piece = TakeNext(); piece >= 0; piece = TakeNext()) {
      start_(piece, [self = shared_from_this()](const absl::Status& status) { self->End(status); });
    }
  }

 private:
  // The next piece to start; -1 if the starter is to stop, having reported the end if it is one.
  int64_t TakeNext() {
    absl::Status result;
    {
      MutexLock lock(&mu_);
      const bool more = error_.ok() && next_ < num_pieces_;
      if (more && running_ < width_) {
        ++running_;
        return next_++;
      }
      starting_ = false;
      if (more || running_ > 0 || reported_) return -1;
      reported_ = true;
      result = error_;
    }
    finished_(result);
    return -1;
  }

  void End(const absl::Status& status) {
    {
      MutexLock lock(&mu_);
      if (error_.ok()) error_ = status;
      --running_;
    }
    Pump();
  }

  const int64_t num_pieces_;
  const int width_;
  const StartPiece start_;
  const Done finished_;
  Mutex mu_;
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t running_ ABSL_GUARDED_BY(mu_) = 0;
  bool starting_ ABSL_GUARDED_BY(mu_) = false;
  bool reported_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

void RunPieces(int64_t num_pieces, int width, StartPiece start, Done done) {
  std::make_shared<PieceRun>(num_pieces, width, std::move(start), std::move(done))->Pump();
}

}  // namespace vicinity
