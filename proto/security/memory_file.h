// A file in memory whose content changes as a whole, for libraries that take nothing but paths.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// Whoever opens path() sees one content, whole, and goes on seeing it. Nothing of it reaches a
// disk, and nothing is left when the process ends, however it ends.
//
// Threads:  Set from one at a time; any may open the path meanwhile.
// Lifetime: the path is good until the end, and once something was set.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Each content's time of modification is a second or more later than the one's before, so that
  // who reads twice and compares the times notices a change in between. Unavailable if the system
  // gives no memory file; the old content stays.
  absl::Status Set(absl::string_view content);
  // Empty if nothing was set.
  std::string path() const;

 private:
  int fd_ = -1;
  int64_t num_set_ = 0;
};

}  // namespace vicinity
