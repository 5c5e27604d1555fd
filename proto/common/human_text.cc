#include "proto/common/human_text.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace vicinity {

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

}  // namespace vicinity
