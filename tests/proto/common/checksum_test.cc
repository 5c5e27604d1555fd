#include "proto/common/checksum.h"

#include <catch2/catch.hpp>
#include <string>

namespace vicinity {
namespace {

std::string Bytes(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 31 + i / 7);
  return bytes;
}

// Stored in files, so these values hold for ever. The first is XXH3's own published value.
TEST_CASE("checksums are XXH3-64 and never change", "[common]") {
  CHECK(Checksum("") == 0x2d06800538d394c2);
  CHECK(Checksum("vicinity") == 0xf23c5e0b922a3830);
  CHECK(Checksum("vicinity", 7) == 0x9da75d6c9cd17921);
  CHECK(Checksum(Bytes(1000)) == 0x8a147699bf00a424);
}

TEST_CASE("a checksum made piece by piece is the one of the whole", "[common]") {
  const size_t size = GENERATE(0, 1, 16, 240, 241, 256, 1024, 100'000);
  const size_t piece = GENERATE(1, 3, 64, 1000);
  const uint64_t seed = GENERATE(0, 42);
  const std::string bytes = Bytes(size);
  RunningChecksum running(seed);
  for (size_t i = 0; i < size; i += piece) running.Append(std::string_view(bytes).substr(i, piece));
  CHECK(running.value() == Checksum(bytes, seed));
}

TEST_CASE("a checksum sees every byte and the seed", "[common]") {
  std::string bytes = Bytes(300);
  const uint64_t before = Checksum(bytes);
  for (char& byte : bytes) {
    byte ^= 1;
    CHECK(Checksum(bytes) != before);
    byte ^= 1;
  }
  CHECK(Checksum(bytes, 1) != before);
}

}  // namespace
}  // namespace vicinity
