#include "proto/telemetry/trace/span.h"

#include <atomic>
#include <cstdlib>

namespace vicinity {

void Span::Set(const char* key, int64_t value) {
  if (attributes.size() < kMaxAttributes) attributes.emplace_back(key, value);
}

void Span::Set(const char* key, std::string value) {
  if (attributes.size() >= kMaxAttributes) return;
  if (value.size() > kMaxTextBytes) value.resize(kMaxTextBytes);
  attributes.emplace_back(key, std::move(value));
}

int64_t Span::num_bytes() const {
  size_t bytes = sizeof(Span) + name.capacity() + attributes.capacity() * sizeof(attributes[0]);
  for (const auto& attribute : attributes) {
    const auto* text = std::get_if<std::string>(&attribute.second);
    if (text != nullptr) bytes += text->capacity();
  }
  return static_cast<int64_t>(bytes);
}

int64_t UnixNanoseconds(std::chrono::steady_clock::time_point time) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  constexpr int64_t kClockWasSet = 1'000'000;
  static std::atomic<int64_t> difference{0};
  const int64_t now =
      duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count() -
      duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  int64_t used = difference.load(std::memory_order_relaxed);
  if (std::llabs(now - used) > kClockWasSet) {
    // Of threads that come at once all use what the first has found.
    if (difference.compare_exchange_strong(used, now)) used = now;
  }
  return duration_cast<nanoseconds>(time.time_since_epoch()).count() + used;
}

}  // namespace vicinity
