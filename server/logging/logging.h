// The daemon's log: lines on standard error for people, or one JSON object a line.
#pragma once

#include <spdlog/common.h>
#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace vicinity {

enum class LogFormat { kText, kJson };

// InvalidArgument unless it is "text" or "json".
absl::StatusOr<LogFormat> ParseLogFormat(const std::string& name);

// InvalidArgument unless it is one of debug, info, warning, error.
absl::StatusOr<spdlog::level::level_enum> ParseLogLevel(const std::string& name);

// Its name, as above.
std::string LogLevelName(spdlog::level::level_enum level);

// Text: "2026-03-01 12:00:00.123 info  message". JSON:
// {"ts":"2026-03-01T12:00:00.123Z","level":"info", "msg":"message"}, times in UTC. Each line is
// flushed.
//
// Threads: the logger may be used from any number. It is shared as spdlog wants it: by its users.
std::shared_ptr<spdlog::logger> MakeLogger(LogFormat format, spdlog::level::level_enum level,
                                           spdlog::sink_ptr sink);

// Drops every line.
std::shared_ptr<spdlog::logger> MakeSilentLogger();

}  // namespace vicinity
