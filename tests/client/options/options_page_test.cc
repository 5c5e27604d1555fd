#include "client/options/options_page.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

namespace vicinity {
namespace {

TEST_CASE("docs/options.md is what the table says", "[options_page]") {
  std::ifstream file("docs/options.md");
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  INFO("make it anew: bazel run //client/options:options_page_main > docs/options.md");
  CHECK(text.str() == OptionsPage());
}

TEST_CASE("the page shows types, defaults and flags", "[options_page]") {
  const std::string page = OptionsPage();
  CHECK_THAT(page, Catch::Contains("| `batch_size` | integer, at least 1 | `1024` | "));
  CHECK_THAT(page, Catch::Contains("| `--batch-size` |"));
  CHECK_THAT(page, Catch::Contains("`1073741824` (1.0 GiB)"));
  CHECK_THAT(page, Catch::Contains("| `device.kind` | one of \"cuda\", \"host\" | `\"cuda\"` |"));
}

}  // namespace
}  // namespace vicinity
