#include "client/cli/commands/trace/timeline.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/commands/trace/otlp_reader.h"

namespace vicinity::cli {
namespace {

std::vector<TraceTree> Trees() {
  ShownSpan root;
  root.trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  root.id = "1";
  root.name = "batch";
  root.process = "vicinity_client h 1";
  root.start = 1'700'000'000'000'000'000;
  root.end = root.start + 80'000'000;
  ShownSpan part = root;
  part.id = "2";
  part.parent = "1";
  part.name = "<evil> & \"quoted\" \x1b[31m \x01 text";
  part.process = "vicinityd <a>";
  part.start += 40'000'000;
  part.error = "UNAVAILABLE";
  part.attributes = {{"key<", "value&\n"}};
  return TreesOf({root, part});
}

// Elements open and close in turn, and nothing else is markup: enough of XML for what is made here.
bool IsWellFormed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t i = 0; i < xml.size();) {
    const auto byte = static_cast<unsigned char>(xml[i]);
    if (byte < 0x20 && byte != '\n') return false;
    if (xml[i] == '&') {
      const size_t end = xml.find(';', i);
      if (end == std::string::npos || end > i + 5) return false;
      const std::string entity = xml.substr(i, end - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
        return false;
      }
    }
    if (xml[i] == '>') return false;
    if (xml[i] != '<') {
      ++i;
      continue;
    }
    const size_t end = xml.find('>', i);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(i + 1, end - i - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return false;
    if (tag.find('<') != std::string::npos || tag.find('\n') != std::string::npos) {
      return false;
    }
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.back() != tag) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    i = end + 1;
  }
  return open.empty();
}

TEST_CASE("a picture is well-formed whatever spans are called", "[timeline]") {
  REQUIRE_FALSE(IsWellFormed("<a><b></a>"));
  REQUIRE_FALSE(IsWellFormed("<a>&</a>"));
  const std::string svg = SvgTimelines(Trees());
  CHECK(IsWellFormed(svg));
  CHECK_THAT(svg, Catch::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\"") &&
                      Catch::Contains("&lt;evil&gt; &amp; &quot;quoted&quot;") &&
                      Catch::Contains("40.0 ms"));
  // Nothing is fetched from elsewhere.
  CHECK_THAT(svg,
             !Catch::Contains("href") && !Catch::Contains("url(") && !Catch::Contains("<script"));
  CHECK(svg == SvgTimelines(Trees()));
  CHECK(IsWellFormed(SvgTimelines({})));
}

TEST_CASE("a terminal gets a line a span, with its bar where it was", "[timeline]") {
  std::ostringstream out;
  PrintTimelines(Trees(), out);
  std::istringstream lines(out.str());
  std::string title;
  std::string root;
  std::string part;
  std::getline(lines, title);
  std::getline(lines, root);
  std::getline(lines, part);
  CHECK_THAT(title,
             Catch::StartsWith("trace 4bf92f3577b34da6a3ce929d0e0e4736: 80.0 ms from 2023-"));
  CHECK_THAT(root,
             Catch::Contains("batch") && Catch::Contains("80.0 ms |" + std::string(40, '=') + "|"));
  CHECK_THAT(part,
             Catch::Contains("40.0 ms |" + std::string(20, ' ') + std::string(20, '=') + "|"));
  for (const char c : out.str()) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
}

}  // namespace
}  // namespace vicinity::cli
