// Minibatches for a training loop: sampled, their rows fetched and laid out, several ahead.
//
//   auto loader = vicinity::Loader::Create(graph, options);
//   if (!loader.ok()) return loader.error();
//   auto started = (*loader)->StartEpoch(0);
//   while (started.ok()) {
//     auto batch = (*loader)->Next();
//     if (!batch.ok()) return batch.error();
//     if (!*batch) break;   // the epoch is over
//     Train(**batch);
//   }
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "client/graph.h"
#include "client/types/loader_values.h"
#include "client/types/result.h"

namespace vicinity {

class LoaderImpl;

// Of a live graph it stays at the versions of when it was made, so that what it fetched once is
// right until its end, and an epoch is the same whatever is written: who wants what came since
// makes another.
//
// Threads:  Next, WaitForNext and StartEpoch from one thread; stats from any.
// Order:    batches come in step order, the same for any thread count.
// Lifetime: `graph` must outlive it. The destructor stops the stages and returns within the call
// timeout; with kDevice it also waits until the device is through with what it was given, at most
// batch_timeout and two minutes a column.
class Loader {
 public:
  // Reads the seeds, fills the cache. kNotFound for unknown types, columns or rankings, naming
  // those that exist, or the command that makes one; kInvalidArgument for a spec that does not fit;
  // kFailedPrecondition for a device that is not there, or that this build of the library cannot
  // use.
  static Result<std::unique_ptr<Loader>> Create(const Graph* graph, const LoaderOptions& options);
  ~Loader();

  int64_t num_seeds() const;        // of this trainer
  int64_t steps_per_epoch() const;  // the same for every trainer; of all its workers together

  // Starts an epoch, or a part of it: batches [first_step, end_step) are made ahead, end_step being
  // at most steps_per_epoch, which is also what -1 stands for. What is left of the one before is
  // dropped. From the second whole epoch in a row on, the batches of the epoch behind are made
  // ahead, too, as far as the options let (they hold memory and threads between epochs); if another
  // is started they are dropped.
  Error StartEpoch(int64_t epoch, int64_t first_step = 0, int64_t end_step = -1);

  // Goes on with an epoch where trainers stopped, MiniBatch::batches_done being known of the last
  // step that all of them made: the rest of its batches are dealt to the trainers there are now,
  // who may be more or fewer. A seed of the rest comes once, but for what makes steps equal. For
  // the same batches as without a stop, the options but those of trainers, caches and threads must
  // be the same. kInvalidArgument with SeedPolicy::kHome for other numbers of trainers.
  Error ResumeEpoch(int64_t epoch, int64_t batches_done);

  // The next batch; null at the epoch's end. An error ends the epoch; StartEpoch may be called
  // again with the step to go on from. kDeadlineExceeded, naming the stage that holds the batch,
  // after batch_timeout (with kDevice also for a trainer that still has all tensors of a column, or
  // whose streams still read them: the timeout is longer than a step there);
  // kFailedPrecondition before the first StartEpoch.
  Result<std::unique_ptr<MiniBatch>> Next();

  // Waits until Next would not, no longer than `limit`; whether that is so now. For a caller that
  // has to look up from waiting: batch_timeout then counts from the first such wait for the batch.
  bool WaitForNext(std::chrono::milliseconds limit);

  LoaderStats stats() const;

 private:
  explicit Loader(std::unique_ptr<LoaderImpl> impl);
  std::unique_ptr<LoaderImpl> impl_;
};

}  // namespace vicinity
