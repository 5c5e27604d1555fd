#include "client/planning/loader_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "cache/pool/look_ahead_planner.h"
#include "client/loading/ahead_limits.h"
#include "client/planning/seed_batches.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Batches that tell how large all of them are.
constexpr int64_t kFirstBatches = 8;
// Remote rows needed by the batches counted of all homes that tell, and the most batches a home.
constexpr double kTellingRows = 100000;
constexpr int64_t kMostCounted = 8192;
constexpr int64_t kLeastInAll = 24;
// How many rows the loader's cache ranks for one that it holds (client/loading/row_cache.cc).
constexpr int64_t kRankedShare = 2;

// How many batches are for what: some warm the cache, some are counted, and the loader knows some
// behind these.
struct Lengths {
  int64_t warm = 0;
  int64_t counted = 0;
  int64_t ahead = 0;

  int64_t all() const { return warm + counted + ahead; }
};

int64_t RoundedUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Lengths LengthsOf(const HomeTrace& trace, const ForecastOptions& options, int64_t num_homes) {
  const double rows = trace.mean_remote();
  const auto most = std::max<int64_t>(
      kLeastInAll, std::llround(static_cast<double>(options.most_rows / num_homes) / rows));
  Lengths lengths;
  if (options.cache == CachePolicy::kAuto) {
    const auto fit =
        static_cast<int64_t>(std::ceil(static_cast<double>(options.window_bytes) / kAnnouncedShare /
                                       trace.mean_announced_bytes()));
    lengths.ahead = std::min({options.sample_ahead, fit, most / 3});
  }
  const auto telling = std::min<int64_t>(
      kMostCounted, std::llround(kTellingRows / static_cast<double>(num_homes) / rows));
  const int64_t least = (options.least_batches + num_homes - 1) / num_homes;
  lengths.counted = std::min(std::max(least, telling), (most - lengths.ahead) / 2);
  lengths.warm = std::min(std::max({lengths.counted, lengths.ahead, options.fetch_ahead}),
                          most - lengths.ahead - lengths.counted);
  // Epochs' last batches are smaller, and rows come back once an epoch.
  if (trace.steps() <= lengths.counted) {
    lengths.counted = RoundedUp(lengths.counted, trace.steps());
    lengths.warm = RoundedUp(lengths.warm, trace.steps());
  }
  return lengths;
}

// A home's remote nodes by node type, likeliest first.
class RemoteOrder {
 public:
  RemoteOrder(const VipScores& scores, const HomePlan& plan, const Assignment& assignment,
              const std::vector<WantedRows>& wanted, int32_t home)
      : by_type_(wanted.size()) {
    for (int32_t type = 0; type < static_cast<int32_t>(wanted.size()); ++type) {
      if (wanted[type].bytes == 0) continue;
      const auto num_nodes = static_cast<int64_t>(assignment.shard_of[type].size());
      for (int64_t id = 0; id < num_nodes; ++id) {
        if (plan.home_of[assignment.shard_of[type][id]] == home) continue;
        ++by_type_[type].num_remote;
        const float score = scores.at({type}, {id}, home);
        if (score > 0) nodes_.push_back({score, type, id});
      }
    }
    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
      if (a.score != b.score) return a.score > b.score;
      return a.type != b.type ? a.type < b.type : a.id < b.id;
    });
    for (size_t place = 0; place < nodes_.size(); ++place) {
      OfType& of_type = by_type_[nodes_[place].type];
      of_type.ids.push_back(nodes_[place].id);
      of_type.places.push_back(static_cast<int64_t>(place));
    }
    num_ranked_ = static_cast<int64_t>(nodes_.size());
    nodes_ = {};
  }

  // As the loader deals them (client/loading/row_cache.h): those of the likeliest rows of all
  // types; what is left in proportion to the types' other remote nodes.
  int64_t Capacity(int32_t type, int64_t cache_rows) const {
    const int64_t likeliest = AmongFirst(type, cache_rows);
    const int64_t room = cache_rows - num_ranked_;
    if (room <= 0) return likeliest;
    int64_t all_left = 0;
    for (const OfType& of_type : by_type_) all_left += of_type.num_left();
    if (all_left == 0) return likeliest;
    const double share = std::min(1.0, static_cast<double>(room) / static_cast<double>(all_left));
    return likeliest + static_cast<int64_t>(share * static_cast<double>(by_type_[type].num_left()));
  }
  absl::Span<const int64_t> Ranked(int32_t type, int64_t cache_rows) const {
    return absl::MakeConstSpan(by_type_[type].ids)
        .subspan(0, AmongFirst(type, kRankedShare * cache_rows));
  }

 private:
  struct Node {
    float score;
    int32_t type;
    int64_t id;
  };
  struct OfType {
    std::vector<int64_t> ids;
    std::vector<int64_t> places;  // of each, among those of all types
    int64_t num_remote = 0;
    int64_t num_left() const { return num_remote - static_cast<int64_t>(ids.size()); }
  };

  int64_t AmongFirst(int32_t type, int64_t count) const {
    const std::vector<int64_t>& places = by_type_[type].places;
    return std::lower_bound(places.begin(), places.end(), count) - places.begin();
  }

  std::vector<Node> nodes_;
  std::vector<OfType> by_type_;
  int64_t num_ranked_ = 0;
};

// A loader's cache of one size, told of one batch after the other as client/loading/epoch_run.h
// tells it.
class CacheReplay {
 public:
  // `steps`: batches an epoch.
  static absl::StatusOr<CacheReplay> Create(const RemoteOrder& order,
                                            const ForecastOptions& options, int64_t cache_rows,
                                            int64_t steps) {
    CacheReplay replay(options, steps);
    for (int32_t type = 0; type < static_cast<int32_t>(options.wanted.size()); ++type) {
      replay.planners_.push_back(nullptr);
      if (options.wanted[type].bytes == 0) continue;
      LookAheadPlanner::Options wanted;
      if (options.cache != CachePolicy::kNone) {
        wanted.capacity_rows = order.Capacity(type, cache_rows);
      }
      VICINITY_ASSIGN_OR_RETURN(replay.planners_.back(),
                                LookAheadPlanner::Create(wanted, order.Ranked(type, cache_rows)));
    }
    return replay;
  }

  // Of all batches one behind the other: rows fetched for each of [begin, end), on average.
  absl::StatusOr<double> Run(const std::vector<TracedBatch>& batches, int64_t begin, int64_t end) {
    int64_t fetched = 0;
    for (int64_t i = 0; i < end; ++i) {
      VICINITY_ASSIGN_OR_RETURN(const int64_t missing, Step(batches, i));
      if (i >= begin) fetched += missing;
    }
    return static_cast<double>(fetched) / static_cast<double>(end - begin);
  }

 private:
  struct InFlight {
    std::vector<int64_t> tickets;  // by node type
    int64_t bytes = 0;
  };

  CacheReplay(const ForecastOptions& options, int64_t steps)
      : steps_(steps),
        fetch_ahead_(std::max<int64_t>(1, options.fetch_ahead)),
        window_bytes_(options.window_bytes),
        sample_ahead_(options.cache == CachePolicy::kAuto ? options.sample_ahead : 0) {}

  absl::StatusOr<int64_t> Step(const std::vector<TracedBatch>& batches, int64_t i) {
    LetIn(batches[i].window_bytes);
    if (num_announced_ == i) VICINITY_RETURN_IF_ERROR(Announce(batches[num_announced_++]));
    announced_bytes_ -= batches[i].announced_bytes;
    const int64_t end = std::min(static_cast<int64_t>(batches.size()), EndAhead(i));
    while (num_announced_ < end && announced_bytes_ < window_bytes_ / kAnnouncedShare) {
      VICINITY_RETURN_IF_ERROR(Announce(batches[num_announced_++]));
    }
    return Admit(batches[i]);
  }

  // Of the batches that may be announced when batch i is admitted: the trainer has the last one
  // that is not in flight, and nothing is sampled beyond the epoch behind its own.
  int64_t EndAhead(int64_t i) const {
    const int64_t taken = std::max<int64_t>(0, i - static_cast<int64_t>(in_flight_.size()));
    return std::min(i + 1 + sample_ahead_, (taken / steps_ + 2) * steps_);
  }

  void LetIn(int64_t bytes) {
    in_flight_.push_back({{}, bytes});
    bytes_in_flight_ += bytes;
    const auto is_full = [&] {
      return static_cast<int64_t>(in_flight_.size()) > fetch_ahead_ ||
             bytes_in_flight_ > window_bytes_;
    };
    for (; in_flight_.size() > 1 && is_full(); in_flight_.pop_front()) {
      bytes_in_flight_ -= in_flight_.front().bytes;
      for (size_t type = 0; type < planners_.size(); ++type) {
        if (planners_[type]) planners_[type]->Release(in_flight_.front().tickets[type]);
      }
    }
  }

  absl::Status Announce(const TracedBatch& batch) {
    announced_bytes_ += batch.announced_bytes;
    for (size_t type = 0; type < planners_.size(); ++type) {
      if (planners_[type]) {
        VICINITY_RETURN_IF_ERROR(planners_[type]->Announce(batch.remote[type]));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Admit(const TracedBatch& batch) {
    int64_t num_missing = 0;
    for (size_t type = 0; type < planners_.size(); ++type) {
      in_flight_.back().tickets.push_back(0);
      if (!planners_[type]) continue;
      VICINITY_RETURN_IF_ERROR(planners_[type]->Admit(batch.remote[type], &rows_));
      in_flight_.back().tickets.back() = rows_.ticket;
      num_missing += static_cast<int64_t>(rows_.missing.size());
    }
    return num_missing;
  }

  const int64_t steps_;
  const int64_t fetch_ahead_;
  const int64_t window_bytes_;
  const int64_t sample_ahead_;
  std::vector<std::unique_ptr<LookAheadPlanner>> planners_;  // by node type; null: none wanted
  std::deque<InFlight> in_flight_;
  int64_t bytes_in_flight_ = 0;
  int64_t num_announced_ = 0;
  int64_t announced_bytes_ = 0;  // of those not admitted
  RowPlan rows_;                 // scratch
};

// Adds a home's rows by cache size to `forecast`.
class HomeForecast {
 public:
  HomeForecast(const RemoteOrder& order, const ForecastOptions& options,
               absl::Span<const int64_t> cache_rows)
      : order_(order), options_(options), cache_rows_(cache_rows), rows_(cache_rows.size()) {}

  absl::Status Replay(HomeTrace* trace, int64_t num_homes) {
    VICINITY_RETURN_IF_ERROR(trace->Extend(kFirstBatches));
    lengths_ = LengthsOf(*trace, options_, num_homes);
    const int64_t more = lengths_.all() - static_cast<int64_t>(trace->batches().size());
    VICINITY_RETURN_IF_ERROR(trace->Extend(std::max<int64_t>(0, more)));
    const auto num_sizes = static_cast<int64_t>(rows_.size());
    return ForEachInParallel(num_sizes, NoProgress(), [&](int64_t i) -> absl::StatusOr<int64_t> {
      VICINITY_ASSIGN_OR_RETURN(
          CacheReplay replay,
          CacheReplay::Create(order_, options_, cache_rows_[i], trace->steps()));
      VICINITY_ASSIGN_OR_RETURN(
          rows_[i], replay.Run(trace->batches(), lengths_.warm, lengths_.warm + lengths_.counted));
      return 1;
    });
  }

  void AddTo(LoaderForecast* forecast) const {
    forecast->num_sampled += lengths_.all();
    forecast->num_counted += lengths_.counted;
    for (size_t i = 0; i < rows_.size(); ++i) forecast->rows[i] += rows_[i];
  }

 private:
  const RemoteOrder& order_;
  const ForecastOptions& options_;
  const absl::Span<const int64_t> cache_rows_;
  Lengths lengths_;
  std::vector<double> rows_;
};

}  // namespace

absl::StatusOr<LoaderForecast> ForecastLoaders(const Dataset& dataset, const VipScores& scores,
                                               const HomePlan& plan, const Assignment& assignment,
                                               absl::Span<const int64_t> cache_rows,
                                               const ForecastOptions& options, Progress* progress) {
  std::vector<int32_t> homes;
  for (int32_t home = 0; home < static_cast<int32_t>(plan.homes.size()); ++home) {
    if (plan.num_seeds(home) > 0) homes.push_back(home);
  }
  LoaderForecast forecast;
  forecast.rows.resize(cache_rows.size());
  const auto num_homes = static_cast<int64_t>(homes.size());
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), progress, [&]() -> absl::Status {
    progress->Begin("sampled batches", num_homes, "homes");
    for (int64_t i = 0; i < num_homes; ++i) {
      VICINITY_ASSIGN_OR_RETURN(
          std::unique_ptr<SeedBatches> seeds,
          BatchesOf(dataset, plan, homes[i], options.trainers_per_home, options.run_seed));
      HomeTrace trace(dataset, plan, assignment, options.wanted, homes[i], std::move(seeds));
      const RemoteOrder order(scores, plan, assignment, options.wanted, homes[i]);
      HomeForecast home(order, options, cache_rows);
      VICINITY_RETURN_IF_ERROR(home.Replay(&trace, num_homes));
      home.AddTo(&forecast);
      progress->Update(i + 1);
    }
    progress->End();
    return absl::OkStatus();
  }));
  for (double& rows : forecast.rows) rows /= static_cast<double>(num_homes);
  return forecast;
}

}  // namespace vicinity
