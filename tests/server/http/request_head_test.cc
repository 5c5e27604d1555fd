#include "server/http/request_head.h"

#include <catch2/catch.hpp>
#include <string>

namespace vicinity {
namespace {

TEST_CASE("a head ends with its empty line", "[http]") {
  CHECK(HeadLength("") == 0);
  CHECK(HeadLength("GET / HTTP/1.1\r\nHost: a\r\n") == 0);
  CHECK(HeadLength("GET / HTTP/1.1\r\n\r\n") == 18);
  CHECK(HeadLength("GET / HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n") == 18);
}

TEST_CASE("the parser sees the headers alone that have a use", "[http]") {
  CHECK(StrippedHead("GET / HTTP/1.1\r\nhost: a\r\nAccept-Encoding: br\r\nRange: bytes=0-,0-\r\n"
                     "AUTHORIZATION: Bearer x\r\nExpect: 100-continue\r\nConnection: close\r\n"
                     "Hostile: yes\r\nContent-Length: 5\r\n\r\n") ==
        "GET / HTTP/1.1\r\nhost: a\r\nAUTHORIZATION: Bearer x\r\nConnection: close\r\n\r\n");
}

TEST_CASE("no header hides in another", "[http]") {
  CHECK(StrippedHead("GET / HTTP/1.1\r\nHost: a\nAccept-Encoding: br\r\n\r\n").empty());
  CHECK(StrippedHead("GET / HTTP/1.1\r\nHost: a\rRange: bytes=0-\r\n\r\n").empty());
  CHECK(StrippedHead("GET / HTTP/1.1\nHost: a\r\n\r\n").empty());
  CHECK(StrippedHead(std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 28)).empty());
}

TEST_CASE("a body is seen by what announces it", "[http]") {
  CHECK_FALSE(HasBody("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  CHECK_FALSE(HasBody("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"));
  CHECK(HasBody("GET / HTTP/1.1\r\ncontent-length: 1\r\n\r\n"));
  CHECK(HasBody("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"));
  CHECK(HasBody("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
}

}  // namespace
}  // namespace vicinity
