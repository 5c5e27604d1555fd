// The trainer that cache policies are compared for.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/policies/trainer_view.h"
#include "partition/dataset/dataset.h"

namespace vicinity::benchmark {

// The value; exits 1 where there is none, saying why.
template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << '\n';
    std::exit(1);
  }
  return *std::move(value);
}
inline void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << '\n';
  std::exit(1);
}

// The trainer near shard 0, whose seeds are there, with fanouts (15, 10, 5).
TrainerView MakeTrainerView(const Dataset& dataset, int64_t batch_size);

}  // namespace vicinity::benchmark
