// Where RocksDB writes what it does: its own way ends the process when that file meets a full disk.
#pragma once

#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "proto/common/mutex.h"

namespace vicinity {

// A file of lines, and the one before it, "PATH.old", each of 4 MiB at most. A line that cannot be
// written is dropped, and nobody is told.
//
// Threads: any.
class StoreLog final : public rocksdb::Logger {
 public:
  static constexpr int64_t kMostBytes = int64_t{4} << 20;

  // Goes on with the file that is there.
  static std::shared_ptr<StoreLog> Open(const std::string& path);
  ~StoreLog() override;

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override;

 private:
  explicit StoreLog(std::string path) : path_(std::move(path)) {}
  void Write(const std::string& line);
  void OpenFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;
  Mutex mu_;
  int fd_ ABSL_GUARDED_BY(mu_) = -1;  // -1: what is written is dropped
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
