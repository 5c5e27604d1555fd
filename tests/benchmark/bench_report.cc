#include "tests/benchmark/bench_report.h"

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/cli/output.h"
#include "nlohmann/json.hpp"

namespace vicinity::benchmark {
namespace {

[[noreturn]] void Misuse(std::string_view program, std::string_view what) {
  std::cerr << program << ": " << what << "\nusage: " << program
            << " [--size small|full] [--format table|json] [--data DIR]\n";
  std::exit(2);
}

std::string Figure(double value) { return absl::StrFormat("%.4g", value); }

std::string Ratio(double value, const std::optional<double>& other) {
  return other.has_value() ? absl::StrFormat("%s (%.2fx)", Figure(*other), value / *other) : "";
}

}  // namespace

BenchOptions ParseBenchOptions(int argc, char** argv) {
  BenchOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) Misuse(argv[0], "a value is missing");
    const std::string_view value = argv[++i];
    if (flag == "--size" && (value == "small" || value == "full")) {
      options.size = value;
    } else if (flag == "--format" && (value == "table" || value == "json")) {
      options.json = value == "json";
    } else if (flag == "--data" && !value.empty()) {
      options.data = value;
    } else {
      Misuse(argv[0], absl::StrFormat("%s %s?", flag, value));
    }
  }
  return options;
}

BenchReport::BenchReport(const BenchOptions& options, std::ostream& out)
    : json_(options.json), out_(out) {}

BenchReport::~BenchReport() {
  if (json_) return;
  using Align = cli::Table::Align;
  cli::Table table({{"case", Align::kLeft},
                    {"metric", Align::kLeft},
                    {"value", Align::kRight},
                    {"baseline (value / baseline)", Align::kRight},
                    {"limit (value / limit)", Align::kRight}});
  for (const BenchRow& row : rows_) {
    table.AddRow({row.bench + ": " + row.variant, row.metric, Figure(row.value),
                  Ratio(row.value, row.baseline), Ratio(row.value, row.limit)});
  }
  table.Print(out_);
}

void BenchReport::Add(BenchRow row) {
  if (json_) {
    nlohmann::ordered_json line = {{"bench", row.bench},   {"case", row.variant},
                                   {"metric", row.metric}, {"value", row.value},
                                   {"baseline", nullptr},  {"limit", nullptr}};
    if (row.baseline.has_value()) line["baseline"] = *row.baseline;
    if (row.limit.has_value()) line["limit"] = *row.limit;
    out_ << line.dump() << std::endl;
  }
  rows_.push_back(std::move(row));
}

}  // namespace vicinity::benchmark
