#include "proto/common/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

class LastUpdate : public Progress {
 public:
  void Begin(std::string_view, int64_t, std::string_view) override {}
  void Update(int64_t done) override {
    if (done < last) fell = true;
    last = done;
  }
  void End() override {}
  void Note(std::string_view) override {}
  int64_t last = 0;
  bool fell = false;
};

TEST_CASE("every item is done once and counted", "[partition]") {
  const int64_t num_items = GENERATE(0, 1, 2, 1000);
  std::vector<std::atomic<int>> times(num_items);
  LastUpdate progress;
  VICINITY_CHECK_OK(
      ForEachInParallel(num_items, &progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        ++times[i];
        return 3;
      }));
  for (const std::atomic<int>& count : times) CHECK(count == 1);
  CHECK(progress.last == 3 * num_items);
  CHECK_FALSE(progress.fell);
}

TEST_CASE("the failure with the lowest number is told, whichever came first", "[partition]") {
  for (int round = 0; round < 50; ++round) {
    const absl::Status status =
        ForEachInParallel(100, NoProgress(), [&](int64_t i) -> absl::StatusOr<int64_t> {
          if (i >= 20) return absl::DataLossError(std::to_string(i));
          return 1;
        });
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK(status.message() == "20");
  }
}

TEST_CASE("nothing starts after a failure", "[partition]") {
  std::atomic<int> started = 0;
  VICINITY_CHECK_CODE(ForEachInParallel(1'000'000, NoProgress(),
                                        [&](int64_t) -> absl::StatusOr<int64_t> {
                                          ++started;
                                          return absl::InternalError("no");
                                        }),
                      absl::StatusCode::kInternal);
  CHECK(started <= 64);
}

}  // namespace
}  // namespace vicinity
