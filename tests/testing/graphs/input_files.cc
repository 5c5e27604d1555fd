#include "tests/testing/graphs/input_files.h"

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

namespace vicinity::testing {
namespace {

void Require(bool done, const std::string& path) {
  if (done) return;
  std::perror(path.c_str());
  std::abort();
}

}  // namespace

std::string NpyBytesWithHeader(std::string_view header, std::string_view values, int version) {
  const size_t length_bytes = version == 1 ? 2 : 4;
  std::string padded(header);
  while ((8 + length_bytes + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (size_t i = 0; i < length_bytes; ++i) {
    bytes += static_cast<char>(padded.size() >> (8 * i) & 0xFF);
  }
  return bytes + padded + std::string(values);
}

std::string NpyBytes(std::string_view descr, std::string_view shape, std::string_view values,
                     int version) {
  return NpyBytesWithHeader("{'descr': '" + std::string(descr) +
                                "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
                            values, version);
}

void WriteInput(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  Require(out.good(), path);
}

void WriteGzip(const std::string& path, std::string_view bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  Require(file != nullptr, path);
  Require(bytes.empty() || gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) > 0,
          path);
  Require(gzclose(file) == Z_OK, path);
}

void WriteZip(const std::string& path,
              const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  Require(archive != nullptr, path);
  for (const auto& [name, bytes] : members) {
    zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
    Require(index >= 0, path);
    Require(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                     deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0,
            path);
  }
  Require(zip_close(archive) == 0, path);
}

std::string ReadInput(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Require(in.good(), path);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::string Mutated(std::string bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  const uint64_t changes = 1 + random() % 4;
  for (uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t place = random() % bytes.size();
    const size_t length = 1 + random() % 8;
    switch (random() % 6) {
      case 0:
        bytes[place] = static_cast<char>(random());
        break;
      case 1:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(place, length);
        break;
      case 3:
        bytes.insert(place, bytes.substr(place, length));
        break;
      case 4:
        bytes.resize(place);
        break;
      default:
        bytes.replace(place, std::min(length, bytes.size() - place), length, '\xFF');
    }
  }
  return bytes;
}

}  // namespace vicinity::testing
