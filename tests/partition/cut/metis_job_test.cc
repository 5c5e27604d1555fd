#include "partition/cut/metis_job.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// A ring of `n` nodes, one constraint.
void WriteRing(const std::string& path, int32_t n, int32_t num_parts) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MappedOutput> file,
                                MappedOutput::Create(path, MetisJobBytes(n, 1, 2 * n)));
  const MetisJobOutput job = LayOutMetisJob(n, 1, 2 * n, file->bytes());
  job.header->num_parts = num_parts;
  job.header->seed = 1;
  job.header->tolerance[0] = 1.05F;
  job.offsets[0] = 0;
  for (int32_t v = 0; v < n; ++v) {
    job.weights[v] = 1;
    job.adjacency[2 * v] = (v + n - 1) % n;
    job.adjacency[2 * v + 1] = (v + 1) % n;
    job.offsets[v + 1] = 2 * v + 2;
  }
}

TEST_CASE("METIS cuts a ring into arcs of equal length", "[partition]") {
  const testing::TempDir folder;
  const std::string path = folder.File("job");
  WriteRing(path, 1000, 4);
  VICINITY_REQUIRE_OK(RunMetisJob(path));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MappedFile> result,
                                MappedFile::Open(MetisResultPath(path)));
  REQUIRE(result->bytes().size() == 1001 * sizeof(int32_t));
  const auto* const numbers = reinterpret_cast<const int32_t*>(result->bytes().data());
  std::vector<int> loads(4);
  int cut = 0;
  for (int v = 0; v < 1000; ++v) {
    ++loads.at(numbers[1 + v]);
    cut += numbers[1 + v] != numbers[1 + (v + 1) % 1000] ? 1 : 0;
  }
  CHECK(cut == numbers[0]);
  CHECK(cut < 20);
  for (const int load : loads) CHECK(load <= 263);
}

TEST_CASE("a job file that is not whole is refused", "[partition]") {
  const testing::TempDir folder;
  const std::string path = folder.File("job");
  WriteRing(path, 10, 2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  const auto check_refused = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    VICINITY_CHECK_CODE(RunMetisJob(path), absl::StatusCode::kDataLoss);
  };
  check_refused("");
  check_refused(whole.substr(0, 20));
  check_refused(whole.substr(0, whole.size() - 1));
  check_refused(whole + "x");
  std::string other_magic = whole;
  other_magic[0] = 'x';
  check_refused(other_magic);
}

TEST_CASE("a job that METIS refuses is an error, not an end of the process", "[partition]") {
  const testing::TempDir folder;
  const std::string path = folder.File("job");
  WriteRing(path, 10, 0);
  VICINITY_CHECK_CODE(RunMetisJob(path), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
