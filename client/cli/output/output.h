// How commands show data: aligned tables for people, JSON for scripts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace CLI {
class App;
}

namespace vicinity::cli {

// Tables have human sizes and may change; JSON has raw numbers and is kept stable.
enum class OutputFormat { kTable, kJson };

// Declares `--format table|json`.
void AddFormatFlag(CLI::App* app, OutputFormat* format);

// Indented, with a newline at the end. Bytes that are no UTF-8 (in names of files) become U+FFFD.
void PrintJson(const nlohmann::ordered_json& json, std::ostream& out);

// Text in aligned columns, two blanks between them.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns);
  // Missing cells are empty; there may not be more than columns.
  void AddRow(std::vector<std::string> cells);
  void Print(std::ostream& out) const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// What is left at `now` of a certificate that ends then: "87 d", "5 h", "expired"; "-" for one that
// never ends, which is none.
std::string HumanTimeLeft(absl::Time end, absl::Time now);

// A line about a server whose certificate ends within two weeks; empty for others.
std::string ExpiryWarning(const std::string& server, absl::Time end, absl::Time now);

}  // namespace vicinity::cli
