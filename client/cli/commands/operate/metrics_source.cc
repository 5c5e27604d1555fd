#include "client/cli/commands/operate/metrics_source.h"

#include <httplib.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr int64_t kLargest = int64_t{64} << 20;

absl::StatusOr<std::string> Ask(const std::string& address, absl::Duration timeout) {
  const size_t host = address.find("://") + 3;
  const size_t slash = address.find('/', host);
  const std::string path = slash == std::string::npos || slash + 1 == address.size()
                               ? "/metrics"
                               : address.substr(slash);
  httplib::Client client(address.substr(0, slash));
  if (!client.is_valid()) {
    return absl::InvalidArgumentError(
        absl::StrCat(address, " is no address, as http://127.0.0.1:9700"));
  }
  const auto limit = absl::ToChronoMilliseconds(timeout);
  client.set_connection_timeout(limit);
  client.set_read_timeout(limit);
  client.set_write_timeout(limit);
  std::string body;
  const httplib::Result result = client.Get(path.c_str(), [&body](const char* bytes, size_t size) {
    body.append(bytes, size);
    return static_cast<int64_t>(body.size()) <= kLargest;
  });
  if (!result) {
    return absl::UnavailableError(
        absl::StrCat(address, ": ", httplib::to_string(result.error()),
                     " (is the trainer there, with metrics={\"listen\": ...}?)"));
  }
  if (result->status != 200) {
    return absl::UnavailableError(absl::StrCat(address, " answers ", result->status));
  }
  return body;
}

}  // namespace

bool IsAddress(const std::string& source) {
  return absl::StartsWith(source, "http://") || absl::StartsWith(source, "https://");
}

absl::StatusOr<MetricSamples> ReadMetrics(const std::string& source, absl::Duration timeout) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text,
                            IsAddress(source) ? Ask(source, timeout) : ReadFile(source, kLargest));
  absl::StatusOr<MetricSamples> samples = ParseMetrics(text);
  if (!samples.ok()) return At(source, samples.status());
  return samples;
}

}  // namespace vicinity::cli
