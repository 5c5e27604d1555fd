// What the look-ahead pool fetches with the memory of a static VIP cache, and what it costs to
// plan.
//
// Rows fetched: real epochs of one trainer of four, sampled once, run through every policy. A
// static VIP cache (the baseline) holds `replication` times a shard's rows, and on top the rows
// that ten batches in flight miss; the pool holds as many in all. These are counted as their mean,
// which the static cache exceeds at every peak, the pool only if the batches in flight need more by
// themselves; with "peak memory" the pool holds as many as the static cache has to have room for.
// The limit is Belady's, who knows all of the future, with the pool's memory.
//
// Planning: a batch's input nodes are told from those at home, announced, admitted, its missing
// rows listed by owner, and released, on one core. Baseline: the same with a textbook planner.
// Limit: one prefetched read at random for every remote node, out of as much memory as the
// planner's index.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/look_ahead_planner.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/belady.h"
#include "cache/policies/next_use.h"
#include "cache/policies/oracle.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/policies/vip.h"
#include "client/cli/home_plan.h"
#include "client/cli/sampled_trace.h"
#include "client/seed_schedule.h"
#include "partition/book.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/owner_groups.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_shards.h"
#include "tests/benchmark/textbook_planner.h"

namespace vicinity::benchmark {
namespace {

constexpr int kDepth = 10;
constexpr NodeTypeId kNode{0};
const std::vector<int64_t> kWindows = {10, 40};
const std::vector<double> kReplication = {0.1, 0.2, 0.5, 1.0};

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << '\n';
    std::exit(1);
  }
  return *std::move(value);
}
void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << '\n';
  std::exit(1);
}

// The trainer of shard 0.
TrainerView MakeView(const Dataset& dataset, int64_t batch_size) {
  cli::VipFlags flags;
  flags.batch_size = batch_size;
  flags.homes = "0";
  const cli::HomePlan plan =
      Must(cli::PlanHomes(dataset, cli::AssignmentOf(dataset.book()), flags));
  return Must(TrainerView::Create(&dataset, plan.homes[0], plan.seeds[0], plan.options));
}

// Of static caches that hold as much in all, the one that fetches least: how many rows it keeps for
// good is its own choice.
PolicyCount BestSplit(const StaticOrder& vip, const AccessTrace& trace, int64_t total_rows) {
  std::optional<PolicyCount> best;
  for (int step = 0; step <= 50; ++step) {
    PolicyBudget budget;
    budget.depth = kDepth;
    budget.cache_rows = total_rows * step / 50;
    const PolicyCount count = Must(vip.Count(trace, budget));
    if (count.held > static_cast<double>(total_rows)) continue;
    if (!best.has_value() || count.fetched < best->fetched) best = count;
  }
  return best.value_or(PolicyCount());
}

class Comparison {
 public:
  Comparison(const Dataset& dataset, const std::string& name, int64_t batch_size,
             int64_t num_epochs, BenchReport* report)
      : name_(absl::StrCat(name, ", batch ", batch_size)),
        report_(report),
        view_(MakeView(dataset, batch_size)) {
    cli::TraceOptions options;
    options.num_epochs = num_epochs;
    trace_ = std::make_unique<AccessTrace>(Must(cli::SampleTrace(view_, options, NoProgress())));
    vip_ = Must(MakeVipPolicy(view_));
    ranked_.assign(vip_->order().begin(), vip_->order().end());
  }

  void Report(double replication) {
    PolicyBudget budget;
    budget.depth = kDepth;
    const int64_t mean_shard = view_.num_nodes() / view_.dataset().book().num_shards();
    budget.cache_rows = static_cast<int64_t>(replication * static_cast<double>(mean_shard));
    const PolicyCount fixed = Must(vip_->Count(*trace_, budget));
    budget.total_rows = static_cast<int64_t>(fixed.held);
    const PolicyCount oracle = Must(MakeOraclePolicy(*trace_)->Count(*trace_, budget));
    const PolicyCount belady = Must(MakeBeladyPolicy()->Count(*trace_, budget));
    const std::string at = absl::StrCat(name_, ", replication ", replication, ": ");
    Add(at + "static VIP", "rows fetched / rows used", Share(fixed, fixed.used), 1,
        Share(oracle, oracle.used));
    const auto add = [&](const std::string& what, const PolicyCount& count) {
      Add(at + what, "rows fetched / epoch", PerEpoch(count), PerEpoch(fixed), PerEpoch(belady));
    };
    add("static VIP, rows in flight shared",
        Must(MakeVipSharedPolicy(*vip_)->Count(*trace_, budget)));
    add("static VIP, best split of the memory", BestSplit(*vip_, *trace_, budget.total_rows));
    for (const int64_t window : kWindows) {
      const PolicyCount pool = Must(MakeNextUsePolicy(ranked_, window)->Count(*trace_, budget));
      add(absl::StrCat("pool, W ", window), pool);
      Add(at + absl::StrCat("pool, W ", window), "rows in memory at most",
          static_cast<double>(pool.most_held), fixed.held, static_cast<double>(fixed.most_held));
    }
    add("Belady", belady);
    ReportAtPeak(at, budget, fixed);
  }

 private:
  void ReportAtPeak(const std::string& at, PolicyBudget budget, const PolicyCount& fixed) {
    budget.total_rows = fixed.most_held;
    const PolicyCount belady = Must(MakeBeladyPolicy()->Count(*trace_, budget));
    const int64_t window = kWindows.front();
    const PolicyCount pool = Must(MakeNextUsePolicy(ranked_, window)->Count(*trace_, budget));
    Add(at + absl::StrCat("pool, W ", window, ", peak memory"), "rows fetched / epoch",
        PerEpoch(pool), PerEpoch(fixed), PerEpoch(belady));
  }

  double PerEpoch(const PolicyCount& count) const {
    return static_cast<double>(count.fetched) / static_cast<double>(trace_->num_epochs());
  }
  static double Share(const PolicyCount& count, int64_t used) {
    return static_cast<double>(count.fetched) / static_cast<double>(std::max<int64_t>(1, used));
  }
  void Add(const std::string& what, const std::string& metric, double value, double baseline,
           double limit) {
    const auto figure = [](double other) {
      return other > 0 ? std::optional<double>(other) : std::nullopt;  // others make no ratio
    };
    report_->Add({"pool", what, metric, value, figure(baseline), figure(limit)});
  }

  const std::string name_;
  BenchReport* const report_;
  const TrainerView view_;
  std::unique_ptr<AccessTrace> trace_;
  std::unique_ptr<StaticOrder> vip_;
  std::vector<int64_t> ranked_;
};

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

std::vector<int64_t> RemoteOf(const std::vector<int64_t>& ids, int64_t home_end) {
  std::vector<int64_t> remote;
  remote.reserve(ids.size());
  for (const int64_t id : ids) {
    if (id >= home_end) remote.push_back(id);  // the home shard is the first
  }
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
  const TrainerView view = MakeView(dataset, batch_size);
  const std::vector<std::vector<int64_t>> batches = SampleInputs(view, most_nodes);
  const std::unique_ptr<StaticOrder> vip = Must(MakeVipPolicy(view));
  const Book& book = dataset.book();
  AccessTrace trace(view.num_nodes());
  int64_t num_nodes = 0;
  for (const std::vector<int64_t>& ids : batches) {
    trace.AddBatch(RemoteOf(ids, book.begins(kNode)[1]));
    num_nodes += static_cast<int64_t>(ids.size());
  }
  PolicyBudget budget;
  budget.depth = kDepth;
  budget.cache_rows = view.num_nodes() / book.num_shards() / 2;
  const auto capacity = static_cast<int64_t>(Must(vip->Count(trace, budget)).held);
  const size_t num_ranked = std::min<size_t>(vip->order().size(), 2 * capacity);
  const std::vector<int64_t> ranked(vip->order().begin(), vip->order().begin() + num_ranked);

  const double reads = RandomReadSeconds(trace.num_uses(), 2 * capacity);
  for (const int64_t window : kWindows) {
    const double seconds = PlannerSeconds(book, batches, window, capacity, ranked);
    const double textbook = TextbookSeconds(book, batches, window, capacity, ranked);
    const auto row = [&](const std::string& metric, int64_t per) {
      const double unit = 1e9 / static_cast<double>(per);
      report->Add({"pool", absl::StrCat(name, ", batch ", batch_size, ", planning, W ", window),
                   metric, seconds * unit, textbook * unit, reads * unit});
    };
    row("ns / input node", num_nodes);
    row("ns / remote input node", trace.num_uses());
  }
}

void Compare(const Dataset* dataset, const std::string& name, const std::vector<int64_t>& batches,
             int64_t num_epochs, BenchReport* report) {
  if (dataset == nullptr) return;
  for (const int64_t batch_size : batches) {
    Comparison comparison(*dataset, name, batch_size, num_epochs, report);
    for (const double replication : kReplication) comparison.Report(replication);
  }
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = RanAsMetisChild(argc, argv); code.has_value()) return *code;
  const BenchOptions options = ParseBenchOptions(argc, argv);
  const bool full = options.size == "full";
  BenchReport report(options, std::cout);
  const std::unique_ptr<Dataset> blocks = OpenBlockModelShards(options);
  const std::vector<int64_t> batch_sizes =
      full ? std::vector<int64_t>{128, 32} : std::vector<int64_t>{4, 1};
  for (const int64_t batch_size : batch_sizes) {
    ReportPlanning(*blocks, "block model", batch_size, full ? 20000000 : 1000000, &report);
  }
  Compare(blocks.get(), "block model", batch_sizes, full ? 4 : 2, &report);
  if (full) {
    Compare(OpenWordNetShards(options).get(), "WordNet", batch_sizes, 2, &report);
    Compare(OpenCnr2000Shards(options).get(), "cnr-2000", batch_sizes, 2, &report);
  }
  return 0;
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) { return vicinity::benchmark::Main(argc, argv); }
