#include "client/cli/commands/trace/otlp_reader.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "proto/common/file.h"
#include "proto/telemetry/trace/otlp_json.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace_context.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

std::string Written() {
  Span span;
  span.context = {1, 2, 3, true};
  span.parent = 4;
  span.name = "FetchRows";
  span.start = 1'700'000'000'000'000'001;
  span.end = 1'700'000'000'000'000'009;
  span.code = absl::StatusCode::kUnavailable;
  span.Set("shard", 7);
  span.Set("server", "s1");
  return OtlpJson({{"service.name", "vicinityd"}, {"service.instance.id", "a"}}, {{span}});
}

TEST_CASE("what is written is read back", "[otlp_reader]") {
  std::vector<ShownSpan> spans;
  VICINITY_REQUIRE_OK(ReadOtlp(Written(), &spans));
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].trace == "00000000000000010000000000000002");
  CHECK(spans[0].id == "0000000000000003");
  CHECK(spans[0].parent == "0000000000000004");
  CHECK(spans[0].name == "FetchRows");
  CHECK(spans[0].process == "vicinityd a");
  CHECK(spans[0].start == 1'700'000'000'000'000'001);
  CHECK(spans[0].end == 1'700'000'000'000'000'009);
  CHECK(spans[0].error == "UNAVAILABLE");
  CHECK(spans[0].attributes ==
        std::vector<std::pair<std::string, std::string>>{{"shard", "7"}, {"server", "s1"}});
}

TEST_CASE("what is no request is refused, and strange ones are no crash", "[otlp_reader]") {
  std::vector<ShownSpan> spans;
  const std::string good = Written();
  for (size_t size = 0; size < good.size(); ++size) {
    VICINITY_CHECK_CODE(ReadOtlp(good.substr(0, size), &spans), absl::StatusCode::kInvalidArgument);
  }
  for (const char* text :
       {"[]", "null", "{}", "7", "\"resourceSpans\"",
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]})",
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[7]}]}]})",
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","spanId":"b",)"
        R"("startTimeUnixNano":"5","endTimeUnixNano":"4"}]}]}]})"}) {
    CAPTURE(text);
    VICINITY_CHECK_CODE(ReadOtlp(text, &spans), absl::StatusCode::kInvalidArgument);
  }
  for (const char* text : {R"({"resourceSpans":7})", R"({"resourceSpans":[null,{"resource":[]}]})",
                           R"({"resourceSpans":[{"resource":{"attributes":[1,{"key":2}]},)"
                           R"("scopeSpans":{"spans":1}}]})"}) {
    CAPTURE(text);
    VICINITY_CHECK_OK(ReadOtlp(text, &spans));
  }
  CHECK(spans.empty());
}

TEST_CASE("a file has a request a line, and a last one may be under way", "[otlp_reader]") {
  const testing::TempDir folder;
  const std::string path = folder.File("traces.jsonl");
  std::vector<ShownSpan> spans;
  VICINITY_CHECK_CODE(ReadOtlpFile(path, &spans), absl::StatusCode::kNotFound);
  const std::string line = Written();
  VICINITY_REQUIRE_OK(
      WriteFileAtomically(path, line + "\n" + line + "\n" + line.substr(0, line.size() / 2)));
  VICINITY_REQUIRE_OK(ReadOtlpFile(path, &spans));
  CHECK(spans.size() == 2);
  VICINITY_REQUIRE_OK(WriteFileAtomically(path, line + "\nnonsense\n"));
  const absl::Status wrong = ReadOtlpFile(path, &spans);
  VICINITY_CHECK_CODE(wrong, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(wrong.message()), Catch::StartsWith(path + ":2: "));
}

}  // namespace
}  // namespace vicinity::cli
