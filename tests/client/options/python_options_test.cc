#include "client/options/python_options.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

namespace vicinity {
namespace {

TEST_CASE("option_types.py is what the table says", "[python_options]") {
  std::ifstream file("client/python/vicinity_graph/option_types.py");
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  INFO("make it anew: client/options/python_options_main.cc says how");
  CHECK(text.str() == PythonOptions());
}

TEST_CASE("options have types of Python's", "[python_options]") {
  const std::string text = PythonOptions();
  CHECK_THAT(text, Catch::Contains("    cluster_file: FilePath\n"));
  CHECK_THAT(text, Catch::Contains("    call_timeout_ms: int\n"));
  CHECK_THAT(text, Catch::Contains("    cache: Literal[\"none\", \"vip\", \"auto\"]\n"));
  CHECK_THAT(text, Catch::Contains("    homes: Sequence[Sequence[int]]\n"));
  CHECK_THAT(text, Catch::Contains("    device: Device\n"));
  CHECK(text.find("class Device(") < text.find("class LoaderOptions("));
}

}  // namespace
}  // namespace vicinity
