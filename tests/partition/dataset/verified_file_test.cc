#include "partition/dataset/verified_file.h"

#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/bus_errors.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kRowBytes = 512;

// A column whose row i consists of the byte i % 251.
class WrittenColumn {
 public:
  explicit WrittenColumn(int64_t num_rows, uint32_t version = kFormatVersion)
      : num_rows_(num_rows), version_(version) {
    Write(path());
    VICINITY_ASSERT_OK_AND_ASSIGN(open_folder_, OpenFolder::Open(folder_.path()));
  }

  std::string path() const { return folder_.File("f"); }
  std::string File(const std::string& name) const { return folder_.File(name); }
  FaultList& faults() { return faults_; }

  void Write(const std::string& path) {
    const FileHeader header = MakeHeader(FileKind::kColumn, num_rows_, kRowBytes, version_);
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    for (int64_t i = 0; i < num_rows_; ++i) bytes.append(kRowBytes, static_cast<char>(i % 251));
    if (version_ > 1) {
      const PageLayout layout = LayoutOf(static_cast<int64_t>(bytes.size()));
      bytes.resize(layout.file_bytes());
      entry_.set_pages_checksum(SealPages(layout, absl::MakeSpan(bytes)));
    }
    entry_.set_path("f");
    entry_.set_size(bytes.size());
    entry_.set_checksum(Checksum(bytes));
    VICINITY_REQUIRE_OK(WriteFileAtomically(path, bytes));
  }

  absl::StatusOr<std::unique_ptr<VerifiedFile>> Open() {
    VerifiedFile::Source source;
    source.directory = folder_.path();
    source.folder = open_folder_;
    source.entry = &entry_;
    source.kind = FileKind::kColumn;
    source.format_version = version_;
    source.faults = &faults_;
    return VerifiedFile::Open(source);
  }

  static int64_t OffsetOf(int64_t row) { return 64 + row * kRowBytes; }

 private:
  testing::TempDir folder_;
  const int64_t num_rows_;
  const uint32_t version_;
  proto::FileEntry entry_;
  std::shared_ptr<const OpenFolder> open_folder_;
  FaultList faults_;
};

// The row as a server would hand it out, and whether it is right.
absl::Status ReadRow(VerifiedFile* file, int64_t row) {
  std::string out(kRowBytes, '?');
  VerifiedFile* const files[] = {file};
  VICINITY_RETURN_IF_ERROR(ReadVerified(files, [&]() -> absl::Status {
    const char* const at = file->rows().data() + row * kRowBytes;
    VICINITY_RETURN_IF_ERROR(file->Touch(at, kRowBytes));
    std::memcpy(&out[0], at, kRowBytes);
    return absl::OkStatus();
  }));
  if (out == std::string(kRowBytes, static_cast<char>(row % 251))) return absl::OkStatus();
  return absl::InternalError("a wrong row was handed out");
}

void CheckDataLossNaming(const absl::Status& status, const std::string& what) {
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains(what));
}

// Until Adopt() has an opinion: a file that has just been written is left alone for a while.
absl::Status AdoptWhenSettled(VerifiedFile* file) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    const absl::Status status = file->Adopt([](int64_t) { return true; });
    if (!absl::IsUnavailable(status) || std::chrono::steady_clock::now() > limit) return status;
    std::this_thread::yield();
  }
}

TEST_CASE("rows of a sound file are right, and the file is whole when all were read",
          "[verified_file]") {
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  CHECK_FALSE(file->whole());
  CHECK(file->verified_bytes() == 0);
  for (int64_t row = 0; row < 100; ++row) VICINITY_CHECK_OK(ReadRow(file.get(), row));
  CHECK(file->whole());
  CHECK(file->verified_bytes() == file->size());
}

TEST_CASE("a flipped bit is found by who touches its page, and by nobody before",
          "[verified_file]") {
  WrittenColumn column(100);
  testing::FlipBit(column.path(), WrittenColumn::OffsetOf(50));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  VICINITY_CHECK_OK(ReadRow(file.get(), 10));
  CheckDataLossNaming(ReadRow(file.get(), 50), absl::StrCat(column.path(), ": the page at byte "));
  // What the file was before is in doubt, too.
  CheckDataLossNaming(ReadRow(file.get(), 10), column.path());
  CheckDataLossNaming(column.faults().status(), column.path());
}

TEST_CASE("a damaged sum is damage of the file, and a damaged root is found at open",
          "[verified_file]") {
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto sound, column.Open());
  const int64_t data_bytes = LayoutOf(WrittenColumn::OffsetOf(100)).data_bytes;
  testing::FlipBit(column.path(), data_bytes + 8 * 3);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  CheckDataLossNaming(ReadRow(file.get(), 0), "the page sums");
  testing::FlipBit(column.path(), data_bytes + 8 * 3);
  testing::FlipBit(column.path(), sound->size() - 1);
  CheckDataLossNaming(column.Open().status(), "the roots");
}

TEST_CASE("a change after the check is noticed before a row goes out", "[verified_file]") {
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  for (int64_t row = 0; row < 100; ++row) VICINITY_REQUIRE_OK(ReadRow(file.get(), row));
  REQUIRE(file->whole());
  testing::FlipBit(column.path(), WrittenColumn::OffsetOf(50));
  VICINITY_CHECK_OK(ReadRow(file.get(), 10));
  CHECK_FALSE(file->whole());
  CheckDataLossNaming(ReadRow(file.get(), 50), "the page at byte");
}

TEST_CASE("a change between touch and answer is noticed", "[verified_file]") {
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  VICINITY_REQUIRE_OK(ReadRow(file.get(), 50));
  VerifiedFile* const files[] = {file.get()};
  int times = 0;
  const absl::Status status = ReadVerified(files, [&]() -> absl::Status {
    VICINITY_RETURN_IF_ERROR(file->Touch(file->rows().data() + 50 * kRowBytes, kRowBytes));
    if (times++ == 0) testing::FlipBit(column.path(), WrittenColumn::OffsetOf(50));
    return absl::OkStatus();
  });
  CheckDataLossNaming(status, "the page at byte");
}

TEST_CASE("a file that was touched, but holds what it held, goes on being read",
          "[verified_file]") {
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  VICINITY_REQUIRE_OK(ReadRow(file.get(), 50));
  testing::FlipBit(column.path(), WrittenColumn::OffsetOf(50));
  testing::FlipBit(column.path(), WrittenColumn::OffsetOf(50));
  VICINITY_CHECK_OK(ReadRow(file.get(), 50));
  VICINITY_CHECK_OK(column.faults().status());
}

TEST_CASE("a file that is cut off or extended takes its shard out", "[verified_file]") {
  GuardAgainstBusErrors();
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  VICINITY_REQUIRE_OK(ReadRow(file.get(), 99));
  const int64_t size = GENERATE(0, 4096, 20'000, 100'000);
  testing::CutTo(column.path(), size);
  CheckDataLossNaming(ReadRow(file.get(), 99), column.path());
  CheckDataLossNaming(ReadRow(file.get(), 0), column.path());
}

TEST_CASE("a page that cannot be read is an error, not the end of the process", "[verified_file]") {
  GuardAgainstBusErrors();
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  testing::CutTo(column.path(), 4096);
  CheckDataLossNaming(ReadRow(file.get(), 80), "could not be read");
}

TEST_CASE("a file that another one has replaced is read on, and says so", "[verified_file]") {
  WrittenColumn column(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  VICINITY_REQUIRE_OK(ReadRow(file.get(), 50));
  CHECK_FALSE(file->replaced());
  VICINITY_REQUIRE_OK(WriteFileAtomically(column.path(), "something else"));
  VICINITY_CHECK_OK(ReadRow(file.get(), 50));
  VICINITY_CHECK_OK(ReadRow(file.get(), 60));
  CHECK(file->replaced());
  REQUIRE(file->WorthAdopting());
  CheckDataLossNaming(AdoptWhenSettled(file.get()), "size is");
  CHECK_FALSE(file->WorthAdopting());
  VICINITY_CHECK_OK(ReadRow(file.get(), 70));
  std::filesystem::remove(column.path());
  VICINITY_CHECK_OK(ReadRow(file.get(), 70));
}

TEST_CASE("a repaired file takes the damaged one's place, at the same addresses",
          "[verified_file]") {
  GuardAgainstBusErrors();
  WrittenColumn column(100, GENERATE(1u, 2u));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  const char* const at = file->rows().data();
  testing::CutTo(column.path(), 4096);
  CheckDataLossNaming(ReadRow(file.get(), 80), "could not be read");
  column.Write(column.path());
  REQUIRE(file->WorthAdopting());
  VICINITY_REQUIRE_OK(AdoptWhenSettled(file.get()));
  CHECK(file->whole());
  CHECK(file->rows().data() == at);
  VICINITY_CHECK_OK(column.faults().status());
  VICINITY_CHECK_OK(ReadRow(file.get(), 80));
  CHECK_FALSE(file->WorthAdopting());
}

TEST_CASE("a scrubber verifies what nobody reads, and finds what was damaged since",
          "[verified_file]") {
  WrittenColumn column(5000);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  REQUIRE(file->num_roots() == 2);
  std::vector<char> buffer;
  VICINITY_REQUIRE_OK(file->Scrub(1, &buffer));
  CHECK_FALSE(file->whole());
  VICINITY_REQUIRE_OK(file->Scrub(0, &buffer));
  CHECK(file->whole());
  testing::FlipBit(column.path(), WrittenColumn::OffsetOf(4500));
  VICINITY_CHECK_OK(file->Scrub(0, &buffer));
  CheckDataLossNaming(file->Scrub(1, &buffer), "the page at byte");
  CheckDataLossNaming(ReadRow(file.get(), 1), column.path());
}

TEST_CASE("a file of version 1 counts as whole, and its changes are not looked for",
          "[verified_file]") {
  WrittenColumn column(100, 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  CHECK(file->whole());
  CHECK_FALSE(file->has_sums());
  VICINITY_CHECK_OK(ReadRow(file.get(), 50));
}

TEST_CASE("where no descriptor may be kept, changes are noticed all the same", "[verified_file]") {
  WrittenColumn column(100);
  struct rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  struct rlimit few = before;
  few.rlim_cur = 64;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<std::unique_ptr<VerifiedFile>> kept;
  for (int i = 0; i < 40; ++i) {  // more than a quarter of them
    VICINITY_ASSERT_OK_AND_ASSIGN(auto file, column.Open());
    kept.push_back(std::move(file));
  }
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  for (const auto& file : kept) VICINITY_CHECK_OK(ReadRow(file.get(), 50));
  testing::FlipBit(column.path(), WrittenColumn::OffsetOf(50));
  for (const auto& file : kept) CheckDataLossNaming(ReadRow(file.get(), 50), "the page at byte");
}

// Under ThreadSanitizer, too.
TEST_CASE("readers and a writer who damages and mends never make a wrong row", "[verified_file]") {
  WrittenColumn column(200);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto file, column.Open());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      for (int64_t i = t; !stop; ++i) {
        if (absl::IsInternal(ReadRow(file.get(), i % 200))) ++wrong;
      }
    });
  }
  for (int i = 0; i < 4; ++i) {
    testing::FlipBit(column.path(), WrittenColumn::OffsetOf(7 * i));
    testing::FlipBit(column.path(), WrittenColumn::OffsetOf(7 * i));
    if (file->WorthAdopting()) AdoptWhenSettled(file.get()).IgnoreError();
    VICINITY_CHECK_OK(ReadRow(file.get(), 199));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace vicinity
