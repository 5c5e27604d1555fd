#include "tests/client/measured_loader.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "client/loading/epoch_run.h"
#include "client/loading/loader_core.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "proto/common/status.h"
#include "tests/client/far_shard.h"
#include "tests/client/routed_dataset.h"

namespace vicinity::testing {
namespace {

// Returns once `most` batches were sampled since the beginning, or none in the time that three
// take: all is sampled that may be.
void LetSample(const LoaderCore& loader, int64_t most) {
  using Clock = std::chrono::steady_clock;
  int64_t sampled = -1;
  Clock::time_point since = Clock::now();
  while (true) {
    const LoaderStats stats = loader.stats();
    const StageTime& sample = stats.stages[kSample];
    if (sample.batches >= most) return;
    if (sample.batches != sampled) {
      sampled = sample.batches;
      since = Clock::now();
    }
    const double seconds = sampled > 0 ? sample.busy_seconds / static_cast<double>(sampled) : 0.01;
    const std::chrono::duration<double> idle = Clock::now() - since;
    if (idle.count() > 3 * seconds + 0.002) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

absl::Status RunEpochs(LoaderCore* loader, int64_t begin, int64_t end) {
  for (int64_t epoch = begin; epoch < end; ++epoch) {
    VICINITY_RETURN_IF_ERROR(loader->StartEpoch(epoch, 0));
    // From the second epoch on those of the next are sampled, too.
    const int64_t most = (epoch == 0 ? 1 : epoch + 2) * loader->steps_per_epoch();
    while (true) {
      LetSample(*loader, most);
      VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<MiniBatch> batch, loader->Next());
      if (batch == nullptr) break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<double> FetchedRows(const Dataset& dataset, const std::vector<int32_t>& home,
                                   const LoaderOptions& options, const EpochRange& epochs) {
  std::vector<int32_t> far;
  for (int32_t shard = 0; shard < dataset.book().num_shards(); ++shard) {
    if (std::find(home.begin(), home.end(), shard) == home.end()) far.push_back(shard);
  }
  TrafficCounters traffic;
  Faults faults;
  const std::unique_ptr<ShardRouter> router = RouteDataset(dataset, far, &traffic, &faults);
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<LoaderCore> loader,
                            LoaderCore::Create(*router, options));
  VICINITY_RETURN_IF_ERROR(RunEpochs(loader.get(), 0, epochs.warm));
  const int64_t before = loader->stats().rows_remote;
  VICINITY_RETURN_IF_ERROR(RunEpochs(loader.get(), epochs.warm, epochs.warm + epochs.counted));
  const int64_t fetched = loader->stats().rows_remote - before;
  return static_cast<double>(fetched) /
         static_cast<double>(epochs.counted * loader->steps_per_epoch());
}

}  // namespace vicinity::testing
