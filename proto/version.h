// What this build is and what it speaks.
#pragma once

#include <cstdint>

namespace vicinity {

inline constexpr char kVersion[] = "0.1.0";

// Of the RPCs in service.proto; a peer with another one is refused at hello.
inline constexpr uint32_t kProtocolVersion = 6;

}  // namespace vicinity
