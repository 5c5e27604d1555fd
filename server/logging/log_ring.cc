#include "server/logging/log_ring.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/common/utf8.h"

namespace vicinity {
namespace {

std::string TextOf(spdlog::string_view_t payload) {
  std::string text = EscapedText(absl::string_view(payload.data(), payload.size()));
  if (text.size() <= LogRing::kMaxLine) return text;
  size_t end = LogRing::kMaxLine;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // mid-character
  return text.substr(0, end);
}

uint64_t NewRun() {
  std::random_device random;
  const uint64_t drawn = uint64_t{random()} << 32 | random();
  return drawn == 0 ? 1 : drawn;
}

}  // namespace

LogRing::LogRing(size_t max_bytes) : max_bytes_(max_bytes), run_(NewRun()) {}

LogRing::Lines LogRing::Newest(size_t last, spdlog::level::level_enum least, uint64_t from) const {
  Lines found;
  const MutexLock lock(&mu_);
  found.forgotten = forgotten_;
  found.next = forgotten_ + lines_.size() + 1;
  for (auto line = lines_.rbegin(); line != lines_.rend() && found.lines.size() < last; ++line) {
    if (line->number < from) break;
    if (line->level >= least) found.lines.push_back(*line);
  }
  std::reverse(found.lines.begin(), found.lines.end());
  return found;
}

void LogRing::log(const spdlog::details::log_msg& message) {
  Line line{message.time, message.level, 0, TextOf(message.payload)};
  const MutexLock lock(&mu_);
  line.number = forgotten_ + lines_.size() + 1;
  bytes_ += BytesOf(line);
  lines_.push_back(std::move(line));
  while (bytes_ > max_bytes_) {
    bytes_ -= BytesOf(lines_.front());
    lines_.pop_front();
    ++forgotten_;
  }
}

}  // namespace vicinity
