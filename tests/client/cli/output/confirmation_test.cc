#include "client/cli/output/confirmation.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

TEST_CASE("what cannot be taken back is asked for, or needs --yes", "[confirmation]") {
  std::string asked;
  const auto says = [&asked](bool answer) {
    return [&asked, answer](const std::string& question) {
      asked = question;
      return answer;
    };
  };
  VICINITY_CHECK_OK(Confirmed(true, says(false), IfNobody::kRefuse, "Sure?"));
  CHECK(asked.empty());
  VICINITY_CHECK_OK(Confirmed(false, says(true), IfNobody::kRefuse, "Sure?"));
  CHECK(asked == "Sure?");
  VICINITY_CHECK_CODE(Confirmed(false, says(false), IfNobody::kGoOn, "Sure?"),
                      absl::StatusCode::kCancelled);
  VICINITY_CHECK_CODE(Confirmed(false, nullptr, IfNobody::kRefuse, "Sure?"),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(Confirmed(false, nullptr, IfNobody::kGoOn, "Sure?"));
}

}  // namespace
}  // namespace vicinity::cli
