#include "proto/command_line/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

// Letters left out, added, changed, or swapped with their neighbours (Damerau and Levenshtein).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> to(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        to[i][j] = i + j;
        continue;
      }
      const size_t changed = to[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      to[i][j] = std::min({changed, to[i - 1][j] + 1, to[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        to[i][j] = std::min(to[i][j], to[i - 2][j - 2] + 1);
      }
    }
  }
  return to[a.size()][b.size()];
}

}  // namespace

std::string NearestWord(std::string_view typed, const std::vector<std::string>& words) {
  std::string nearest;
  size_t least = std::numeric_limits<size_t>::max();
  for (const std::string& word : words) {
    const size_t distance = Distance(typed, word);
    if (distance >= least) continue;
    least = distance;
    nearest = word;
  }
  // The dashes of a flag are no letters that were met.
  const size_t letters = typed.size() - std::min(typed.find_first_not_of('-'), typed.size());
  return least <= 1 + letters / 3 && least < letters ? nearest : "";
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string>& words) {
  const std::string nearest = NearestWord(typed, words);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

}  // namespace vicinity
