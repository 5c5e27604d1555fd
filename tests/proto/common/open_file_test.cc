#include "proto/common/open_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST_CASE("a descriptor is closed once, by whoever has it last", "[common]") {
  const testing::TempDir dir;
  int fd;
  {
    Descriptor first = OpenFile(dir.File("f"), O_WRONLY | O_CREAT);
    REQUIRE(first.ok());
    fd = first.get();
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    {
      const Descriptor second = std::move(first);
      CHECK(second.get() == fd);
      CHECK(IsOpen(fd));
    }
    CHECK_FALSE(IsOpen(fd));
  }
  const Descriptor none = OpenFile(dir.File("nothing"), O_RDONLY);
  CHECK(errno == ENOENT);
  CHECK_FALSE(none.ok());
}

TEST_CASE("a mapped file shows its bytes, and an empty one cannot be mapped", "[common]") {
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("f"), "bytes"));
  const Descriptor fd = OpenFile(dir.File("f"), O_RDONLY);
  char* const data = MapFile(fd, 5, PROT_READ);
  REQUIRE(data != nullptr);
  CHECK(std::string(data, 5) == "bytes");
  CHECK_FALSE(AskForHugePages(data, 5));
  CHECK(munmap(data, 5) == 0);
  CHECK(MapFile(fd, 0, PROT_READ) == nullptr);
}

}  // namespace
}  // namespace vicinity
