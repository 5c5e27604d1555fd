// What somebody who mistyped a word most likely meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vicinity {

// The word that `typed` was most likely meant to be; empty if none is near. Near is: one letter in
// three, and one more, left out, doubled, changed, or swapped with its neighbour.
std::string NearestWord(std::string_view typed, const std::vector<std::string>& words);

// "; did you mean WORD?", or nothing where no word is near.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace vicinity
