#include "server/logging/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/null_sink.h>

#include <cstdio>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

// A flag of our own, %*: the message as the inside of a JSON string.
class JsonText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    for (const char c : message.payload) Append(static_cast<unsigned char>(c), &out);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonText>();
  }

 private:
  static void Append(unsigned char c, spdlog::memory_buf_t* out) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(static_cast<char>(c));
    } else if (c >= 0x20) {
      out->push_back(static_cast<char>(c));
    } else {
      char escaped[8];
      const int length = std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      out->append(escaped, escaped + length);
    }
  }
};

std::unique_ptr<spdlog::formatter> MakeFormatter(LogFormat format) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonText>('*');
  formatter->set_pattern(format == LogFormat::kJson
                             ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","msg":"%*"})"
                             : "%Y-%m-%d %H:%M:%S.%e %-7l %v");
  return formatter;
}

}  // namespace

absl::StatusOr<LogFormat> ParseLogFormat(const std::string& name) {
  if (name == "text") return LogFormat::kText;
  if (name == "json") return LogFormat::kJson;
  return absl::InvalidArgumentError(
      absl::StrCat("log format \"", name, "\", should be text or json"));
}

absl::StatusOr<spdlog::level::level_enum> ParseLogLevel(const std::string& name) {
  for (const auto level :
       {spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err}) {
    if (name == LogLevelName(level)) return level;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("log level \"", name, "\", should be debug, info, warning or error"));
}

std::string LogLevelName(spdlog::level::level_enum level) {
  const spdlog::string_view_t name = spdlog::level::to_string_view(level);
  return std::string(name.data(), name.size());
}

std::shared_ptr<spdlog::logger> MakeLogger(LogFormat format, spdlog::level::level_enum level,
                                           spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("vicinityd", std::move(sink));
  logger->set_formatter(MakeFormatter(format));
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

std::shared_ptr<spdlog::logger> MakeSilentLogger() {
  return MakeLogger(LogFormat::kText, spdlog::level::off,
                    std::make_shared<spdlog::sinks::null_sink_mt>());
}

}  // namespace vicinity
