// Rows that were not written, as a file that can be written once they are mended.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"

namespace vicinity::cli {

// JSON lines: an object a row, with `_line` (its number in the file, ChangeFile::number) and
// `_reason`. The file appears with the first of them, and stays if what follows fails.
//
// Threads: for one.
class DeadLetters {
 public:
  explicit DeadLetters(const std::string& path) : path_(path) {}  // "": they are not wanted

  bool wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // AlreadyExists: another file is in its place, which is not to be overwritten.
  absl::Status CheckIsNew() const;
  void Add(nlohmann::ordered_json row, int64_t number, const std::string& reason);
  // Writes what is left. ResourceExhausted: not all of them could be written.
  absl::Status Finish();

 private:
  const std::string path_;
  std::ofstream file_;
};

}  // namespace vicinity::cli
