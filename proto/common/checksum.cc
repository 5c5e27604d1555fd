#include "proto/common/checksum.h"

// Inlined, since an audit hashes millions of short strings.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace vicinity {

uint64_t Checksum(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct RunningChecksum::State {
  XXH3_state_t xxh3;
};

RunningChecksum::RunningChecksum(uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_64bits_reset_withSeed(&state_->xxh3, seed);
}

RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::Append(std::string_view bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

uint64_t RunningChecksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

}  // namespace vicinity
