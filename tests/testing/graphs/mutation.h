// What can happen to a file of a dataset, and how to undo it: for tests of those who must notice.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace vicinity::testing {

enum class MutationKind {
  kFlip,      // one bit
  kZero,      // 4 KiB, in place
  kTruncate,  // in place
  kExtend,    // in place
  kDelete,
  kSwap,     // with another file
  kReplace,  // by a file of the same size, which takes its place at once
};
inline constexpr int kNumMutationKinds = 7;

// Changes the files of one folder, one at a time, and mends them.
//
// Threads: one at a time. Ends the process if a file cannot be changed: the test would test
// nothing then.
class Mutator {
 public:
  // Keeps the content of all files below `folder` in memory.
  Mutator(const std::string& folder, uint64_t seed);

  // Relative to the folder.
  const std::vector<std::string>& files() const { return files_; }
  // What was done, for people: "flip bit 3 of byte 70 of shard-00000/...".
  std::string Mutate(const std::string& file, MutationKind kind);
  // Puts back what the last Mutate has changed; in place, unless the file has gone.
  void Undo();

 private:
  std::string PathOf(const std::string& file) const { return folder_ + "/" + file; }
  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }
  void Restore(const std::string& file) const;

  const std::string folder_;
  std::mt19937_64 random_;
  std::vector<std::string> files_;
  std::map<std::string, std::string> contents_;  // by file
  std::vector<std::string> changed_;
};

}  // namespace vicinity::testing
