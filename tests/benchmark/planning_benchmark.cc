// What planning a batch's rows costs.
//
// A batch's input nodes are told from those at home, announced, admitted, its missing rows listed
// by owner, and released, on one core. Baseline: the same with a textbook planner. Limit: one
// prefetched read at random for every remote node, out of as much memory as the planner's index.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/policies/vip.h"
#include "cache/pool/look_ahead_planner.h"
#include "client/loading/seed_schedule.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/owner_groups.h"
#include "tests/benchmark/baselines/textbook_planner.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/benchmark/bench_trainer.h"

namespace vicinity::benchmark {
namespace {

constexpr int kDepth = 10;
constexpr NodeTypeId kNode{0};
const std::vector<int64_t> kWindows = {10, 40};

// An epoch's batches: all input nodes of each.
std::vector<std::vector<int64_t>> SampleInputs(const TrainerView& view, int64_t most_nodes) {
  std::vector<std::vector<int64_t>> batches;
  ScheduleOptions options;
  options.batch_size = view.options().batch_size;
  const std::vector<int64_t>& seeds = view.seeds().nodes;
  const SeedSchedule schedule = SeedSchedule::Global(options, static_cast<int64_t>(seeds.size()));
  int64_t num_nodes = 0;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    const EpochOrder order = schedule.Epoch(epoch);
    for (int64_t step = 0; step < schedule.steps() && num_nodes < most_nodes; ++step) {
      std::vector<int64_t> batch;
      for (const int64_t i : order.Batch(step)) batch.push_back(seeds[i]);
      MinibatchDraw draw;
      draw.epoch = static_cast<uint64_t>(epoch);
      draw.batch = schedule.DrawBatch(step);
      batches.push_back(
          Must(SampleLocal(view.dataset(), kNode, batch, view.options().sampling, draw))
              .nodes[0]
              .ids);
      num_nodes += static_cast<int64_t>(batches.back().size());
    }
  }
  return batches;
}

// As client/shards/split_nodes.h, without branches.
std::vector<int64_t> RemoteOf(const std::vector<int64_t>& ids, int64_t home_end) {
  std::vector<int64_t> remote(ids.size());
  size_t num_remote = 0;
  for (const int64_t id : ids) {
    remote[num_remote] = id;
    num_remote += id >= home_end ? 1 : 0;  // the home shard is the first
  }
  remote.resize(num_remote);
  return remote;
}

std::vector<OwnerGroup> ListByOwner(const Book& book, absl::Span<const int64_t> ids,
                                    absl::Span<const int32_t> missing) {
  std::vector<int64_t> nodes;
  nodes.reserve(missing.size());
  for (const int32_t i : missing) nodes.push_back(ids[i]);
  return GroupByOwner(book, kNode, nodes);
}

// Everything that a loader's planning does for the batches, in its order; remote ids are kept until
// their batch is released.
template <typename Announce, typename Admit, typename Release>
int64_t PlanAll(const Book& book, const std::vector<std::vector<int64_t>>& batches, int64_t window,
                const Announce& announce, const Admit& admit, const Release& release) {
  const int64_t home_end = book.begins(kNode)[1];
  const auto num_batches = static_cast<int64_t>(batches.size());
  std::vector<std::vector<int64_t>> remote(batches.size());
  int64_t announced = 0;
  int64_t num_listed = 0;
  for (int64_t b = 0; b < num_batches; ++b) {
    if (b >= kDepth) {
      release(b - kDepth, remote[b - kDepth]);
      remote[b - kDepth] = {};
    }
    for (; announced < std::min(num_batches, b + window + 1); ++announced) {
      remote[announced] = RemoteOf(batches[announced], home_end);
      announce(remote[announced]);
    }
    const std::vector<int32_t>& missing = admit(b, remote[b]);
    for (const OwnerGroup& group : ListByOwner(book, remote[b], missing)) {
      num_listed += static_cast<int64_t>(group.rows.size());
    }
  }
  return num_listed;
}

double TextbookSeconds(const Book& book, const std::vector<std::vector<int64_t>>& batches,
                       int64_t window, int64_t capacity, const std::vector<int64_t>& ranked) {
  TextbookPlanner planner(capacity, ranked);
  std::vector<int32_t> slots;
  std::vector<int32_t> missing;
  return FastestSeconds(1, [&] {
    PlanAll(
        book, batches, window, [&](const std::vector<int64_t>& ids) { planner.Announce(ids); },
        [&](int64_t, const std::vector<int64_t>& ids) -> const std::vector<int32_t>& {
          planner.Admit(ids, &slots, &missing);
          return missing;
        },
        [&](int64_t, const std::vector<int64_t>& ids) { planner.Release(ids); });
  });
}

double PlannerSeconds(const Book& book, const std::vector<std::vector<int64_t>>& batches,
                      int64_t window, int64_t capacity, const std::vector<int64_t>& ranked) {
  double fastest = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    LookAheadPlanner::Options options;
    options.capacity_rows = capacity;
    const std::unique_ptr<LookAheadPlanner> planner =
        Must(LookAheadPlanner::Create(options, ranked));
    std::vector<int64_t> tickets(batches.size());
    RowPlan plan;
    const double seconds = FastestSeconds(1, [&] {
      PlanAll(
          book, batches, window,
          [&](const std::vector<int64_t>& ids) { Must(planner->Announce(ids)); },
          [&](int64_t b, const std::vector<int64_t>& ids) -> const std::vector<int32_t>& {
            Must(planner->Admit(ids, &plan));
            tickets[b] = plan.ticket;
            return plan.missing;
          },
          [&](int64_t b, const std::vector<int64_t>&) { planner->Release(tickets[b]); });
    });
    fastest = std::min(fastest, seconds);
  }
  return fastest;
}

double RandomReadSeconds(int64_t num_reads, int64_t num_entries) {
  constexpr int64_t kAhead = 24;
  struct Entry {
    int64_t a = 1;
    int64_t b = 2;
  };
  std::vector<Entry> entries(num_entries);
  std::vector<uint32_t> places(num_reads);
  std::mt19937_64 random(1);
  for (uint32_t& place : places) place = static_cast<uint32_t>(random() % num_entries);
  int64_t sum = 0;
  const double seconds = FastestSeconds(3, [&] {
    for (int64_t i = 0; i < num_reads; ++i) {
      if (i + kAhead < num_reads) __builtin_prefetch(&entries[places[i + kAhead]]);
      sum += entries[places[i]].a;
    }
  });
  if (sum == 0) std::cerr << "";  // the reads must not be optimised away
  return seconds;
}

void ReportPlanning(const Dataset& dataset, const std::string& name, int64_t batch_size,
                    int64_t most_nodes, BenchReport* report) {
  const TrainerView view = MakeTrainerView(dataset, batch_size);
  const std::vector<std::vector<int64_t>> batches = SampleInputs(view, most_nodes);
  const std::unique_ptr<StaticOrder> vip = Must(MakeVipPolicy(view));
  const Book& book = dataset.book();
  int64_t num_nodes = 0;
  int64_t num_remote = 0;
  for (const std::vector<int64_t>& ids : batches) {
    num_nodes += static_cast<int64_t>(ids.size());
    num_remote += static_cast<int64_t>(RemoteOf(ids, book.begins(kNode)[1]).size());
  }
  const int64_t capacity = view.num_nodes() / 5;
  const size_t num_ranked = std::min<size_t>(vip->order().size(), 2 * capacity);
  const std::vector<int64_t> ranked(vip->order().begin(), vip->order().begin() + num_ranked);

  const double reads = RandomReadSeconds(num_remote, 2 * capacity);
  for (const int64_t window : kWindows) {
    const double seconds = PlannerSeconds(book, batches, window, capacity, ranked);
    const double textbook = TextbookSeconds(book, batches, window, capacity, ranked);
    const auto row = [&](const std::string& metric, int64_t per) {
      const double unit = 1e9 / static_cast<double>(per);
      report->Add({"planning", absl::StrCat(name, ", batch ", batch_size, ", planning, W ", window),
                   metric, seconds * unit, textbook * unit, reads * unit});
    };
    row("ns / input node", num_nodes);
    row("ns / remote input node", num_remote);
  }
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv); code.has_value()) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  const bool full = options.size == "full";
  BenchReport report(options, std::cout);
  const std::unique_ptr<Dataset> blocks =
      OpenBenchShards(options, BenchGraph::kBlockModel, "metis");
  for (const int64_t batch_size :
       full ? std::vector<int64_t>{1024, 128, 32} : std::vector<int64_t>{4, 1}) {
    ReportPlanning(*blocks, "block model", batch_size, full ? 20000000 : 1000000, &report);
  }
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
