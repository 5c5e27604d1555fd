#include "tests/benchmark/bench_report.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/cli/output/output.h"
#include "nlohmann/json.hpp"

namespace vicinity::benchmark {
namespace {

std::string Figure(double value) { return absl::StrFormat("%.4g", value); }

std::string Ratio(double value, const std::optional<double>& other) {
  return other.has_value() ? absl::StrFormat("%s (%.2fx)", Figure(*other), value / *other) : "";
}

}  // namespace

BenchOptions ParseBenchOptions(int argc, char** argv) {
  BenchOptions options;
  std::string format = "table";
  CLI::App app("A benchmark: what it measures, its source says");
  app.add_option("--size", options.size)->check(CLI::IsMember({"small", "full"}));
  app.add_option("--format", format)->check(CLI::IsMember({"table", "json"}));
  app.add_option("--data", options.data, "DIR, where generated graphs are kept for the next run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& misuse) {
    std::exit(app.exit(misuse) == 0 ? 0 : 2);
  }
  options.json = format == "json";
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
