#include "client/cli/output/output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/command_line/choices.h"
#include "proto/security/certificates.h"

namespace vicinity::cli {
namespace {

// What a terminal shows of UTF-8 text: one column a code point.
size_t Width(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

void PrintRow(const std::vector<Table::Column>& columns, const std::vector<size_t>& widths,
              const std::vector<std::string>& cells, std::ostream& out) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string cell = i < cells.size() ? cells[i] : "";
    const std::string blanks(widths[i] - Width(cell), ' ');
    absl::StrAppend(&line, i == 0 ? "" : "  ");
    if (columns[i].align == Table::Align::kRight) {
      absl::StrAppend(&line, blanks, cell);
    } else {
      absl::StrAppend(&line, cell, blanks);
    }
  }
  out << absl::StripTrailingAsciiWhitespace(line) << '\n';
}

}  // namespace

void AddFormatFlag(CLI::App* app, OutputFormat* format) {
  const std::map<std::string, OutputFormat> names = {{"table", OutputFormat::kTable},
                                                     {"json", OutputFormat::kJson}};
  app->add_option("--format", *format, "table (for people) or json (for scripts)")
      ->type_name("table|json")
      ->transform(Choices(names))
      ->default_str("table");
}

void PrintJson(const nlohmann::ordered_json& json, std::ostream& out) {
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<std::string> cells) {
  assert(cells.size() <= columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::Print(std::ostream& out) const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(Width(column.title));
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  PrintRow(columns_, widths, titles, out);
  for (const std::vector<std::string>& row : rows_) PrintRow(columns_, widths, row, out);
}

std::string HumanTimeLeft(absl::Time end, absl::Time now) {
  if (end == absl::InfiniteFuture()) return "-";
  const int64_t hours = absl::ToInt64Hours(end - now);
  if (end < now) return "expired";
  return hours >= 48 ? absl::StrCat(hours / 24, " d") : absl::StrCat(hours, " h");
}

std::string ExpiryWarning(const std::string& server, absl::Time end, absl::Time now) {
  if (end - now > kExpiryWarning) return "";
  return absl::StrCat(server, ": the certificate ", end < now ? "expired at " : "expires at ",
                      DateText(end), ": `vicinity certificate renew`\n");
}

}  // namespace vicinity::cli
