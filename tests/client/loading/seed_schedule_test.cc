#include "client/loading/seed_schedule.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "client/types/loader_values.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

ScheduleOptions Options(int64_t batch_size, int32_t trainer, int32_t num_trainers) {
  ScheduleOptions options;
  options.batch_size = batch_size;
  options.trainer = trainer;
  options.num_trainers = num_trainers;
  options.run_seed = 7;
  return options;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

TEST_CASE("every trainer makes the same steps and together they see every seed",
          "[seed_schedule]") {
  for (const int64_t num_seeds : {1, 2, 7, 64, 100, 1001}) {
    for (const int32_t num_trainers : {1, 2, 3, 16}) {
      for (const int64_t batch_size : {1, 5, 64, 4096}) {
        std::vector<int> seen(num_seeds, 0);
        const int64_t batches = CeilDiv(num_seeds, batch_size);
        const int64_t steps = CeilDiv(batches, num_trainers);
        for (int32_t trainer = 0; trainer < num_trainers; ++trainer) {
          const SeedSchedule schedule =
              SeedSchedule::Global(Options(batch_size, trainer, num_trainers), num_seeds);
          REQUIRE(schedule.steps() == steps);
          const EpochOrder order = schedule.Epoch(3);
          for (int64_t step = 0; step < steps; ++step) {
            REQUIRE_FALSE(order.Batch(step).empty());
            // Padding begins again; what comes before it is each seed once.
            const bool padding = step * num_trainers + trainer >= batches;
            for (const int64_t seed : order.Batch(step)) seen[seed] += padding ? 0 : 1;
          }
        }
        REQUIRE(seen == std::vector<int>(num_seeds, 1));
      }
    }
  }
}

TEST_CASE("epochs, run seeds and trainers with their own lists are permuted apart",
          "[seed_schedule]") {
  const auto batch = [](const SeedSchedule& schedule, int64_t epoch) {
    const EpochOrder order = schedule.Epoch(epoch);
    const absl::Span<const int64_t> seeds = order.Batch(0);
    return std::vector<int64_t>(seeds.begin(), seeds.end());
  };
  ScheduleOptions options = Options(50, 0, 1);
  const SeedSchedule schedule = SeedSchedule::Global(options, 1000);
  CHECK(batch(schedule, 0) == batch(schedule, 0));
  CHECK(batch(schedule, 0) != batch(schedule, 1));
  options.run_seed = 8;
  CHECK(batch(SeedSchedule::Global(options, 1000), 0) != batch(schedule, 0));
  const std::vector<int64_t> sizes = {1000, 1000};
  VICINITY_ASSERT_OK_AND_ASSIGN(const SeedSchedule first,
                                SeedSchedule::ByTrainer(Options(50, 0, 2), sizes));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SeedSchedule second,
                                SeedSchedule::ByTrainer(Options(50, 1, 2), sizes));
  CHECK(batch(first, 0) != batch(second, 0));
}

TEST_CASE("without shuffling seeds come in their order", "[seed_schedule]") {
  ScheduleOptions options = Options(4, 0, 1);
  options.shuffle = false;
  const EpochOrder order = SeedSchedule::Global(options, 6).Epoch(5);
  CHECK(order.Batch(0) == absl::MakeConstSpan({int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}}));
  CHECK(order.Batch(1) == absl::MakeConstSpan({int64_t{4}, int64_t{5}}));
}

TEST_CASE("of lists of their own the longest gives the steps, the others begin again",
          "[seed_schedule]") {
  const std::vector<int64_t> sizes = {10, 3};
  VICINITY_ASSERT_OK_AND_ASSIGN(const SeedSchedule longest,
                                SeedSchedule::ByTrainer(Options(2, 0, 2), sizes));
  VICINITY_ASSERT_OK_AND_ASSIGN(const SeedSchedule shorter,
                                SeedSchedule::ByTrainer(Options(2, 1, 2), sizes));
  CHECK(longest.steps() == 5);
  CHECK(shorter.steps() == 5);
  CHECK(shorter.num_seeds() == 3);
  const EpochOrder order = shorter.Epoch(0);
  CHECK(order.Batch(2) == order.Batch(0));
  CHECK(order.Batch(3) == order.Batch(1));
  const std::vector<int64_t> lopsided = {10, 0};
  VICINITY_CHECK_CODE(SeedSchedule::ByTrainer(Options(2, 0, 2), lopsided).status(),
                      absl::StatusCode::kInvalidArgument);
  const std::vector<int64_t> none = {0, 0};
  VICINITY_ASSERT_OK_AND_ASSIGN(const SeedSchedule empty,
                                SeedSchedule::ByTrainer(Options(2, 0, 2), none));
  CHECK(empty.steps() == 0);
}

TEST_CASE("of lists that are cut to full batches no seed comes twice", "[seed_schedule]") {
  for (const int64_t num_seeds : {0, 1, 7, 64, 100, 1001}) {
    for (const int32_t num_trainers : {1, 2, 3, 16}) {
      for (const int64_t batch_size : {1, 5, 64}) {
        const int64_t steps = num_seeds / (batch_size * num_trainers);
        std::vector<int64_t> seen;
        for (int32_t trainer = 0; trainer < num_trainers; ++trainer) {
          ScheduleOptions options = Options(batch_size, trainer, num_trainers);
          options.drop_last = true;
          const SeedSchedule schedule = SeedSchedule::Global(options, num_seeds);
          REQUIRE(schedule.steps() == steps);
          const EpochOrder order = schedule.Epoch(3);
          for (int64_t step = 0; step < steps; ++step) {
            const absl::Span<const int64_t> batch = order.Batch(step);
            REQUIRE(static_cast<int64_t>(batch.size()) == batch_size);
            seen.insert(seen.end(), batch.begin(), batch.end());
          }
        }
        REQUIRE(static_cast<int64_t>(seen.size()) == steps * batch_size * num_trainers);
        REQUIRE(std::set<int64_t>(seen.begin(), seen.end()).size() == seen.size());
      }
    }
  }
}

TEST_CASE("of lists of their own the shortest gives the full batches", "[seed_schedule]") {
  const std::vector<int64_t> sizes = {10, 7};
  for (int32_t trainer = 0; trainer < 2; ++trainer) {
    ScheduleOptions options = Options(2, trainer, 2);
    options.drop_last = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(const SeedSchedule schedule,
                                  SeedSchedule::ByTrainer(options, sizes));
    CHECK(schedule.steps() == 3);
    CHECK(schedule.Epoch(0).Batch(2).size() == 2);
  }
}

TEST_CASE("no seeds make no steps", "[seed_schedule]") {
  CHECK(SeedSchedule::Global(Options(2, 0, 2), 0).steps() == 0);
}

TEST_CASE("no two trainers or steps draw alike", "[seed_schedule]") {
  std::set<uint64_t> draws;
  for (int32_t trainer = 0; trainer < 3; ++trainer) {
    const SeedSchedule schedule = SeedSchedule::Global(Options(2, trainer, 3), 100);
    for (int64_t step = 0; step < schedule.steps(); ++step) {
      CHECK(draws.insert(schedule.DrawBatch(step)).second);
    }
  }
}

TEST_CASE("every shard is somebody's home, whatever the numbers", "[seed_schedule]") {
  for (const int32_t num_shards : {1, 2, 5, 8}) {
    for (const int32_t num_trainers : {1, 2, 5, 12}) {
      const auto homes = DealHomes(num_shards, num_trainers);
      VICINITY_CHECK_OK(CheckHomes(homes, num_shards, num_trainers, true));
    }
  }
  CHECK(DealHomes(4, 2) == std::vector<std::vector<int32_t>>{{0, 2}, {1, 3}});
  CHECK(DealHomes(2, 3) == std::vector<std::vector<int32_t>>{{0}, {1}, {0}});
}

TEST_CASE("homes that leave a shard out, name one twice or not at all are refused",
          "[seed_schedule]") {
  using Homes = std::vector<std::vector<int32_t>>;
  const Homes bad[] = {{{0}, {0}},   {{0, 1}},   {{1, 0}, {0}}, {{0, 0}, {1}},
                       {{}, {0, 1}}, {{0}, {2}}, {{-1}, {0, 1}}};
  for (const Homes& homes : bad) {
    VICINITY_CHECK_CODE(CheckHomes(homes, 2, 2, true), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("trainers that take no seeds from their homes need none", "[seed_schedule]") {
  VICINITY_CHECK_OK(CheckHomes({{}}, 2, 1, false));
  VICINITY_CHECK_OK(CheckHomes({{0}, {}, {0}}, 2, 3, false));
  VICINITY_CHECK_CODE(CheckHomes({{2}}, 2, 1, false), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(CheckHomes({{}, {}}, 2, 1, false), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("trainers of one shard deal its seeds out among them", "[seed_schedule]") {
  const std::vector<std::vector<int32_t>> homes = {{0, 1}, {1}, {0}, {1}};
  const SharedSeeds shared = ShareSeeds(homes, 2);
  CHECK(shared.sharers == std::vector<int64_t>{2, 3});
  for (const int64_t num_seeds : {0, 1, 2, 3, 10}) {
    CHECK(shared.Share(0, shared.place[0][0], num_seeds) +
              shared.Share(0, shared.place[2][0], num_seeds) ==
          num_seeds);
    CHECK(shared.Share(1, shared.place[0][1], num_seeds) +
              shared.Share(1, shared.place[1][0], num_seeds) +
              shared.Share(1, shared.place[3][0], num_seeds) ==
          num_seeds);
  }
}

}  // namespace
}  // namespace vicinity
