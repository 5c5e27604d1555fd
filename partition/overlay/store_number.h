// What RocksDB tells of a shard's changes, for who watches a server.
#pragma once

#include <cstdint>

namespace vicinity {

enum class StoreNumber : uint8_t {
  kBufferBytes,   // written, and not yet sorted onto disk: in memory, and in the log
  kCacheBytes,    // blocks that were read and are kept
  kReaderBytes,   // memory for indexes and filters of files
  kFileBytes,     // sorted files
  kPendingBytes,  // of these, about, what is to be merged
  kFlushes,       // under way
  kMerges,        // under way
  kWriteStopped,  // 1: writes wait until some of that is done
  kWriteRate,     // bytes a second that writes are held to; 0: they are not
  kErrors,        // in the background, since it was opened
};

}  // namespace vicinity
