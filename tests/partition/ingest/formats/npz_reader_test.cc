#include "partition/ingest/formats/npz_reader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/common/status.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::NpyBytes;
using testing::Values;

// Finds a member and decompresses it.
absl::StatusOr<NpzMember> Read(NpzFile* archive, const std::string& name) {
  VICINITY_ASSIGN_OR_RETURN(NpzMember member, archive->Find(name));
  VICINITY_RETURN_IF_ERROR(member.Load());
  return member;
}

// 4,000 rising numbers.
std::vector<int32_t> Numbers() {
  std::vector<int32_t> numbers(4000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i);
  return numbers;
}

void WriteArchive(const std::string& path, bool deflated) {
  testing::WriteZip(path,
                    {{"numbers.npy", NpyBytes("<i4", "(4000,)", Bytes(Numbers()))},
                     {"flags.npy", NpyBytes("|b1", "(2,)", std::string("\1\0", 2))},
                     {"readme", "no array"}},
                    deflated);
}

NpzFile::Options SpoolIn(const testing::TempDir& dir, int64_t memory_bytes) {
  NpzFile::Options options;
  options.spool_directory = dir.path();
  options.memory_bytes = memory_bytes;
  return options;
}

// Puts `value` at `place`, little-endian.
void Poke(std::string* bytes, size_t place, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) (*bytes)[place + i] = static_cast<char>(value >> (8 * i));
}

TEST_CASE("members are read from stored and deflated archives, in memory or through a file",
          "[npz]") {
  const testing::TempDir dir;
  const bool deflated = GENERATE(false, true);
  const int64_t memory_bytes = GENERATE(int64_t{0}, int64_t{1} << 20);
  WriteArchive(dir.File("a.npz"), deflated);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto archive,
                                NpzFile::Open(dir.File("a.npz"), SpoolIn(dir, memory_bytes)));
  CHECK(archive->members() == std::vector<std::string>{"numbers", "flags", "readme"});
  VICINITY_ASSERT_OK_AND_ASSIGN(NpzMember numbers, archive->Find("numbers"));
  CHECK(numbers.view().shape == std::vector<int64_t>{4000});
  CHECK(numbers.view().data.empty());  // until it is wanted
  VICINITY_REQUIRE_OK(numbers.Load());
  NpzMember moved = std::move(numbers);
  CHECK(Values<int32_t>(moved.view().data) == Numbers());
  VICINITY_CHECK_OK(moved.Load());
  CHECK(Values<int32_t>(moved.view().data) == Numbers());
  VICINITY_ASSERT_OK_AND_ASSIGN(const NpzMember flags, archive->Find("flags.npy"));
  CHECK(flags.view().type == ValueType::kBool);
}

TEST_CASE("a member that is missing is not found, and those there are listed", "[npz]") {
  const testing::TempDir dir;
  WriteArchive(dir.File("a.npz"), true);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto archive, NpzFile::Open(dir.File("a.npz"), {}));
  const auto member = archive->Find("edges");
  VICINITY_CHECK_CODE(member, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(member.status().message()),
             Catch::Contains("edges") && Catch::Contains("numbers, flags, readme"));
  VICINITY_CHECK_CODE(archive->Find("readme"), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("what is no archive is refused", "[npz]") {
  const testing::TempDir dir;
  for (const std::string bytes : {"", "x", "PK", "not an archive at all"}) {
    testing::WriteInput(dir.File("a.npz"), bytes);
    VICINITY_CHECK_CODE(NpzFile::Open(dir.File("a.npz"), {}), absl::StatusCode::kDataLoss);
  }
  VICINITY_CHECK_CODE(NpzFile::Open(dir.File("b.npz"), {}), absl::StatusCode::kNotFound);
}

TEST_CASE("a member whose bytes changed fails its checksum", "[npz]") {
  const testing::TempDir dir;
  WriteArchive(dir.File("a.npz"), false);
  std::string bytes = testing::ReadInput(dir.File("a.npz"));
  bytes[2000] = static_cast<char>(bytes[2000] ^ 1);
  testing::WriteInput(dir.File("a.npz"), bytes);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto archive, NpzFile::Open(dir.File("a.npz"), {}));
  VICINITY_CHECK_CODE(Read(archive.get(), "numbers"), absl::StatusCode::kDataLoss);
  VICINITY_CHECK_OK(Read(archive.get(), "flags"));
}

TEST_CASE("an archive that lies about a size is refused, whether it tells too much or too little",
          "[npz]") {
  const testing::TempDir dir;
  WriteArchive(dir.File("a.npz"), true);
  const std::string good = testing::ReadInput(dir.File("a.npz"));
  // The central directory's first entry tells the size at byte 24, the local header at byte 22.
  const size_t entry = good.find(std::string("PK\1\2", 4));
  REQUIRE(entry != std::string::npos);
  const uint32_t true_size = 128 + 16000;
  for (const uint32_t size : {uint32_t{100}, true_size - 1, true_size + 1, uint32_t{3000000000}}) {
    INFO(size);
    std::string lie = good;
    Poke(&lie, entry + 24, size);
    Poke(&lie, 22, size);
    testing::WriteInput(dir.File("a.npz"), lie);
    const auto archive = NpzFile::Open(dir.File("a.npz"), SpoolIn(dir, 0));
    // Before anything is decompressed: the array's own header asks for another size.
    if (archive.ok()) CHECK_FALSE((*archive)->Find("numbers").ok());
    // Whatever was decompressed is gone.
    CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
  }
}

TEST_CASE("an archive that lies about a size and a shape at once is found out", "[npz]") {
  const testing::TempDir dir;
  // It tells of 5,000 numbers, and has 4,000.
  testing::WriteZip(dir.File("a.npz"),
                    {{"numbers.npy", NpyBytes("<i4", "(5000,)", Bytes(Numbers()))}}, true);
  std::string lie = testing::ReadInput(dir.File("a.npz"));
  const size_t entry = lie.find(std::string("PK\1\2", 4));
  REQUIRE(entry != std::string::npos);
  Poke(&lie, entry + 24, 128 + 20000);
  Poke(&lie, 22, 128 + 20000);
  testing::WriteInput(dir.File("a.npz"), lie);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto archive,
                                NpzFile::Open(dir.File("a.npz"), SpoolIn(dir, 0)));
  VICINITY_CHECK_CODE(Read(archive.get(), "numbers"), absl::StatusCode::kDataLoss);
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
}

TEST_CASE("no damage to an archive crashes its reader", "[npz]") {
  const testing::TempDir dir;
  WriteArchive(dir.File("good.npz"), true);
  const std::string good = testing::ReadInput(dir.File("good.npz"));
  int refused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    testing::WriteInput(dir.File("bad.npz"), testing::Mutated(good, seed));
    const auto archive = NpzFile::Open(dir.File("bad.npz"), SpoolIn(dir, 1000));
    if (!archive.ok()) {
      ++refused;
      continue;
    }
    for (const std::string& member : (*archive)->members()) {
      const auto read = Read(archive->get(), member);
      // The checksum tells what the damage left whole.
      if (read.ok() && member == "numbers") CHECK(Values<int32_t>(read->view().data) == Numbers());
      refused += !read.ok() && member == "numbers";
    }
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace vicinity
