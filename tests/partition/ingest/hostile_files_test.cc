// Imports of files that somebody made to do harm: to reach what lies elsewhere, to fill the memory,
// or to take for ever.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/ingest/ingest_report.h"
#include "partition/writing/audit.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/importing.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::ImportFolder;
using testing::kSlower;
using testing::NpyBytes;

// Every path below a folder, sorted; what a link points to is not followed.
std::vector<std::string> PathsBelow(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

int64_t MostResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string Description(const std::string& dataset, const std::string& type,
                        const std::string& column, const std::string& relation) {
  return absl::StrCat("name: '", dataset, "' nodes { name: '", type,
                      "' ids { path: 'ids.csv' } columns { name: '", column,
                      "' array { path: 'ids.csv' } } } edges { source: '", type, "' relation: '",
                      relation, "' target: '", type, "' ends { path: 'edges.csv' } }");
}

TEST_CASE("no name in a description leads out of the dataset", "[hostile]") {
  const ImportFolder folder;
  folder.Write("ids.csv", "1\n2\n");
  folder.Write("edges.csv", "1,2\n");
  const std::vector<std::string> before = PathsBelow(folder.dir().path());
  for (const std::string name : {"../up", "../../../../tmp/up", "/tmp/up", "a/b", ".", "..",
                                 "a\\0b", "shard-00000", "a.b", "\\n"}) {
    for (const std::string& description :
         {Description("d", name, "c", "r"), Description("d", "n", name, "r"),
          Description("d", "n", "c", name)}) {
      CAPTURE(description);
      const auto report = folder.Import(description);
      if (report.ok()) {  // as good a name as others
        CHECK(name == "shard-00000");
        std::filesystem::remove_all(folder.dir().File("out"));
      } else {
        VICINITY_CHECK_CODE(report, absl::StatusCode::kInvalidArgument);
      }
      REQUIRE(PathsBelow(folder.dir().path()) == before);
    }
  }
  // A dataset's own name is a text, and no path is made of it.
  VICINITY_REQUIRE_OK(folder.Import(Description("../../up", "n", "c", "r")));
  std::filesystem::remove_all(folder.dir().File("out"));
  CHECK(PathsBelow(folder.dir().path()) == before);
}

TEST_CASE("members of an archive are arrays, wherever their names would lead", "[hostile]") {
  const ImportFolder folder;
  const std::string edges = NpyBytes("<i8", "(2, 2)", Bytes<int64_t>({0, 1, 1, 0}));
  const std::vector<std::string> names = {"../../up.npy", "/tmp/up.npy", "a/../../b.npy"};
  std::vector<std::pair<std::string, std::string>> members;
  for (const std::string& name : names) members.emplace_back(name, edges);
  testing::WriteZip(folder.dir().File("e.npz"), members, /*deflated=*/true);
  const std::vector<std::string> before = PathsBelow(folder.dir().path());
  for (const std::string& name : names) {
    CAPTURE(name);
    VICINITY_REQUIRE_OK(folder.Import(absl::StrCat(
        "nodes { name: 'n' ids_from_edges: true id_kind: DENSE } edges { source: 'n' relation: 'r' "
        "target: 'n' ends { path: 'e.npz' member: '",
        name, "' } }")));
    VICINITY_CHECK_OK(VerifyDataset(folder.dir().File("out"), NoProgress()));
    std::filesystem::remove_all(folder.dir().File("out"));
    CHECK(PathsBelow(folder.dir().path()) == before);
  }
}

TEST_CASE("a link where the dataset is to be leads nowhere", "[hostile]") {
  const ImportFolder folder;
  folder.Write("ids.csv", "1\n2\n");
  folder.Write("edges.csv", "1,2\n");
  const std::string victim = folder.dir().File("victim");
  std::filesystem::create_directory(victim);
  folder.Write("victim/thesis.txt", "years of work");
  const std::string to = GENERATE(std::string("victim"), std::string("nowhere"));
  const std::string link = GENERATE(std::string("out"), std::string("out.partial"));
  CAPTURE(link, to);
  std::filesystem::create_symlink(folder.dir().File(to), folder.dir().File(link));
  const auto report = folder.Import(Description("d", "n", "c", "r"));
  CHECK_FALSE(report.ok());
  CHECK_THAT(std::string(report.status().message()), Catch::Contains(link));
  CHECK(testing::ReadInput(victim + "/thesis.txt") == "years of work");
  CHECK(PathsBelow(victim).size() == 1);
  CHECK_FALSE(std::filesystem::exists(folder.dir().File("nowhere")));
}

// 128 MiB in 128 KiB, of which a line is read at a time.
TEST_CASE("text that was packed a thousandfold takes no memory for it", "[hostile]") {
  const ImportFolder folder;
  constexpr int kTimes = 128;
  const char repeated = GENERATE('\n', '0', ',', '"', '#', ' ');
  CAPTURE(repeated);
  testing::WriteGzip(folder.dir().File("once.gz"), std::string(1 << 20, repeated));
  const std::string once = testing::ReadInput(folder.dir().File("once.gz"));
  REQUIRE(once.size() < (1 << 20) / 900);
  std::string bomb;  // gzip files may follow each other
  for (int i = 0; i < kTimes; ++i) bomb += once;
  folder.Write("ids.csv.gz", bomb);
  folder.Write("edges.csv", "");
  const int64_t before = MostResidentBytes();
  const auto report = folder.Import(
      "nodes { name: 'n' ids { path: 'ids.csv.gz' columns: 0 } } edges { source: 'n' relation: 'r' "
      "target: 'n' ends { path: 'edges.csv' } }");
  CHECK((report.ok() || absl::IsInvalidArgument(report.status())));
  // A line may have 16 MiB. A sanitizer keeps what was freed.
  if (kSlower == 1) CHECK(MostResidentBytes() < before + (int64_t{64} << 20));
}

// 16 MiB of zeros in an archive of 16 KiB whose end no longer decompresses: whoever decompresses it
// before its shape is compared gets DataLoss.
TEST_CASE("an array that does not fit the graph is refused before it is decompressed",
          "[hostile]") {
  const ImportFolder folder;
  const std::string path = folder.dir().File("zeros.npz");
  testing::WriteZip(
      path, {{"a.npy", NpyBytes("<i8", "(2097152,)", std::string(size_t{16} << 20, '\0'))}}, true);
  std::string bytes = testing::ReadInput(path);
  REQUIRE(bytes.size() < size_t{32} << 10);
  const size_t directory = bytes.find(std::string("PK\1\2", 4));
  REQUIRE(directory != std::string::npos);
  for (size_t i = directory - 40; i < directory - 20; ++i) bytes[i] = '\x55';
  testing::WriteInput(path, bytes);
  folder.Write("ends.npy", NpyBytes("<i8", "(1, 2)", Bytes<int64_t>({0, 1})));
  const std::string zeros = "{ path: 'zeros.npz' member: 'a' }";
  const std::string edges =
      "edges { source: 'n' relation: 'r' target: 'n' ends { path: 'ends.npy' } ";
  for (const std::string& description :
       {"nodes { name: 'n' count: 4 columns { name: 'x' array " + zeros + " } }",
        "nodes { name: 'n' count: 4 label { array " + zeros + " } }",
        "nodes { name: 'n' count: 4 train { mask " + zeros + " } }",
        "nodes { name: 'n' count: 4 test { ids " + zeros + " } }",
        "nodes { name: 'n' count: 4 ids " + zeros + " }",
        "nodes { name: 'n' count: 4 } edges { source: 'n' relation: 'r' target: 'n' ends " + zeros +
            " }",
        "nodes { name: 'n' count: 4 } " + edges + "columns { name: 'x' array " + zeros + " } }"}) {
    INFO(description);
    CHECK_THAT(folder.Refusal(description),
               !Catch::StartsWith("not an InvalidArgument") && Catch::Contains("zeros.npz"));
  }
}

TEST_CASE("rows too many are counted to a million, and no further", "[hostile]") {
  const ImportFolder folder;
  std::string text;
  for (int i = 0; i < 3'000'000; ++i) text += "0\n";
  testing::WriteGzip(folder.dir().File("x.csv.gz"), text);
  CHECK_THAT(folder.Refusal("nodes { name: 'n' count: 4 columns { name: 'x' array { path: "
                            "'x.csv.gz' } cast: INT8 } }"),
             Catch::Contains("has more than 1") && Catch::Contains("it has 4"));
}

// Those that hash tables of many kinds put into few places.
std::vector<int64_t> IdsOf(const std::string& kind, int64_t count) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<uint64_t>(i);
    if (kind == "high bits") ids.push_back(static_cast<int64_t>(n << 44));
    if (kind == "same low half") ids.push_back(static_cast<int64_t>(n << 32 | 7));
    if (kind == "multiples of a page") ids.push_back(static_cast<int64_t>(n * 4096));
    // Abseil's hash multiplies by this number: the low half of these products is n.
    if (kind == "undone multiplication") {
      constexpr uint64_t kMultiplier = 0x9ddfea08eb382d69;
      uint64_t inverse = kMultiplier;  // right in 3 bits, and in twice as many after each step
      for (int step = 0; step < 5; ++step) inverse *= 2 - kMultiplier * inverse;
      ids.push_back(static_cast<int64_t>(n * inverse));
    }
    if (kind == "few bits apart") ids.push_back(static_cast<int64_t>(n ^ (n >> 1)) - count);
  }
  return ids;
}

TEST_CASE("ids chosen to share places in hash tables import as fast as others", "[hostile]") {
  constexpr int64_t kCount = 200'000;
  const ImportFolder folder;
  const std::string kind = GENERATE(
      std::string("high bits"), std::string("same low half"), std::string("multiples of a page"),
      std::string("undone multiplication"), std::string("few bits apart"));
  CAPTURE(kind);
  const std::vector<int64_t> ids = IdsOf(kind, kCount);
  folder.Write("ids.npy", NpyBytes("<i8", absl::StrCat("(", kCount, ",)"), Bytes(ids)));
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < kCount; ++i) {
    ends.insert(ends.end(), {ids[i], ids[(i * 7) % kCount]});
  }
  folder.Write("edges.npy", NpyBytes("<i8", absl::StrCat("(", kCount, ", 2)"), Bytes(ends)));
  const double before = CpuSeconds();
  VICINITY_REQUIRE_OK(folder.Import(
      "nodes { name: 'n' ids { path: 'ids.npy' } id_kind: INTEGER } edges { source: 'n' relation: "
      "'r' target: 'n' ends { path: 'edges.npy' } }"));
  // A tenth of a second; one place for all would take a minute.
  CHECK(CpuSeconds() - before < 5 * kSlower);
}

}  // namespace
}  // namespace vicinity
