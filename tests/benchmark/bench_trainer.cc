#include "tests/benchmark/bench_trainer.h"

#include <cstdint>

#include "client/planning/home_plan.h"

namespace vicinity::benchmark {

TrainerView MakeTrainerView(const Dataset& dataset, int64_t batch_size) {
  VipRequest flags;
  flags.batch_size = batch_size;
  flags.homes = "0";
  const HomePlan plan = Must(PlanHomes(dataset, AssignmentOf(dataset.book()), flags));
  return Must(TrainerView::Create(&dataset, plan.homes[0], plan.seeds[0], plan.options));
}

}  // namespace vicinity::benchmark
