// What is wrong with the user's files: the first places are kept for the message, all are counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// Threads: for one.
// Memory:  kListed texts, however many problems there are.
class ProblemList {
 public:
  static constexpr size_t kListed = 10;

  // `text` is called only if it will be listed.
  void Add(absl::FunctionRef<std::string()> text) {
    if (texts_.size() < kListed) texts_.push_back(text());
    ++count_;
  }
  int64_t count() const { return count_; }

  // Ok if there are none; else InvalidArgument: the headline, how many, the first places.
  absl::Status ToStatus(absl::string_view headline) const;

 private:
  int64_t count_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace vicinity
