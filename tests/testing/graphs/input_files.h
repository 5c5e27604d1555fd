// Files such as users bring, for tests of what reads them; and damaged ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vicinity::testing {

// The bytes of an .npy file with the header NumPy writes for this type ("<f4") and shape ("(2,
// 3)").
std::string NpyBytes(std::string_view descr, std::string_view shape, std::string_view values,
                     int version = 1);
// As above, of a whole header: "{'descr': ...}".
std::string NpyBytesWithHeader(std::string_view header, std::string_view values, int version = 1);

// The values' bytes.
template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> Values(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// All end the process if the file cannot be written: a test cannot go on without it.
void WriteInput(const std::string& path, std::string_view bytes);
void WriteGzip(const std::string& path, std::string_view bytes);
// Members by name, with ".npy" where they should have it.
void WriteZip(const std::string& path,
              const std::vector<std::pair<std::string, std::string>>& members, bool deflated);
std::string ReadInput(const std::string& path);

// `bytes` with a few of them changed, dropped, doubled or cut off; the same for the same seed.
std::string Mutated(std::string bytes, uint64_t seed);

}  // namespace vicinity::testing
