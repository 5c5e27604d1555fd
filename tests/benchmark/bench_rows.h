// A graph of rows alone, for benchmarks that fetch them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {

// Bytes of a row, column by column; the columns are named bytes128, bytes512, bytes2048.
inline const std::vector<int64_t> kRowWidths = {128, 512, 2048};

// The directory of a dataset of one shard, made if it is not there: nodes of one type, their ids
// dense.
std::string DatasetOfRows(const BenchOptions& options);

}  // namespace vicinity::benchmark
