#include "server/http/thread_waits.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class ThreadWaitsTest {
 protected:
  void Write(const std::string& thread, const std::string& file, const std::string& text) const {
    const std::string folder = root_.File("proc/self/task/" + thread);
    std::filesystem::create_directories(folder);
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder + "/" + file, text));
  }
  void Remove(const std::string& thread) const {
    std::filesystem::remove_all(root_.File("proc/self/task/" + thread));
  }

  const testing::TempDir root_;
};

TEST_CASE_METHOD(ThreadWaitsTest, "waits for cores add up, over threads that come and go",
                 "[http]") {
  ThreadWaits waits(root_.path());
  CHECK(waits.CpuSeconds() == 0);
  Write("10", "schedstat", "5000000000 1000000000 7\n");
  Write("11", "schedstat", "9 500000000 1\n");
  CHECK(waits.CpuSeconds() == Approx(1.5));
  Write("10", "schedstat", "6000000000 1250000000 9\n");
  CHECK(waits.CpuSeconds() == Approx(1.75));
  Remove("11");
  CHECK(waits.CpuSeconds() == Approx(1.75));
  // Another thread with the number of one that is gone, and one whose number was taken at once.
  Write("11", "schedstat", "1 250000000 1\n");
  CHECK(waits.CpuSeconds() == Approx(2.0));
  Write("10", "schedstat", "1 100000000 1\n");
  CHECK(waits.CpuSeconds() == Approx(2.1));
}

TEST_CASE_METHOD(ThreadWaitsTest, "threads that wait for a disk are counted by their state",
                 "[http]") {
  const ThreadWaits waits(root_.path());
  CHECK(waits.OnDisk() == 0);
  Write("10", "stat", "10 (vicinityd) D 1 10 10 0\n");
  Write("11", "stat", "11 (a D) R) S 1 10 10 0\n");
  Write("12", "stat", "12 (a ) D 1 10) D 1 10 10 0\n");
  Write("13", "stat", "");
  CHECK(waits.OnDisk() == 2);
}

TEST_CASE("this process' own threads are found", "[http]") {
  ThreadWaits waits;
  CHECK(waits.CpuSeconds() >= 0);
  CHECK(waits.OnDisk() == 0);
}

}  // namespace
}  // namespace vicinity
