#include "client/cli/output/output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/output/choices.h"
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
      ->type_name("FORMAT")
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

std::string HumanBytes(int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B") : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string HumanCount(int64_t count) {
  const std::string digits = absl::StrCat(count);
  const size_t sign = count < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string HumanSeconds(double seconds) {
  if (seconds < 0.00995) return absl::StrFormat("%.2g ms", seconds * 1e3);
  if (seconds < 0.9995) return absl::StrFormat("%.0f ms", seconds * 1e3);
  if (seconds < 99.95) return absl::StrFormat("%.1f s", seconds);
  const int64_t whole = std::llround(seconds);
  if (whole < 3600) return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
  return absl::StrFormat("%d h %d min", whole / 3600, whole % 3600 / 60);
}

std::string HumanRatio(double value) { return absl::StrFormat("%.3f", value); }

std::string HumanPercent(double fraction) { return absl::StrFormat("%.1f %%", fraction * 100); }

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

int64_t ParseBytes(std::string_view text) {
  absl::string_view number = absl::StripAsciiWhitespace({text.data(), text.size()});
  if (!absl::ConsumeSuffix(&number, "iB")) absl::ConsumeSuffix(&number, "B");
  double unit = 1;
  constexpr std::string_view kUnits = "KMGT";
  if (!number.empty()) {
    const size_t power = kUnits.find(absl::ascii_toupper(number.back()));
    if (power != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(power + 1));
      number.remove_suffix(1);
    }
  }
  double value = 0;
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(number), &value)) return -1;
  const double bytes = value * unit;
  // 2^62: far above any machine, and safe to add to.
  return bytes >= 0 && bytes <= 0x1p62 ? static_cast<int64_t>(bytes) : -1;
}

}  // namespace vicinity::cli
