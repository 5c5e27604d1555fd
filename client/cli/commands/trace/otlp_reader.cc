#include "client/cli/commands/trace/otlp_reader.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::json;

// What is not there, or of another type, is nothing: other programs write such files, too.
std::string Text(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& List(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found != object.end() ? *found : kNone;
}

std::string ValueText(const Json& value) {
  if (!value.is_object() || value.empty()) return "";
  const Json& inner = value.begin().value();
  if (inner.is_string()) return inner.get<std::string>();
  return inner.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::pair<std::string, std::string>> AttributesOf(const Json& object) {
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const Json& each : List(object, "attributes")) {
    attributes.emplace_back(Text(each, "key"), ValueText(Member(each, "value")));
  }
  return attributes;
}

std::string ProcessOf(const Json& resource) {
  std::string service;
  std::string instance;
  for (const auto& [key, value] : AttributesOf(resource)) {
    if (key == "service.name") service = value;
    if (key == "service.instance.id") instance = value;
  }
  return instance.empty() ? service : absl::StrCat(service, " ", instance);
}

absl::Status ReadSpan(const Json& json, const std::string& process, std::vector<ShownSpan>* spans) {
  ShownSpan span;
  span.trace = Text(json, "traceId");
  span.id = Text(json, "spanId");
  span.parent = Text(json, "parentSpanId");
  span.name = Text(json, "name");
  span.process = process;
  const std::string start = Text(json, "startTimeUnixNano");
  const std::string end = Text(json, "endTimeUnixNano");
  if (span.trace.empty() || span.id.empty() || !absl::SimpleAtoi(start, &span.start) ||
      !absl::SimpleAtoi(end, &span.end) || span.start < 0 || span.end < span.start) {
    return absl::InvalidArgumentError(absl::StrCat("span \"", span.name.substr(0, 100),
                                                   "\" of trace \"", span.trace.substr(0, 100),
                                                   "\" has no ids, or not two times in order"));
  }
  const Json& status = Member(json, "status");
  if (Member(status, "code") == 2) {
    span.error = Text(status, "message");
    if (span.error.empty()) span.error = "error";
  }
  span.attributes = AttributesOf(json);
  spans->push_back(std::move(span));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOtlp(absl::string_view text, std::vector<ShownSpan>* spans) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("resourceSpans")) {
    return absl::InvalidArgumentError("not a request of OTLP in JSON");
  }
  for (const Json& resource_spans : List(json, "resourceSpans")) {
    const std::string process = ProcessOf(Member(resource_spans, "resource"));
    for (const Json& scope_spans : List(resource_spans, "scopeSpans")) {
      for (const Json& span : List(scope_spans, "spans")) {
        VICINITY_RETURN_IF_ERROR(ReadSpan(span, process, spans));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReadOtlpFile(const std::string& path, std::vector<ShownSpan>* spans) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // no newline: it is still being written
    VICINITY_RETURN_IF_ERROR(At(absl::StrCat(path, ":", number), ReadOtlp(line, spans)));
    if (spans->size() > kMaxShownSpans) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ":", number, ": more than ", kMaxShownSpans,
                       " spans: show a part of it, as `tail -n 1000` has it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity::cli
