// NumPy's .npz archives: zip files of .npy arrays, stored or deflated, zip64 too (libzip).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/ingest/formats/npy_reader.h"
#include "partition/ingest/formats/spool_file.h"
#include "proto/common/file.h"

namespace vicinity {

struct NpzOptions {
  int64_t memory_bytes = int64_t{64} << 20;  // larger members go through a temporary file
  std::string spool_directory = ".";         // where that is created
};

// One array of an archive. A few MB in an archive can be gigabytes of array, so type and shape are
// there before it is decompressed, for whoever can tell by them that it is not wanted.
//
// Threads:  for one.
// Lifetime: the view lives as long as the object, which keeps the archive open.
class NpzMember {
 public:
  // Without data until Load().
  const NpyView& view() const { return view_; }

  // Decompresses; nothing to do the second time. DataLoss: damaged, or not of the size or checksum
  // that the archive tells, which is checked before more than that is written; ResourceExhausted:
  // no disk space.
  absl::Status Load();

 private:
  friend class NpzFile;
  struct Archive;
  std::string name_;                  // for messages
  std::shared_ptr<Archive> archive_;  // with all of its members and the NpzFile
  uint64_t index_ = 0;
  uint64_t size_ = 0;
  NpzOptions options_;
  std::unique_ptr<std::string> memory_;  // one of the two holds the bytes
  std::unique_ptr<SpoolFile> spool_;
  NpyView view_;
};

// Threads: for one.
class NpzFile {
 public:
  using Options = NpzOptions;

  // What MappedFile::Open says; DataLoss: not an archive, or a damaged one.
  static absl::StatusOr<std::unique_ptr<NpzFile>> Open(const std::string& path, Options options);
  ~NpzFile();

  // As in the archive, without ".npy".
  const std::vector<std::string>& members() const { return members_; }

  // For messages: the members there are, and what converts them if they are a sparse matrix.
  std::string Contents() const;

  // Reads the array's header. NotFound with Contents(); InvalidArgument: encrypted,
  // or what ParseNpy says, a shape that does not fit the size that the archive tells among it;
  // DataLoss: damaged.
  absl::StatusOr<NpzMember> Find(const std::string& member);

 private:
  using Archive = NpzMember::Archive;
  NpzFile(std::shared_ptr<Archive> archive, Options options);
  const std::shared_ptr<Archive> archive_;
  const Options options_;
  std::vector<std::string> members_;
};

}  // namespace vicinity
