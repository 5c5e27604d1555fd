#include "server/flags.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "proto/command_line/usage_errors.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

absl::Status Parse(const std::vector<std::string>& args, ServerConfig* config) {
  Flags flags;
  CLI::App app;
  DeclareFlags(&app, &flags, config);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  return Convert(flags, config);
}

std::string Told(const std::vector<std::string>& args) {
  ServerConfig config;
  return std::string(Parse(args, &config).message());
}

// So that a server which is started without flags is one that is started by a program.
TEST_CASE("without flags all is as the server has it by itself", "[flags]") {
  ServerConfig config;
  VICINITY_REQUIRE_OK(Parse({}, &config));
  const ServerConfig own;
  const ServerOptions& server = config.server;
  CHECK(config.drain == own.drain);
  CHECK(config.log_format == own.log_format);
  CHECK(config.log_level == own.log_level);
  CHECK(server.announce == own.server.announce);
  CHECK(server.keep_retired == own.server.keep_retired);
  CHECK(server.tracing.slow_call == own.server.tracing.slow_call);
  CHECK(server.check_bytes_per_second == own.server.check_bytes_per_second);
  CHECK(server.changes_cache_bytes == own.server.changes_cache_bytes);
  CHECK(server.changes_least_free_bytes == own.server.changes_least_free_bytes);
  CHECK(server.changes_warn_free_bytes == own.server.changes_warn_free_bytes);
  CHECK(server.changes_reserve_bytes == own.server.changes_reserve_bytes);
  CHECK(server.condition_bytes == own.server.condition_bytes);
  CHECK(server.admission.max_reply_bytes == own.server.admission.max_reply_bytes);
  CHECK(server.admission.max_client_reply_bytes == own.server.admission.max_client_reply_bytes);
  CHECK(server.admission.max_client_byte_rate == own.server.admission.max_client_byte_rate);
  CHECK(server.admission.write_timeout == own.server.admission.write_timeout);
  VICINITY_CHECK_OK(server.admission.Validate());
  VICINITY_CHECK_OK(server.limits.Validate());
}

TEST_CASE("a flag's ends are what the server takes, too", "[flags]") {
  const auto [flag, values] = GENERATE(table<std::string, std::vector<std::string>>({
      {"--max-ids", {"1", "1000000"}},
      {"--max-sampled", {"1", "1000000000"}},
      {"--max-chunk-bytes", {"64", "2097152"}},
      {"--max-calls", {"1", "100000"}},
      {"--max-client-calls", {"1", "100000"}},
      {"--max-running", {"0", "100000"}},
      {"--max-reply-mib", {"1", "1073741824"}},
      {"--max-client-reply-mib", {"1", "1073741824"}},
      {"--client-request-rate", {"0", "1e15"}},
      {"--client-mib-rate", {"0", "953674316"}},
      {"--write-timeout", {"0.1", "3600"}},
  }));
  for (const std::string& value : values) {
    CAPTURE(flag, value);
    ServerConfig config;
    VICINITY_REQUIRE_OK(Parse({flag, value}, &config));
    VICINITY_CHECK_OK(config.server.admission.Validate());
    VICINITY_CHECK_OK(config.server.limits.Validate());
  }
}

TEST_CASE("what is wrong is told with flag, value and what is accepted", "[flags]") {
  CHECK(Told({"--max-cals", "5"}) == "there is no flag --max-cals; did you mean --max-calls?");
  CHECK(Told({"--max-calls", "0"}) == "--max-calls should be from 1 to 100000, not 0");
  CHECK(Told({"--drain", "nan"}) == "--drain should be from 0 to 3600, not nan");
  CHECK(Told({"--drain", "soon"}) == "--drain should be a number, not \"soon\"");
  CHECK(Told({"--reload-seconds", "0"}) == "--reload-seconds should be from 1 to 86400, not 0");
  CHECK(Told({"--max-ids", "1.5"}) == "--max-ids should be a whole number, not \"1.5\"");
  CHECK(Told({"--log-level", "waring"}) ==
        "--log-level should be debug, info, warning or error, not \"waring\"; did you mean "
        "warning?");
  CHECK(Told({"--cluster", "c"}) == "--cluster needs --name, too");
  CHECK(Told({"--data", "d", "--cluster", "c", "--name", "a"}) ==
        "--cluster and --data do not go together");
  CHECK_THAT(Told({"--drain", "0x10000"}), Catch::Contains("should be from 0 to 3600"));
  CHECK_THAT(Told({"--max-reply-mib", "0x7fffffffffffffff"}), Catch::Contains("should be from"));
  CHECK_THAT(Told({"--open=false"}), Catch::Contains("--open takes no value"));
  CHECK(Told({"--listen"}) == "--listen needs a value of the form HOST:PORT");
  CHECK(Told({"graph"}) == "\"graph\" is one argument too many");
}

}  // namespace
}  // namespace vicinity
