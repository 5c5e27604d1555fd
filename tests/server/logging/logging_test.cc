#include "server/logging/logging.h"

#include <spdlog/sinks/ostream_sink.h>

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

std::string Logged(LogFormat format, spdlog::level::level_enum level, const std::string& message) {
  std::ostringstream out;
  const auto logger =
      MakeLogger(format, level, std::make_shared<spdlog::sinks::ostream_sink_st>(out));
  logger->info("{}", message);
  return out.str();
}

TEST_CASE("json lines parse, whatever the message holds", "[logging]") {
  const std::string message =
      GENERATE(std::string("plain"), std::string("quote \" back \\ slash"),
               std::string("line\nbreak\ttab \x01 bell"), std::string("ümlaut {} %v %*"));
  const std::string line = Logged(LogFormat::kJson, spdlog::level::info, message);
  CHECK(line.find('\n') == line.size() - 1);
  const nlohmann::json parsed = nlohmann::json::parse(line, nullptr, false);
  REQUIRE(parsed.is_object());
  CHECK(parsed["msg"] == message);
  CHECK(parsed["level"] == "info");
  CHECK(parsed["ts"].get<std::string>().size() == std::string("2026-03-01T12:00:00.123Z").size());
}

TEST_CASE("text lines end in their message", "[logging]") {
  const std::string line = Logged(LogFormat::kText, spdlog::level::info, "hello there");
  CHECK_THAT(line, Catch::EndsWith("info    hello there\n"));
}

TEST_CASE("lines below the level are dropped", "[logging]") {
  CHECK(Logged(LogFormat::kText, spdlog::level::warn, "hello").empty());
  MakeSilentLogger()->error("nobody hears this");
}

TEST_CASE("formats and levels go by their names", "[logging]") {
  CHECK(ParseLogFormat("json").value() == LogFormat::kJson);
  CHECK(ParseLogFormat("text").value() == LogFormat::kText);
  VICINITY_CHECK_CODE(ParseLogFormat("xml"), absl::StatusCode::kInvalidArgument);
  CHECK(ParseLogLevel("debug").value() == spdlog::level::debug);
  CHECK(ParseLogLevel("warning").value() == spdlog::level::warn);
  VICINITY_CHECK_CODE(ParseLogLevel("loud"), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(ParseLogLevel(""), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
