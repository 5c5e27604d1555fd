#include "server/http/status_page.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <regex>
#include <set>
#include <string>

namespace vicinity {
namespace {

const std::string kPage = kStatusPage;

std::set<std::string> AllOf(const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(kPage.begin(), kPage.end(), regex), end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

TEST_CASE("the page is whole and has nothing from elsewhere", "[http]") {
  CHECK_THAT(kPage, Catch::StartsWith("<!doctype html>") && Catch::EndsWith("</html>\n"));
  CHECK(AllOf("(https?:|//[a-z]+\\.)").empty());
  CHECK(AllOf("(@import|url\\()").empty());
  // One icon, of no bytes; and one question, of this server.
  CHECK(AllOf("(?:src|href)=\"([^\"#]*)\"") == std::set<std::string>{"data:,"});
  CHECK(AllOf("fetch\\(\"([^\"]*)\"") == std::set<std::string>{"status.json"});
  CHECK(kPage.size() < 32 << 10);
}

// Who needs no token was asked for one all the same: a form that is laid out is not hidden.
TEST_CASE("what is hidden stays so, however it is laid out", "[http]") {
  CHECK_THAT(kPage, Catch::Contains("[hidden] { display: none !important; }"));
}

TEST_CASE("what servers say is never taken for markup", "[http]") {
  CHECK(AllOf("(innerHTML|outerHTML|insertAdjacentHTML|document\\.write|eval\\()").empty());
}

TEST_CASE("the page fits phones, dark rooms, keyboards and readers aloud", "[http]") {
  CHECK_THAT(kPage, Catch::Contains("name=\"viewport\" content=\"width=device-width") &&
                        Catch::Contains("prefers-color-scheme: dark") &&
                        Catch::Contains("<html lang=\"en\">") &&
                        Catch::Contains(":focus-visible") && Catch::Contains("aria-live"));
}

TEST_CASE("the script asks for elements that there are", "[http]") {
  const std::set<std::string> ids = AllOf(" id=\"([^\"]*)\"");
  for (const std::string& used : AllOf("(?:byId|fill)\\(\"([^\"]*)\"")) {
    CAPTURE(used);
    CHECK(ids.count(used) == 1);
  }
  for (const std::string& used : AllOf("aria-labelledby=\"([^\"]*)\"")) {
    CAPTURE(used);
    CHECK(ids.count(used) == 1);
  }
}

TEST_CASE("its policy lets it ask nobody else", "[http]") {
  const std::string policy = kStatusPagePolicy;
  CHECK_THAT(policy, Catch::StartsWith("default-src 'none';") &&
                         Catch::Contains("connect-src 'self'") &&
                         Catch::Contains("frame-ancestors 'none'") && !Catch::Contains("http"));
}

}  // namespace
}  // namespace vicinity
