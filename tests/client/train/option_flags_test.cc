#include "client/train/option_flags.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "client/options/option_json.h"
#include "client/options/options_table.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "tests/client/options/other_value.h"

namespace vicinity {
namespace {

template <typename Options>
void Parse(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app;
  AddOptionFlags(OptionsOf(options), &app);
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 takes them
}

// Gives each flag another value than its default, alone; how many flags there are.
template <typename Options>
int CheckEveryFlag() {
  int num_flags = 0;
  Options defaults;
  for (const Option& option : OptionsOf(&defaults)) {
    if (option.flag.empty()) continue;
    ++num_flags;
    INFO(option.flag << " " << testing::OtherText(option));
    Options given;
    Parse({option.flag + "=" + testing::OtherText(option)}, &given);
    for (const Option& other : OptionsOf(&given)) {
      if (other.name == option.name) CHECK(ValueOf(other.field) == testing::OtherValue(option));
    }
  }
  return num_flags;
}

TEST_CASE("every flag of the table reaches its option", "[option_flags]") {
  CHECK(CheckEveryFlag<GraphOptions>() >= 3);
  CHECK(CheckEveryFlag<LoaderOptions>() >= 12);
}

TEST_CASE("without flags, options are what they were", "[option_flags]") {
  LoaderOptions options;
  options.batch_size = 7;
  Parse({}, &options);
  CHECK(options.batch_size == 7);
}

TEST_CASE("sizes have units", "[option_flags]") {
  LoaderOptions options;
  Parse({"--cache-bytes", "3MB"}, &options);
  CHECK(options.cache_bytes == int64_t{3} << 20);
}

TEST_CASE("values that an option cannot have are refused", "[option_flags]") {
  LoaderOptions options;
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--batch-size", "0"},
                                             {"--fetch-ahead", "-1"},
                                             {"--trainer", "4294967296"},
                                             {"--cache-bytes", "-1"},
                                             {"--cache-bytes", "1XB"},
                                             {"--homes", "0,x"},
                                             {"--homes", "-1"}}) {
    INFO(wrong[0] << " " << wrong[1]);
    CHECK_THROWS_AS(Parse(wrong, &options), CLI::ParseError);
  }
  CHECK_THROWS_WITH(Parse({"--cache", "lru"}, &options), Catch::Contains("none,vip,auto"));
}

}  // namespace
}  // namespace vicinity
