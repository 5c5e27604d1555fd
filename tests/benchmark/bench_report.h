// What every benchmark prints: one row a figure, with the baseline and the machine's own limit
// measured in the same run.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace vicinity::benchmark {

struct BenchRow {
  std::string bench;    // "sampler"
  std::string variant;  // "uniform, 1 thread"; "case" in JSON
  std::string metric;   // with its unit: "edges/s"
  double value = 0;
  std::optional<double> baseline;  // the same figure of a textbook implementation
  std::optional<double> limit;     // what the machine could do at most
};

struct BenchOptions {
  bool json = false;
  std::string data = "/tmp/vicinity-bench";  // where generated graphs are kept for the next run
  std::string size = "small";  // "small" (seconds) or "full" (the size that results are quoted at)
};

// Parses `--size small|full`, `--format table|json`, `--data DIR`. Exits 2, saying why, for
// anything else.
BenchOptions ParseBenchOptions(int argc, char** argv);

// Rows as they come in JSON (one object a line), as a table at the end otherwise.
class BenchReport {
 public:
  BenchReport(const BenchOptions& options, std::ostream& out);
  ~BenchReport();  // prints the table
  void Add(BenchRow row);

 private:
  const bool json_;
  std::ostream& out_;
  std::vector<BenchRow> rows_;
};

// Wall-clock seconds of the fastest of `repeats` calls.
template <typename Work>
double FastestSeconds(int repeats, Work&& work) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, taken.count());
  }
  return fastest;
}

}  // namespace vicinity::benchmark
