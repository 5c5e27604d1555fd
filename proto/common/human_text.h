// Numbers as people read and write them: sizes, counts, times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vicinity {

std::string HumanBytes(int64_t bytes);      // "1.5 GiB"
std::string HumanCount(int64_t count);      // "1,234,567"
std::string HumanSeconds(double seconds);   // "850 ms", "12.3 s", "3 min 20 s", "2 h 5 min"
std::string HumanRatio(double value);       // "1.031", three decimals
std::string HumanPercent(double fraction);  // "12.5 %"

// The bytes of "512", "16G", "1.5GiB" (K, M, G, T are powers of 1024). -1 if it is none of these.
int64_t ParseBytes(std::string_view text);

}  // namespace vicinity
