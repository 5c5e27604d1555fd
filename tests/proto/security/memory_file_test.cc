#include "proto/security/memory_file.h"

#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a memory file holds what was set last, under one path", "[memory_file]") {
  MemoryFile file;
  CHECK(file.path().empty());
  VICINITY_REQUIRE_OK(file.Set("first"));
  const std::string path = file.path();
  CHECK(Contents(path) == "first");
  std::ifstream open(path);
  struct stat before {};
  REQUIRE(stat(path.c_str(), &before) == 0);
  VICINITY_REQUIRE_OK(file.Set("the second"));
  CHECK(file.path() == path);
  CHECK(Contents(path) == "the second");
  std::string seen;
  open >> seen;
  CHECK(seen == "first");  // whoever opened it before
  struct stat after {};
  REQUIRE(stat(path.c_str(), &after) == 0);
  CHECK(after.st_mtime > before.st_mtime);
  CHECK((after.st_mode & 077) == 0);
}

TEST_CASE("no reader sees half of a content, or none", "[memory_file]") {
  MemoryFile file;
  const std::string a(100'000, 'a');
  const std::string b(70'000, 'b');
  VICINITY_REQUIRE_OK(file.Set(a));
  std::atomic<bool> stop{false};
  std::atomic<int64_t> torn{0};
  std::thread reader([&] {
    while (!stop) {
      const std::string seen = Contents(file.path());
      if (seen != a && seen != b) ++torn;
    }
  });
  for (int i = 0; i < 2000; ++i) VICINITY_CHECK_OK(file.Set(i % 2 == 0 ? b : a));
  stop = true;
  reader.join();
  CHECK(torn == 0);
}

}  // namespace
}  // namespace vicinity
