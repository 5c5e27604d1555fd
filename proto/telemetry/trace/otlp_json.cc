#include "proto/telemetry/trace/otlp_json.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/telemetry/trace_context.h"
#include "proto/version.h"

namespace vicinity {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStatusError = 2;  // of OTLP's Status.StatusCode

Json ValueOf(const Span::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return {{"intValue", absl::StrCat(*number)}};
  }
  return {{"stringValue", std::get<std::string>(value)}};
}

Json JsonOf(const Span& span) {
  Json json = {{"traceId", TraceId(span.context)},
               {"spanId", absl::StrFormat("%016x", span.context.span)}};
  if (span.parent != 0) json["parentSpanId"] = absl::StrFormat("%016x", span.parent);
  json["name"] = span.name;
  json["kind"] = static_cast<int>(span.kind);
  json["startTimeUnixNano"] = absl::StrCat(span.start);
  json["endTimeUnixNano"] = absl::StrCat(span.end);
  Json attributes = Json::array();
  for (const auto& attribute : span.attributes) {
    attributes.push_back({{"key", attribute.first}, {"value", ValueOf(attribute.second)}});
  }
  json["attributes"] = std::move(attributes);
  json["status"] = Json::object();
  if (span.code != absl::StatusCode::kOk) {
    json["status"] = {{"code", kStatusError}, {"message", absl::StatusCodeToString(span.code)}};
  }
  return json;
}

}  // namespace

std::string OtlpJson(const TraceResource& resource, absl::Span<const Spans> operations) {
  Json attributes = Json::array();
  for (const auto& fact : resource) {
    attributes.push_back({{"key", fact.first}, {"value", {{"stringValue", fact.second}}}});
  }
  Json spans = Json::array();
  for (const Spans& operation : operations) {
    for (const Span& span : operation) spans.push_back(JsonOf(span));
  }
  const Json scope = {{"scope", {{"name", "vicinity"}, {"version", kVersion}}}, {"spans", spans}};
  const Json request = {{"resourceSpans", Json::array({{{"resource", {{"attributes", attributes}}},
                                                        {"scopeSpans", Json::array({scope})}}})}};
  return request.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace vicinity
