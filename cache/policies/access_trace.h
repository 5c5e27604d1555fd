// Which remote rows the batches of some epochs ask for: what policies are counted on.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {

// Nodes of all types in one numbering (trainer_view.h), none local.
//
// Threads: one writes, then any number may read. Memory: 8 bytes a use.
class AccessTrace {
 public:
  explicit AccessTrace(int64_t num_nodes) : num_nodes_(num_nodes) {}

  // Of the current epoch; no node twice, all in [0, num_nodes).
  void AddBatch(absl::Span<const int64_t> nodes);
  void EndEpoch() { ++num_epochs_; }

  int64_t num_nodes() const { return num_nodes_; }
  int64_t num_epochs() const { return num_epochs_; }
  int64_t num_batches() const { return static_cast<int64_t>(ends_.size()); }
  int64_t num_uses() const { return static_cast<int64_t>(uses_.size()); }
  absl::Span<const int64_t> uses() const { return uses_; }  // batch by batch
  absl::Span<const int64_t> batch(int64_t i) const {
    const int64_t begin = i == 0 ? 0 : ends_[i - 1];
    return absl::MakeConstSpan(uses_).subspan(begin, ends_[i] - begin);
  }

  // By node, in how many batches it is.
  std::vector<double> CountUses() const;

 private:
  const int64_t num_nodes_;
  int64_t num_epochs_ = 0;
  std::vector<int64_t> uses_;
  std::vector<int64_t> ends_;  // of each batch
};

}  // namespace vicinity
