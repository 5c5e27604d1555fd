// What survives a power cut: whatever is renamed into its place was handed to the disk before.
//
// The calls that do so are watched by having functions of their names in this program, which come
// before those of the C library. Each notes what the file or folder holds at that moment and goes
// on to the system.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/dataset/ranking.h"
#include "proto/common/file.h"
#include "proto/common/mutex.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

// What the disk was told, and what took a name without that.
//
// Threads: any number; writers sync files side by side.
class SyncWatch {
 public:
  static SyncWatch& Get() {
    static SyncWatch watch;
    return watch;
  }

  void Reset() {
    MutexLock lock(&mu_);
    synced_.clear();
    faults_.clear();
  }
  void OnSync(const fs::path& path) {
    const std::string contents = Contents(path);
    MutexLock lock(&mu_);
    synced_[Inode(path)] = contents;
  }
  void OnRename(const fs::path& from) {
    MutexLock lock(&mu_);
    Check(from);
    if (!fs::is_directory(from)) return;
    for (const auto& entry : fs::recursive_directory_iterator(from)) Check(entry.path());
  }
  // As of now.
  bool IsSynced(const fs::path& path) {
    MutexLock lock(&mu_);
    return FaultOf(path).empty();
  }
  std::string faults() {
    MutexLock lock(&mu_);
    return absl::StrJoin(faults_, "\n");
  }

 private:
  static ino_t Inode(const fs::path& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
  }
  // A file's bytes, or the names in a folder.
  static std::string Contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!fs::is_directory(path)) return std::string(std::istreambuf_iterator<char>(file), {});
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path().filename());
    return absl::StrJoin(names, "/");
  }
  std::string FaultOf(const fs::path& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto found = synced_.find(Inode(path));
    if (found == synced_.end()) return absl::StrCat(path.string(), " was never synced");
    if (found->second == Contents(path)) return "";
    return absl::StrCat(path.string(), " has changed since it was synced");
  }
  void Check(const fs::path& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const std::string fault = FaultOf(path);
    if (!fault.empty()) faults_.push_back(fault);
  }

  Mutex mu_;
  std::map<ino_t, std::string> synced_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> faults_ ABSL_GUARDED_BY(mu_);
};

// The file that is mapped at an address; empty if there is none.
std::string FileMappedAt(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    if (wanted < begin || wanted >= end) continue;
    const size_t path = line.find('/');
    return path == std::string::npos ? "" : line.substr(path);
  }
  return "";
}

void NoteDescriptor(int fd) {
  std::error_code error;
  const fs::path path = fs::read_symlink(absl::StrCat("/proc/self/fd/", fd), error);
  if (!error) SyncWatch::Get().OnSync(path);
}

}  // namespace
}  // namespace vicinity

extern "C" {

int fsync(int fd) {
  vicinity::NoteDescriptor(fd);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  vicinity::NoteDescriptor(fd);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

int msync(void* address, size_t length, int flags) {
  const std::string path = vicinity::FileMappedAt(address);
  std::error_code error;
  const bool whole = !path.empty() && length >= vicinity::fs::file_size(path, error);
  if (whole && (flags & MS_SYNC) != 0) vicinity::SyncWatch::Get().OnSync(path);
  return static_cast<int>(syscall(SYS_msync, address, length, flags));
}

int rename(const char* from, const char* to) noexcept {
  vicinity::SyncWatch::Get().OnRename(from);
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // extern "C"

namespace vicinity {
namespace {

TEST_CASE("the watch tells what was never synced, and what changed since", "[durability]") {
  const TempDir dir;
  SyncWatch::Get().Reset();
  std::ofstream(dir.File("a")) << "never synced";
  REQUIRE(std::rename(dir.File("a").c_str(), dir.File("b").c_str()) == 0);
  CHECK_THAT(SyncWatch::Get().faults(), Catch::Contains("a was never synced"));
  SyncWatch::Get().Reset();
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("c"), "synced"));
  CHECK(SyncWatch::Get().faults().empty());
  CHECK(SyncWatch::Get().IsSynced(dir.path()));
  std::ofstream(dir.File("c"), std::ios::app) << "and changed";
  REQUIRE(std::rename(dir.File("c").c_str(), dir.File("d").c_str()) == 0);
  CHECK_THAT(SyncWatch::Get().faults(), Catch::Contains("c has changed"));
  CHECK_FALSE(SyncWatch::Get().IsSynced(dir.path()));
}

TEST_CASE("when a dataset appears the disk has every file and folder of it", "[durability]") {
  const TempDir dir;
  testing::RandomGraphOptions options;
  options.id_kind = IdKind::kString;
  options.weights = true;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  SyncWatch::Get().Reset();
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 3, 7), dir.File("set")));
  CHECK(SyncWatch::Get().faults() == "");
  // And the disk has its name.
  CHECK(SyncWatch::Get().IsSynced(dir.path()));
}

TEST_CASE("a ranking's files are on the disk before a manifest lists them", "[durability]") {
  const TempDir dir;
  const testing::MemoryGraph graph = testing::RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, testing::InUserOrder(graph), dir.File("set")));
  proto::Ranking description;
  description.set_name("default");
  description.set_seeds("train");
  description.set_batch_size(32);
  description.add_homes()->add_shards(0);
  const std::vector<std::vector<RankedNodes>> orders = {{{{1, 0}, {0.5F, 0.25F}}}};
  SyncWatch::Get().Reset();
  VICINITY_REQUIRE_OK(WriteRanking(dir.File("set"), description, orders));
  CHECK(SyncWatch::Get().faults() == "");
  CHECK(SyncWatch::Get().IsSynced(dir.File("set")));
}

}  // namespace
}  // namespace vicinity
