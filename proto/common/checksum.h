// XXH3-64 (xxHash): file checksums, fingerprints, string keys, audit hashes. The values
// are stored in files, so neither the function nor how it is fed may change.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace vicinity {

uint64_t Checksum(std::string_view bytes, uint64_t seed = 0);

// The same value as Checksum(everything appended), a piece at a time.
class RunningChecksum {
 public:
  explicit RunningChecksum(uint64_t seed = 0);
  ~RunningChecksum();
  void Append(std::string_view bytes);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vicinity
