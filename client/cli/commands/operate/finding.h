// What a look at a machine or a server's files has found.
#pragma once

#include <string>

namespace vicinity::cli {

// kWarning: it works, and may fail or be slow later. kFault: a server would not start, or not stay.
enum class Verdict { kGood, kWarning, kFault };

struct Finding {
  std::string what;  // what was looked at, a few words
  Verdict verdict = Verdict::kGood;
  std::string found;   // how it is
  std::string remedy;  // what to do; empty where nothing is to be done
};

}  // namespace vicinity::cli
