#include "proto/common/utf8.h"

#include <catch2/catch.hpp>
#include <string>

namespace vicinity {
namespace {

TEST_CASE("UTF-8 is told from bytes that only look like it", "[utf8]") {
  for (const std::string& text : {std::string(), std::string("plain"), std::string("a\0b", 3),
                                  std::string("gr\xC3\xB6\xC3\x9F"
                                              "e"),
                                  std::string("\xE2\x82\xAC \xF0\x9F\x98\x80"),
                                  std::string("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF")}) {
    INFO(EscapedText(text));
    CHECK(IsUtf8(text));
  }
  for (const std::string bytes :
       {"caf\xE9", "\x80", "\xC3", "\xC3(", "\xE2\x82", "\xF0\x9F\x98",  // cut, or out of place
        "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",      // overlong
        "\xED\xA0\x80", "\xED\xBF\xBF",                                  // surrogates
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {               // beyond U+10FFFF
    INFO(EscapedText(bytes));
    CHECK_FALSE(IsUtf8(bytes));
  }
}

TEST_CASE("text is shown as it is, and what is none with escapes", "[utf8]") {
  CHECK(EscapedText("it's \"plain\"") == "it's \"plain\"");
  CHECK(EscapedText("gr\xC3\xB6\xC3\x9F") == "gr\xC3\xB6\xC3\x9F");
  CHECK(EscapedText("caf\xE9") == "caf\\xe9");
  CHECK(EscapedText("\x1B[2J") == "\\x1b[2J");
  CHECK(EscapedText("\xC3\xB6\n") == "\xC3\xB6\\n");
  CHECK(EscapedText("\xE8") != EscapedText("\xE9"));
}

}  // namespace
}  // namespace vicinity
