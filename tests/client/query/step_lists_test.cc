#include "client/query/step_lists.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "partition/schema/schema.h"

namespace vicinity {
namespace {

using Numbers = std::vector<int64_t>;

template <typename Value>
OrderValues Values(DType dtype, const std::vector<Value>& values) {
  ColumnSpec spec;
  spec.dtype = dtype;
  return OrderValues(spec,
                     {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
}

TEST_CASE("Some of every list are taken, with all that is of them") {
  StepLists lists;
  lists.offsets = {0, 3, 3, 5};
  lists.nodes = {10, 11, 12, 13, 14};
  lists.edge_ids = {0, 1, 2, 3, 4};
  Take(SelectWhere(lists.offsets, {1, 0, 1, 0, 1}), &lists);
  CHECK(lists.offsets == Numbers{0, 2, 2, 3});
  CHECK(lists.nodes == Numbers{10, 12, 14});
  CHECK(lists.edge_ids == Numbers{0, 2, 4});
  CHECK(lists.edge_positions.empty());
  Take(SelectAll(lists.offsets), &lists);
  CHECK(lists.nodes == Numbers{10, 12, 14});
}

TEST_CASE("Each list is put in order by itself, equals stay, and the first of it are kept") {
  const Numbers offsets = {0, 4, 4, 7};
  const OrderValues values = Values<int32_t>(DType::kInt32, {3, -1, 3, 2, 5, 5, 4});
  CHECK(SelectFirst(offsets, &values, false, -1).positions == Numbers{1, 3, 0, 2, 6, 4, 5});
  CHECK(SelectFirst(offsets, &values, true, -1).positions == Numbers{0, 2, 3, 1, 4, 5, 6});
  const Selection first = SelectFirst(offsets, &values, false, 2);
  CHECK(first.positions == Numbers{1, 3, 6, 4});
  CHECK(first.offsets == Numbers{0, 2, 2, 4});
  CHECK(SelectFirst(offsets, nullptr, false, 1).positions == Numbers{0, 4});
  CHECK(SelectFirst(offsets, nullptr, false, 0).offsets == Numbers{0, 0, 0, 0});
}

TEST_CASE("Integers are compared exactly, and what is no number comes last") {
  constexpr int64_t kBeyond = int64_t{1} << 53;
  const OrderValues whole =
      Values<int64_t>(DType::kInt64, {kBeyond + 1, kBeyond, std::numeric_limits<int64_t>::min()});
  CHECK(SelectFirst({0, 3}, &whole, false, -1).positions == Numbers{2, 1, 0});
  const float nan = std::nanf("");
  const OrderValues real = Values<float>(DType::kFloat32, {nan, 1, -2, nan});
  CHECK(SelectFirst({0, 4}, &real, false, -1).positions == Numbers{2, 1, 0, 3});
  CHECK(SelectFirst({0, 4}, &real, true, -1).positions == Numbers{1, 2, 0, 3});
  const OrderValues halves = Values<uint16_t>(DType::kFloat16, {0x3c00, 0xbc00, 0x0000});
  CHECK(SelectFirst({0, 3}, &halves, false, -1).positions == Numbers{1, 2, 0});
  const OrderValues flags = Values<uint8_t>(DType::kBool, {1, 0});
  CHECK(SelectFirst({0, 2}, &flags, false, -1).positions == Numbers{1, 0});
}

}  // namespace
}  // namespace vicinity
