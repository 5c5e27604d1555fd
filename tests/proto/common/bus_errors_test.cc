#include "proto/common/bus_errors.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr size_t kPage = 4096;

// A file of ones, mapped.
class MappedOnes {
 public:
  explicit MappedOnes(size_t pages) : size_(pages * kPage) {
    fd_ = open(folder_.File("f").c_str(), O_RDWR | O_CREAT, 0600);
    const std::string ones(size_, '\x01');
    REQUIRE(write(fd_, ones.data(), size_) == static_cast<ssize_t>(size_));
    data_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0));
    REQUIRE(data_ != MAP_FAILED);
  }
  ~MappedOnes() {
    munmap(data_, size_);
    close(fd_);
  }
  void CutTo(size_t size) const { REQUIRE(ftruncate(fd_, static_cast<off_t>(size)) == 0); }
  const volatile char* data() const { return data_; }
  const void* begin() const { return data_; }
  size_t size() const { return size_; }

 private:
  testing::TempDir folder_;
  const size_t size_;
  int fd_ = -1;
  char* data_ = nullptr;
};

// The rest of a test that has to end by a signal, in a child.
int SignalOf(void (*run)()) {
  const pid_t child = fork();
  if (child == 0) {
    run();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// The first of the test cases: once this process has installed the handler, a child has it, too.
TEST_CASE("an earlier handler gets what is not ours", "[bus_errors]") {
  CHECK(SignalOf([] {
          struct sigaction earlier = {};
          earlier.sa_handler = [](int) { raise(SIGKILL); };
          sigaction(SIGBUS, &earlier, nullptr);
          GuardAgainstBusErrors();
          const MappedOnes file(2);
          file.CutTo(0);
          static_cast<void>(file.data()[kPage]);
        }) == SIGKILL);
}

TEST_CASE("guarded memory whose file was cut off reads as zeros, and says so", "[bus_errors]") {
  GuardAgainstBusErrors();
  const MappedOnes file(8);
  const MappedOnes other(2);
  const GuardedMemory guard(file.begin(), file.size());
  const GuardedMemory sound(other.begin(), other.size());
  CHECK(file.data()[7 * kPage] == 1);
  CHECK_FALSE(guard.was_hit());
  file.CutTo(kPage);
  CHECK(file.data()[7 * kPage] == 0);
  CHECK(guard.was_hit());
  CHECK(file.data()[0] == 0);
  CHECK_FALSE(sound.was_hit());
  CHECK(other.data()[kPage] == 1);
}

TEST_CASE("places are used again and begin unhurt", "[bus_errors]") {
  GuardAgainstBusErrors();
  for (int i = 0; i < 3; ++i) {
    const MappedOnes file(1);
    const GuardedMemory guard(file.begin(), file.size());
    CHECK_FALSE(guard.was_hit());
    file.CutTo(0);
    CHECK(file.data()[5] == 0);
    CHECK(guard.was_hit());
  }
}

TEST_CASE("memory that nobody guards ends the process as before", "[bus_errors]") {
  CHECK(SignalOf([] {
          GuardAgainstBusErrors();
          const MappedOnes file(2);
          file.CutTo(0);
          static_cast<void>(file.data()[kPage]);
        }) == SIGBUS);
}

}  // namespace
}  // namespace vicinity
