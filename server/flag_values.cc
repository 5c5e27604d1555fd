#include "server/flag_values.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/telemetry/trace/otlp_exporter.h"

namespace vicinity {
namespace {

constexpr char kOtlpEndpoint[] = "--otlp-endpoint";

// "https://user:password@host/path?token" without what stands before the host and behind the path.
std::string WithoutSecrets(const std::string& whole) {
  const std::string url = whole.substr(0, whole.find_first_of("?#"));
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const size_t host = scheme + 3;
  const size_t user = url.substr(0, url.find('/', host)).rfind('@');
  return user == std::string::npos || user < host
             ? url
             : absl::StrCat(url.substr(0, host), url.substr(user + 1));
}

bool IsSwitch(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string OnCommandLine(const CLI::Option& option) {
  return IsSwitch(option) ? "true" : absl::StrJoin(option.results(), ",");
}

proto::FlagValue ValueOf(const CLI::Option& option, const std::vector<FileValue>& of_file) {
  proto::FlagValue flag;
  flag.set_name(absl::StrCat("--", option.get_lnames().front()));
  const auto in_file =
      std::find_if(of_file.begin(), of_file.end(),
                   [&flag](const FileValue& value) { return value.flag == flag.name(); });
  if (option.count() > 0) {
    flag.set_value(OnCommandLine(option));
    flag.set_source(proto::FLAG_SOURCE_COMMAND_LINE);
  } else if (in_file != of_file.end() && !in_file->value.empty()) {
    flag.set_value(in_file->value);
    flag.set_source(proto::FLAG_SOURCE_CLUSTER_FILE);
  } else {
    flag.set_value(IsSwitch(option) ? "false" : option.get_default_str());
  }
  if (flag.name() == kOtlpEndpoint) {
    if (flag.value().empty() && !OtlpUrl("").empty()) {
      flag.set_value(OtlpUrl(""));
      flag.set_source(proto::FLAG_SOURCE_ENVIRONMENT);
    }
    flag.set_value(WithoutSecrets(flag.value()));
  }
  return flag;
}

}  // namespace

std::vector<proto::FlagValue> ValuesOf(const CLI::App& app, const std::vector<FileValue>& of_file) {
  std::vector<proto::FlagValue> values;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option == app.get_help_ptr()) continue;
    if (option->get_lnames().front() == "version") continue;
    values.push_back(ValueOf(*option, of_file));
  }
  return values;
}

}  // namespace vicinity
