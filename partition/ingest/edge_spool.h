// The edges of one type on their way into a dataset: pairs of node numbers in a temporary file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/ingest/formats/spool_file.h"

namespace vicinity {

struct Edge {
  int64_t source = 0;  // number in its node type
  int64_t target = 0;
};

// The edges appended, in that order; edge e is the e-th.
//
// Threads:  immutable; any number may read.
// Lifetime: as long as the EdgeSpool.
class EdgeList {
 public:
  EdgeList() = default;
  EdgeList(std::string_view bytes, bool wide);
  int64_t size() const { return size_; }
  Edge operator[](int64_t e) const {
    if (narrow_ != nullptr) return {int64_t{narrow_[2 * e]}, int64_t{narrow_[2 * e + 1]}};
    return {static_cast<int64_t>(wide_[2 * e]), static_cast<int64_t>(wide_[2 * e + 1])};
  }

 private:
  const uint32_t* narrow_ = nullptr;
  const uint64_t* wide_ = nullptr;
  int64_t size_ = 0;
};

// Threads: for one.
// Memory:  O(1); 8 bytes of disk an edge, 16 where a type has 2^32 nodes or more.
class EdgeSpool {
 public:
  // All node numbers will be below `num_nodes`. The system's error if no file can be created.
  static absl::StatusOr<std::unique_ptr<EdgeSpool>> Create(const std::string& directory,
                                                           int64_t num_nodes);

  // ResourceExhausted: the disk is full.
  absl::Status Append(absl::Span<const Edge> edges);
  int64_t size() const { return size_; }

  // Everything appended; nothing can be appended after it.
  absl::StatusOr<EdgeList> Finish();

 private:
  EdgeSpool(std::unique_ptr<SpoolFile> file, bool wide);
  const std::unique_ptr<SpoolFile> file_;
  const bool wide_;
  int64_t size_ = 0;
  std::vector<uint32_t> narrow_;  // the piece being written
  std::vector<uint64_t> wide_pairs_;
};

}  // namespace vicinity
