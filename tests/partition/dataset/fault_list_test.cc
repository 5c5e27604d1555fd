#include "partition/dataset/fault_list.h"

#include <catch2/catch.hpp>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("a list without faults is ok, and the first text of a path stays", "[fault_list]") {
  FaultList faults;
  CHECK(faults.empty());
  VICINITY_CHECK_OK(faults.status());
  faults.Add("b", "b: torn");
  faults.Add("b", "b: torn again");
  VICINITY_CHECK_CODE(faults.status(), absl::StatusCode::kDataLoss);
  CHECK(faults.status().message() == "b: torn");
  CHECK_FALSE(faults.empty());
}

TEST_CASE("a shard is sound again when the last fault is over", "[fault_list]") {
  FaultList faults;
  faults.Add("a", "a: torn");
  faults.Add("b", "b: torn");
  faults.Remove("a");
  CHECK(faults.status().message() == "b: torn");
  faults.Remove("c");
  faults.Remove("b");
  CHECK(faults.empty());
  VICINITY_CHECK_OK(faults.status());
}

}  // namespace
}  // namespace vicinity
