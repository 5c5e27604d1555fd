#include "client/c_api/call.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

namespace vicinity::c_api {
namespace {

TEST_CASE("a call gives the code of what went wrong, and keeps its text", "[c_api]") {
  CHECK(Call([] { return Error(ErrorCode::kNotFound, "no such shard"); }) == 5);
  CHECK(std::string(LastError()) == "no such shard");
  CHECK(Call([] { return Error(); }) == 0);
  CHECK(std::string(LastError()) == "no such shard");
}

TEST_CASE("what is thrown does not get through a call", "[c_api]") {
  CHECK(Call([]() -> Error { throw std::bad_alloc(); }) == 8);
  CHECK(std::string(LastError()) == "out of memory");
  CHECK(Call([]() -> Error { throw std::runtime_error("unheard of"); }) == 13);
  CHECK(std::string(LastError()) == "unheard of");
}

TEST_CASE("each thread has errors of its own", "[c_api]") {
  Report(Error(ErrorCode::kNotFound, "mine"));
  std::string others = "?";
  std::thread([&others] { others = LastError(); }).join();
  CHECK(others.empty());
  CHECK(std::string(LastError()) == "mine");
}

TEST_CASE("the first argument that is null is named", "[c_api]") {
  const int something = 0;
  CHECK(CheckGiven({{"a", &something}}).ok());
  const Error error = CheckGiven({{"a", &something}, {"b", nullptr}, {"c", nullptr}});
  CHECK(error.code() == ErrorCode::kInvalidArgument);
  CHECK(error.message() == "b is null");
}

TEST_CASE("a text is given as a copy", "[c_api]") {
  char* text = nullptr;
  REQUIRE(GiveText("some", &text).ok());
  CHECK(std::string(text) == "some");
  free(text);
}

}  // namespace
}  // namespace vicinity::c_api
