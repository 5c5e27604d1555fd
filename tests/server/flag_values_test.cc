#include "server/flag_values.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/commands/operate/variable.h"

namespace vicinity {
namespace {

// "value (source)" by flag.
std::map<std::string, std::string> Values(std::vector<std::string> args,
                                          const std::vector<FileValue>& of_file = {}) {
  std::string listen = "127.0.0.1:7500";
  std::string key;
  std::string url;
  std::vector<int> shards;
  bool open = false;
  CLI::App app;
  app.set_version_flag("--version", "1");
  app.add_option("--listen", listen)->capture_default_str();
  app.add_option("--tls-key", key)->capture_default_str();
  app.add_option("--otlp-endpoint", url)->capture_default_str();
  app.add_option("--shards", shards)->delimiter(',');
  app.add_flag("--open", open);
  app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  std::map<std::string, std::string> values;
  for (const proto::FlagValue& flag : ValuesOf(app, of_file)) {
    values[flag.name()] = absl::StrCat(flag.value(), " ", proto::FlagSource_Name(flag.source()));
  }
  return values;
}

TEST_CASE("every flag has a value, and whose word it is", "[flag_values]") {
  const auto values = Values({"--tls-key", "/etc/key", "--shards=3,1"},
                             {{"--listen", "h:1"}, {"--tls-key", "other"}, {"--open", ""}});
  CHECK(values ==
        std::map<std::string, std::string>{{"--listen", "h:1 FLAG_SOURCE_CLUSTER_FILE"},
                                           {"--tls-key", "/etc/key FLAG_SOURCE_COMMAND_LINE"},
                                           {"--otlp-endpoint", " FLAG_SOURCE_DEFAULT"},
                                           {"--shards", "3,1 FLAG_SOURCE_COMMAND_LINE"},
                                           {"--open", "false FLAG_SOURCE_DEFAULT"}});
  CHECK(Values({"--open"})["--open"] == "true FLAG_SOURCE_COMMAND_LINE");
  CHECK(Values({}, {{"--open", "true"}})["--open"] == "true FLAG_SOURCE_CLUSTER_FILE");
  CHECK(Values({})["--listen"] == "127.0.0.1:7500 FLAG_SOURCE_DEFAULT");
}

TEST_CASE("a collector of the environment is named, without what it wants to know of us",
          "[flag_values]") {
  const testing::Variable variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret@host:4318");
  CHECK(Values({})["--otlp-endpoint"] == "http://host:4318/v1/traces FLAG_SOURCE_ENVIRONMENT");
  CHECK(Values({"--otlp-endpoint=http://a:b@c@host/x@y"})["--otlp-endpoint"] ==
        "http://host/x@y FLAG_SOURCE_COMMAND_LINE");
  CHECK(Values({"--otlp-endpoint=https://host/v1/traces?key=secret"})["--otlp-endpoint"] ==
        "https://host/v1/traces FLAG_SOURCE_COMMAND_LINE");
}

}  // namespace
}  // namespace vicinity
