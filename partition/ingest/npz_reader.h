// NumPy's .npz archives: zip files of .npy arrays, stored or deflated, zip64 too (libzip).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/ingest/npy_reader.h"
#include "partition/ingest/spool_file.h"
#include "proto/common/file.h"

namespace vicinity {

// One array of an archive, decompressed.
//
// Lifetime: the view lives as long as the object, which does not need the archive.
class NpzMember {
 public:
  const NpyView& view() const { return view_; }

 private:
  friend class NpzFile;
  std::unique_ptr<std::string> memory_;  // one of the two holds the bytes
  std::unique_ptr<SpoolFile> spool_;
  NpyView view_;
};

// Threads: for one.
class NpzFile {
 public:
  struct Options {
    int64_t memory_bytes = int64_t{64} << 20;  // larger members go through a temporary file
    std::string spool_directory = ".";         // where that is created
  };

  // What MappedFile::Open says; DataLoss: not an archive, or a damaged one.
  static absl::StatusOr<std::unique_ptr<NpzFile>> Open(const std::string& path, Options options);
  ~NpzFile();

  // As in the archive, without ".npy".
  const std::vector<std::string>& members() const { return members_; }

  // NotFound listing the members there are; InvalidArgument: encrypted, or what ParseNpy says;
  // DataLoss: damaged, or not of the size or checksum that the archive tells, which is checked
  // before more than that is written; ResourceExhausted: no disk space.
  absl::StatusOr<NpzMember> Read(const std::string& member);

 private:
  struct Archive;
  NpzFile(std::unique_ptr<MappedFile> file, std::unique_ptr<Archive> archive, Options options);
  const std::unique_ptr<MappedFile> file_;
  const std::unique_ptr<Archive> archive_;  // reads from file_
  const Options options_;
  std::vector<std::string> members_;
};

}  // namespace vicinity
