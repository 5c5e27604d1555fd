// What a fuzzer needs to know of a parser of bytes that come from outside.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace vicinity::fuzz {

// A parser under fire. Whatever the input, `run` returns: the parser refuses it or takes it.
// Crashes, leaks, endless work and wrong answers (see Expect) end the process.
//
// Threads: one at a time.
struct FuzzTarget {
  std::vector<std::string> seeds;  // inputs that are right, or nearly, to begin with
  std::function<void(std::string_view input)> run;
};

struct NamedTarget {
  const char* name;
  // `folder` is there, empty, and the target's own: for what a parser wants to read from files.
  FuzzTarget (*make)(const std::string& folder);
};

// Ends the process if something that must be so for every input is not.
inline void Expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

}  // namespace vicinity::fuzz
