// A dataset directory, opened: schema, book, and the shards asked for, mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/book.h"
#include "partition/schema.h"
#include "partition/shard.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// Every dataset has this form: what `import` and `generate` write is a dataset of one shard
// in the user's order; `partition` reads any dataset and writes another.
//
// Threads: immutable; any number may read.
class Dataset {
 public:
  struct Options {
    std::vector<ShardId> shards;  // empty: all of them
    // Files are checked against their checksums at open until this many bytes are read;
    // the rest is for CheckFile(), by VerifyDataset or by a server in the background. Sizes and
    // headers always are.
    int64_t check_bytes = int64_t{256} << 20;
  };

  // DataLoss naming the file: missing, of another size, with a bad header or checksum, or a
  // manifest that does not match its own checksum. FailedPrecondition: a format version that is
  // newer than this build. NotFound: no such directory, or no such shard.
  static absl::StatusOr<std::unique_ptr<Dataset>> Open(const std::string& directory,
                                                       const Options& options);
  static absl::StatusOr<std::unique_ptr<Dataset>> Open(const std::string& directory) {
    return Open(directory, Options());
  }

  const std::string& directory() const { return directory_; }
  const proto::Manifest& manifest() const { return manifest_; }
  uint64_t fingerprint() const { return manifest_.fingerprint(); }
  const Schema& schema() const { return schema_; }
  const Book& book() const { return book_; }

  // The shards opened, by rising id.
  absl::Span<const std::unique_ptr<Shard>> shards() const { return shards_; }
  const Shard* shard(ShardId id) const;  // null: not opened
  bool whole() const { return static_cast<int32_t>(shards_.size()) == book_.num_shards(); }

  int64_t checked_bytes() const { return checked_bytes_; }
  // The files that `check_bytes` left unchecked.
  const std::vector<proto::FileEntry>& unchecked() const { return unchecked_; }

 private:
  Dataset(std::string directory, proto::Manifest manifest, Schema schema, Book book);
  absl::Status OpenShard(ShardId id, int64_t check_bytes);

  const std::string directory_;
  const proto::Manifest manifest_;
  const Schema schema_;
  const Book book_;
  std::vector<std::unique_ptr<Shard>> shards_;
  int64_t checked_bytes_ = 0;
  std::vector<proto::FileEntry> unchecked_;
};

// Reads a file through its checksum. DataLoss naming it, with both values.
absl::Status CheckFile(const std::string& directory, const proto::FileEntry& entry);

}  // namespace vicinity
