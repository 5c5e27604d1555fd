#include "client/options/option_json.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace vicinity {
namespace {

using nlohmann::ordered_json;

ordered_json Row(const ordered_json& rows, const std::string& name) {
  for (const ordered_json& row : rows) {
    if (row["name"] == name) return row;
  }
  return {};
}

TEST_CASE("an option is described by name, type, default and least", "[option_json]") {
  const ordered_json all = DescribeAllOptions();
  CHECK(Row(all["graph"], "call_timeout_ms") == ordered_json{{"name", "call_timeout_ms"},
                                                             {"type", "milliseconds"},
                                                             {"default", 5000},
                                                             {"doc", "Of one RPC"},
                                                             {"least", 1}});
  CHECK(Row(all["sample"], "step")["default"] == 0);
  const ordered_json cache = Row(all["loader"], "cache");
  CHECK(cache["type"] == "one of \"none\", \"vip\", \"auto\"");
  CHECK(cache["words"] == ordered_json{"none", "vip", "auto"});
  CHECK(cache["default"] == "auto");
  CHECK(!cache.contains("least"));
}

TEST_CASE("a group is described by its options", "[option_json]") {
  const ordered_json device = Row(DescribeAllOptions()["loader"], "device");
  CHECK(device["type"] == "object");
  CHECK(Row(device["options"], "pin_home")["default"] == true);
  CHECK(device["default"]["batches"] == 2);
}

TEST_CASE("values are as they would be given", "[option_json]") {
  LoaderOptions options;
  options.homes = {{0, 2}, {1}};
  options.columns = {{"user", "features"}};
  options.batch_timeout = std::chrono::seconds(3);
  options.split = Split::kNone;
  ordered_json values;
  for (const Option& option : OptionsOf(&options)) values[option.name] = ValueOf(option.field);
  CHECK(values["homes"].dump() == "[[0,2],[1]]");
  CHECK(values["columns"].dump() == R"([{"node_type":"user","column":"features"}])");
  CHECK(values["batch_timeout_ms"] == 3000);
  CHECK(values["split"] == "");
  CHECK(values["edge_columns"].dump() == "[]");
}

}  // namespace
}  // namespace vicinity
