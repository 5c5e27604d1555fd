#include "proto/common/human_text.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace vicinity {
namespace {

TEST_CASE("sizes, counts and times are written for people", "[common]") {
  CHECK(HumanBytes(0) == "0 B");
  CHECK(HumanBytes(1023) == "1023 B");
  CHECK(HumanBytes(1536) == "1.5 KiB");
  CHECK(HumanBytes((int64_t{1} << 20) - 1) == "1.0 MiB");
  CHECK(HumanBytes(int64_t{3} << 40) == "3.0 TiB");
  CHECK(HumanCount(0) == "0");
  CHECK(HumanCount(999) == "999");
  CHECK(HumanCount(1000) == "1,000");
  CHECK(HumanCount(-1234567) == "-1,234,567");
  CHECK(HumanSeconds(0) == "0 ms");
  CHECK(HumanSeconds(0.00042) == "0.42 ms");
  CHECK(HumanSeconds(0.0013) == "1.3 ms");
  CHECK(HumanSeconds(0.0123) == "12 ms");
  CHECK(HumanSeconds(0.85) == "850 ms");
  CHECK(HumanSeconds(12.34) == "12.3 s");
  CHECK(HumanSeconds(200) == "3 min 20 s");
  CHECK(HumanSeconds(7500) == "2 h 5 min");
  CHECK(HumanRatio(1.0314) == "1.031");
  CHECK(HumanPercent(0.125) == "12.5 %");
}

TEST_CASE("sizes are read as people write them", "[common]") {
  CHECK(ParseBytes("512") == 512);
  CHECK(ParseBytes("0") == 0);
  CHECK(ParseBytes("2K") == 2048);
  CHECK(ParseBytes("16G") == int64_t{16} << 30);
  CHECK(ParseBytes("1.5GiB") == int64_t{3} << 29);
  CHECK(ParseBytes(" 3 mb ") == -1);
  CHECK(ParseBytes(" 3 mB ") == int64_t{3} << 20);
  for (const char* text : {"", "G", "-1", "x", "1X", "1e30", "nan"}) CHECK(ParseBytes(text) == -1);
}

}  // namespace
}  // namespace vicinity
