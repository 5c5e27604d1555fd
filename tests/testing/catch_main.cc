// Catch2's main, compiled once for all tests: it takes far longer than a test does.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
