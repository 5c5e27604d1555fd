#include "proto/common/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

TEST_CASE("what is written is read, mapped or not", "[common]") {
  TempDir dir;
  const std::string path = dir.File("file");
  const std::string bytes =
      GENERATE(std::string(), std::string("short"), std::string(3 << 20, 'x'));
  VICINITY_REQUIRE_OK(WriteFileAtomically(path, bytes));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(path));
  CHECK(read == bytes);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MappedFile> mapped, MappedFile::Open(path));
  CHECK(mapped->bytes() == bytes);
  CHECK(mapped->path() == path);
  mapped->AskForHugePages();  // advice, which changes nothing that can be read
  CHECK(mapped->bytes() == bytes);
}

TEST_CASE("writing over a file leaves one file with the new bytes", "[common]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("file"), "old"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MappedFile> old,
                                MappedFile::Open(dir.File("file")));
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("file"), "new and longer"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(dir.File("file")));
  CHECK(read == "new and longer");
  CHECK(old->bytes() == "old");
  const std::filesystem::directory_iterator entries(dir.path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);
}

TEST_CASE("who reads while a file is written over gets all of the old bytes or of the new",
          "[common]") {
  const TempDir dir;
  const std::string path = dir.File("file");
  const std::string versions[] = {std::string(1 << 20, 'a'), std::string(1 << 20, 'b')};
  VICINITY_REQUIRE_OK(WriteFileAtomically(path, versions[0]));
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (int i = 1; i <= 200; ++i) {
      if (!WriteFileAtomically(path, versions[i % 2]).ok()) break;
    }
    over = true;
  });
  int reads = 0;
  int broken = 0;
  while (!over) {
    const absl::StatusOr<std::string> read = ReadFile(path);
    ++reads;
    broken += !read.ok() || (*read != versions[0] && *read != versions[1]);
  }
  writer.join();
  CHECK(reads > 0);
  CHECK(broken == 0);
}

TEST_CASE("a link that lies where a file is to be made leads nowhere", "[common]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("victim"), "untouched"));
  for (const std::string& name : {absl::StrCat("file.tmp.", getpid()), std::string("file")}) {
    std::filesystem::create_symlink(dir.File("victim"), dir.File(name));
    VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("file"), "new"));
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string victim, ReadFile(dir.File("victim")));
    CHECK(victim == "untouched");
    CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(dir.File("file"))));
    std::filesystem::remove(dir.File("file"));
  }
}

TEST_CASE("a file that is not there is not found", "[common]") {
  TempDir dir;
  VICINITY_CHECK_CODE(ReadFile(dir.File("none")), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(MappedFile::Open(dir.File("none")), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(WriteFileAtomically(dir.File("none/file"), ""), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(SyncDirectory(dir.File("none")), absl::StatusCode::kNotFound);
}

TEST_CASE("a folder is no file", "[common]") {
  TempDir dir;
  VICINITY_CHECK_CODE(MappedFile::Open(dir.path()), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(ReadFile(dir.path()), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a file above the limit is not read", "[common]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("file"), "12345"));
  VICINITY_CHECK_OK(ReadFile(dir.File("file"), 5));
  VICINITY_CHECK_CODE(ReadFile(dir.File("file"), 4), absl::StatusCode::kResourceExhausted);
}

TEST_CASE("a file in pieces ends with the first refusal", "[common]") {
  TempDir dir;
  const std::string bytes(5 << 20, 'y');
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("file"), bytes));
  std::string joined;
  VICINITY_CHECK_OK(ReadInPieces(dir.File("file"), [&](std::string_view piece) {
    joined += piece;
    return absl::OkStatus();
  }));
  CHECK(joined == bytes);
  int calls = 0;
  VICINITY_CHECK_CODE(ReadInPieces(dir.File("file"),
                                   [&](std::string_view) {
                                     ++calls;
                                     return absl::AbortedError("enough");
                                   }),
                      absl::StatusCode::kAborted);
  CHECK(calls == 1);
}

TEST_CASE("a mapped output has its size at once and keeps what is stored", "[common]") {
  TempDir dir;
  const int64_t size = GENERATE(0, 1, 4096, 1'000'000);
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MappedOutput> output,
                                  MappedOutput::Create(dir.File("out"), size));
    REQUIRE(static_cast<int64_t>(output->bytes().size()) == size);
    for (char& byte : output->bytes()) byte = 'z';
    VICINITY_CHECK_OK(output->Sync());
    struct stat info;
    REQUIRE(stat(dir.File("out").c_str(), &info) == 0);
    CHECK(info.st_size == size);
    CHECK(info.st_blocks * 512 >= size);  // no hole that a full disk could fail to fill
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(dir.File("out")));
  CHECK(read == std::string(size, 'z'));
}

TEST_CASE("a mapped output replaces nothing", "[common]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteFileAtomically(dir.File("out"), "mine"));
  VICINITY_CHECK_CODE(MappedOutput::Create(dir.File("out"), 10), absl::StatusCode::kAlreadyExists);
  VICINITY_CHECK_CODE(MappedOutput::Create(dir.File("other"), -1),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(dir.File("out")));
  CHECK(read == "mine");
}

// Lets files grow to a few bytes only for as long as it lives: a full disk, as far as a writer can
// tell.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST_CASE("space that cannot be had is an error at once and leaves no file", "[common]") {
  TempDir dir;
  absl::Status mapped;
  absl::Status written;
  {
    const FileSizeLimit limit(1 << 16);
    mapped = MappedOutput::Create(dir.File("out"), 1 << 20).status();
    written = WriteFileAtomically(dir.File("file"), std::string(1 << 20, 'x'));
  }
  VICINITY_CHECK_CODE(mapped, absl::StatusCode::kResourceExhausted);
  VICINITY_CHECK_CODE(written, absl::StatusCode::kResourceExhausted);
  CHECK(std::filesystem::is_empty(dir.path()));
}

TEST_CASE("a failed system call becomes the code that callers act on", "[common]") {
  const auto [error, code] = GENERATE(table<int, absl::StatusCode>({
      {ENOENT, absl::StatusCode::kNotFound},
      {EACCES, absl::StatusCode::kPermissionDenied},
      {EEXIST, absl::StatusCode::kAlreadyExists},
      {ENOSPC, absl::StatusCode::kResourceExhausted},
      {EINVAL, absl::StatusCode::kInvalidArgument},
      {EIO, absl::StatusCode::kUnavailable},
  }));
  const absl::Status status = ErrnoStatus(error, "/a/b", "open");
  VICINITY_CHECK_CODE(status, code);
  CHECK(status.message() == std::string("/a/b: open: ") + std::strerror(error));
}

}  // namespace
}  // namespace vicinity
