// The files of a dataset that is being written: each mapped at its final size, with its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/file_header.h"
#include "proto/common/file.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// One array being written: `rows` (after the file's header), with its stride.
struct OutputArray {
  char* data = nullptr;
  int64_t num_rows = 0;
  int64_t row_bytes = 0;

  template <typename T>
  absl::Span<T> as() const {  // sizeof(T) must divide row_bytes
    return {reinterpret_cast<T*>(data), static_cast<size_t>(num_rows * row_bytes / sizeof(T))};
  }
};

// Stores `value` at position i of an array of 4- or 8-byte ids.
inline void StoreId(const OutputArray& ids, int64_t i, uint64_t value) {
  if (ids.row_bytes == 4) {
    ids.as<uint32_t>()[i] = static_cast<uint32_t>(value);
  } else {
    ids.as<uint64_t>()[i] = value;
  }
}

// Threads:  arrays may be filled by several threads, and different files sealed by several; the
//           other methods are for one.
// Lifetime: arrays live until Close() or destruction. What was written stays on disk.
class OutputFiles {
 public:
  // The files lie below `folder`, whose folders exist.
  explicit OutputFiles(std::string folder) : folder_(std::move(folder)) {}

  // A new file. InvalidArgument, naming the path, for a size below 0 or above 2^62 bytes; else the
  // errors of MappedOutput::Create.
  absl::StatusOr<OutputArray> Add(const std::string& path, FileKind kind, int64_t num_rows,
                                  int64_t row_bytes);

  bool Has(const std::string& path) const { return files_.count(path) != 0; }
  // The array of a file that was added.
  OutputArray at(const std::string& path) const;

  // Ends a file that was added: sums its pages, waits until the disk has it, and tells the entry
  // its size and checksums.
  absl::Status Seal(const std::string& path, proto::FileEntry* entry) const;

  // Unmaps all files.
  void Close() { files_.clear(); }

 private:
  const std::string folder_;
  std::map<std::string, std::unique_ptr<MappedOutput>> files_;  // by path below the folder
};

}  // namespace vicinity
