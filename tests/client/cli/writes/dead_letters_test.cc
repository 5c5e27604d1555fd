#include "client/cli/writes/dead_letters.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a refused row is a line with its number and its reason", "[cli]") {
  const testing::TempDir folder;
  const std::string path = folder.File("letters.jsonl");
  DeadLetters letters(path);
  VICINITY_CHECK_OK(letters.CheckIsNew());
  letters.Add({{"id", 7}}, 3, "taken");
  letters.Add({{"id", "\xff"}}, 9, "no UTF-8");
  VICINITY_CHECK_OK(letters.Finish());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(path));
  CHECK_THAT(text, Catch::StartsWith("{\"id\":7,\"_line\":3,\"_reason\":\"taken\"}\n"));
  CHECK(nlohmann::json::parse(text.substr(text.find('\n')))["_line"] == 9);
  VICINITY_CHECK_CODE(DeadLetters(path).CheckIsNew(), absl::StatusCode::kAlreadyExists);
}

TEST_CASE("no refused row, no file; and no place for it is an error", "[cli]") {
  const testing::TempDir folder;
  DeadLetters none(folder.File("none.jsonl"));
  VICINITY_CHECK_OK(none.Finish());
  VICINITY_CHECK_CODE(ReadFile(folder.File("none.jsonl")).status(), absl::StatusCode::kNotFound);
  CHECK_FALSE(DeadLetters("").wanted());

  DeadLetters nowhere(folder.File("no/such/folder/letters.jsonl"));
  nowhere.Add({{"id", 7}}, 3, "taken");
  VICINITY_CHECK_CODE(nowhere.Finish(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace vicinity::cli
