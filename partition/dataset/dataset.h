// A dataset directory, opened: schema, book, and the shards asked for, mapped.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// Every dataset has this form: what `import` and `generate` write is a dataset of one shard
// in the user's order; `partition` reads any dataset and writes another.
//
// Threads: immutable, but for shards that OpenAgain() adds; any number may read.
class Dataset {
 public:
  struct Options {
    std::vector<ShardId> shards;  // empty: all of them
    // Files are checked against their checksums at open until this many bytes are read;
    // the rest is for CheckFile(), by VerifyDataset or by a server in the background. Sizes and
    // headers always are.
    int64_t check_bytes = int64_t{256} << 20;
    // Who reads by partition/dataset/shard_reader.h, which verifies pages when they are first
    // touched, and by partition/dataset/whole_read.h alone, says so: then only files of format
    // version 1, which have no sums, are checked here.
    bool verify_at_touch = false;
    // A shard whose files are damaged is left out, as long as another can be opened; fault() tells.
    bool leave_out_damaged = false;
    // There may be more nodes than in the files: the book grows.
    bool grows = false;
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

  // The shards opened by Open(), by rising id.
  absl::Span<const std::unique_ptr<Shard>> shards() const { return shards_; }
  const Shard* shard(ShardId id) const;  // null: not opened
  // Those that Open() was asked for, also what was left out, by rising id.
  absl::Span<const ShardId> wanted() const { return wanted_; }
  // DataLoss naming a file, if one of the shard is known to be damaged.
  absl::Status fault(ShardId id) const;
  // Opens a shard that was left out, if its files are sound now. One at a time.
  absl::Status OpenAgain(ShardId id);
  bool whole() const { return static_cast<int32_t>(shards_.size()) == book_.num_shards(); }

  int64_t checked_bytes() const { return checked_bytes_; }
  // The files that `check_bytes` left unchecked.
  const std::vector<proto::FileEntry>& unchecked() const { return unchecked_; }

 private:
  Dataset(std::string directory, proto::Manifest manifest, Schema schema, Book book);
  absl::Status OpenAll(const Options& options);
  absl::StatusOr<std::unique_ptr<Shard>> OpenShard(ShardId id) const;
  absl::Status CheckFiles(ShardId id, const Options& options);

  const std::string directory_;
  const proto::Manifest manifest_;
  const Schema schema_;
  const Book book_;
  std::vector<ShardId> wanted_;
  std::vector<std::unique_ptr<Shard>> shards_;
  // By id; null: not opened. What OpenAgain() opens is put in while others read.
  std::unique_ptr<std::atomic<const Shard*>[]> by_id_;
  int64_t checked_bytes_ = 0;
  std::vector<proto::FileEntry> unchecked_;

  mutable Mutex mu_;
  std::map<int32_t, absl::Status> left_out_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Shard>> opened_again_ ABSL_GUARDED_BY(mu_);
};

// Reads a file through its checksum. DataLoss naming it, with both values.
absl::Status CheckFile(const std::string& directory, const proto::FileEntry& entry);

}  // namespace vicinity
