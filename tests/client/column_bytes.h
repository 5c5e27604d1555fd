// The rows of a batch's column, wherever the loader left them.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "client/types/loader_values.h"

namespace vicinity::testing {

// Waits for the device. Ends the test case if the column is in neither place or in both.
inline std::string BytesOf(const BatchColumn& column) {
  const int64_t num_bytes = column.num_rows * column.spec.row_bytes();
  if (column.tensor == nullptr) {
    REQUIRE(static_cast<int64_t>(column.bytes.size()) == num_bytes);
    return std::string(column.bytes.begin(), column.bytes.end());
  }
  REQUIRE(column.bytes.empty());
  REQUIRE(column.tensor->num_rows() == column.num_rows);
  REQUIRE(column.tensor->bytes() == num_bytes);
  std::string bytes(num_bytes, '?');
  const Error error = column.tensor->CopyToHost(&bytes[0]);
  INFO(error.message());
  REQUIRE(error.ok());
  return bytes;
}

}  // namespace vicinity::testing
