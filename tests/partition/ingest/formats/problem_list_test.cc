#include "partition/ingest/formats/problem_list.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

TEST_CASE("no problem is no error", "[problem_list]") {
  VICINITY_CHECK_OK(ProblemList().ToStatus("file"));
}

TEST_CASE("ten problems are listed, all are counted, and no more texts are made",
          "[problem_list]") {
  ProblemList problems;
  int made = 0;
  for (int i = 0; i < 1234; ++i) {
    problems.Add([&] {
      ++made;
      return absl::StrCat("place", i, ".");
    });
  }
  CHECK(made == 10);
  CHECK(problems.count() == 1234);
  const absl::Status status = problems.ToStatus("file.csv");
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  const std::string text(status.message());
  CHECK_THAT(text, Catch::StartsWith("file.csv") && Catch::Contains("1234") &&
                       Catch::Contains("place9.") && !Catch::Contains("place10."));
}

TEST_CASE("a single problem stands on the headline's line", "[problem_list]") {
  ProblemList problems;
  problems.Add([] { return std::string("line 3: bad"); });
  CHECK(problems.ToStatus("file.csv").message() == "file.csv: line 3: bad");
}

}  // namespace
}  // namespace vicinity
