#include "client/why/trainer_numbers.h"

#include <set>
#include <utility>

#include "absl/status/status.h"

namespace vicinity {
namespace {

using Labels = std::map<std::string, std::string>;

StageNumbers StageIn(const MetricSamples& samples, Labels labels, const std::string& stage) {
  labels["stage"] = stage;
  StageNumbers numbers;
  numbers.threads = SumOf(samples, "vicinity_loader_stage_threads", labels);
  if (numbers.threads < 1) numbers.threads = 1;
  numbers.batches = SumOf(samples, "vicinity_loader_stage_batch_seconds_count", labels);
  const auto seconds = [&samples, &labels](const char* state) {
    labels["state"] = state;
    return SumOf(samples, "vicinity_loader_stage_seconds_total", labels);
  };
  numbers.busy_seconds = seconds("busy");
  numbers.starved_seconds = seconds("starved");
  numbers.blocked_seconds = seconds("blocked");
  return numbers;
}

TrainerNumbers LoaderIn(const MetricSamples& samples, const std::string& trainer,
                        const std::string& loader) {
  Labels labels = {{"trainer", trainer}};
  TrainerNumbers numbers;
  numbers.trainer = trainer;
  numbers.loader = loader;
  const auto of_trainer = [&](const char* name) { return SumOf(samples, name, labels); };
  for (const MetricSample& sample : samples) {
    if (sample.Label("trainer") != trainer) continue;
    if (sample.name == "vicinity_client_rpc_seconds_sum") {
      numbers.rpc_seconds[sample.Label("method")] = sample.value;
    } else if (sample.name == "vicinity_client_rpc_seconds_count") {
      numbers.rpcs[sample.Label("method")] = sample.value;
    }
  }
  numbers.received_bytes = of_trainer("vicinity_client_received_bytes_total");
  numbers.edges_local = of_trainer("vicinity_client_sampled_edges_local_total");
  numbers.edges_remote = of_trainer("vicinity_client_sampled_edges_remote_total");
  numbers.shard_calls = of_trainer("vicinity_client_shard_calls_total");
  numbers.retries = of_trainer("vicinity_client_retries_total");
  numbers.hedges = of_trainer("vicinity_client_hedges_total");
  numbers.quarantines = of_trainer("vicinity_client_quarantines_total");
  numbers.cpu_seconds = of_trainer("vicinity_client_cpu_seconds_total");
  numbers.cores = of_trainer("vicinity_client_cores");
  labels["loader"] = loader;
  for (const char* stage : {"schedule", "sample", "plan", "fetch", "assemble", "train"}) {
    numbers.stages[stage] = StageIn(samples, labels, stage);
  }
  numbers.remote_bytes = of_trainer("vicinity_loader_remote_bytes_total");
  numbers.fetched_nodes = of_trainer("vicinity_loader_fetched_nodes_total");
  numbers.expected_rows = of_trainer("vicinity_loader_expected_rows");
  const auto rows = [&](const char* tier) {
    labels["tier"] = tier;
    return of_trainer("vicinity_loader_rows_total");
  };
  numbers.rows_local = rows("local");
  numbers.rows_cached = rows("cached");
  numbers.rows_remote = rows("remote");
  return numbers;
}

// Numbers that only rise.
constexpr double TrainerNumbers::*kCounters[] = {
    &TrainerNumbers::rows_local,   &TrainerNumbers::rows_cached,   &TrainerNumbers::rows_remote,
    &TrainerNumbers::remote_bytes, &TrainerNumbers::fetched_nodes, &TrainerNumbers::received_bytes,
    &TrainerNumbers::edges_local,  &TrainerNumbers::edges_remote,  &TrainerNumbers::shard_calls,
    &TrainerNumbers::retries,      &TrainerNumbers::hedges,        &TrainerNumbers::quarantines,
    &TrainerNumbers::cpu_seconds};

}  // namespace

const StageNumbers& TrainerNumbers::stage(const std::string& name) const {
  static const StageNumbers& none = *new StageNumbers();
  const auto found = stages.find(name);
  return found == stages.end() ? none : found->second;
}

double TrainerNumbers::seconds() const {
  const StageNumbers& train = stage("train");
  return (train.busy_seconds + train.starved_seconds + train.blocked_seconds) / train.threads;
}

absl::StatusOr<std::vector<TrainerNumbers>> LoadersIn(const MetricSamples& samples) {
  std::set<std::pair<std::string, std::string>> names;
  for (const MetricSample& sample : samples) {
    if (sample.name == "vicinity_loader_stage_seconds_total") {
      names.emplace(sample.Label("trainer"), sample.Label("loader"));
    }
  }
  if (names.empty()) {
    return absl::NotFoundError(
        "no metric vicinity_loader_stage_seconds_total: it is no trainer's, or the trainer has no "
        "loader");
  }
  std::vector<TrainerNumbers> loaders;
  for (const auto& [trainer, loader] : names) loaders.push_back(LoaderIn(samples, trainer, loader));
  return loaders;
}

TrainerNumbers Between(const TrainerNumbers& before, const TrainerNumbers& after) {
  const bool goes_on = before.trainer == after.trainer && before.loader == after.loader &&
                       before.stage("sample").batches <= after.stage("sample").batches &&
                       before.seconds() <= after.seconds();
  if (!goes_on) return after;
  TrainerNumbers between = after;
  for (double TrainerNumbers::*const counter : kCounters) between.*counter -= before.*counter;
  for (auto& [name, stage] : between.stages) {
    const StageNumbers& earlier = before.stage(name);
    stage.batches -= earlier.batches;
    stage.busy_seconds -= earlier.busy_seconds;
    stage.starved_seconds -= earlier.starved_seconds;
    stage.blocked_seconds -= earlier.blocked_seconds;
  }
  for (const auto& [method, seconds] : before.rpc_seconds) between.rpc_seconds[method] -= seconds;
  for (const auto& [method, count] : before.rpcs) between.rpcs[method] -= count;
  return between;
}

}  // namespace vicinity
