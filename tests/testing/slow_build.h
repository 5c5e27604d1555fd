// How much longer than otherwise a test waits in a build that a sanitizer slows down.
#pragma once

namespace vicinity::testing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VICINITY_SLOW_BUILD 1
#endif
#endif
#ifdef VICINITY_SLOW_BUILD
inline constexpr int kSlower = 5;
#else
inline constexpr int kSlower = 1;
#endif
#undef VICINITY_SLOW_BUILD

}  // namespace vicinity::testing
