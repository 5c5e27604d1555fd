// Catch2's main, compiled once for all tests: it takes far longer than a test does.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// What sanitizers shall not report; they ask for these names.
extern "C" {

// c-ares 1.18.1, by which gRPC resolves names, loses a copy of the name whenever that is
// "localhost" (https://github.com/c-ares/c-ares/issues/439).
// NOLINTNEXTLINE(bugprone-reserved-identifier)
const char* __lsan_default_suppressions() { return "leak:libcares.so"; }

// server/connections/connection_acceptor.cc asks the system what a number of a file stands for,
// which the file's owner may close meanwhile: that is what it wants to know.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
const char* __tsan_default_suppressions() { return "race:InodeOf"; }

}  // extern "C"
