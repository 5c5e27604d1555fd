#include "tests/testing/attacks/http2_frames.h"

#include "absl/strings/str_cat.h"

namespace vicinity::testing {
namespace {

constexpr size_t kHeadBytes = 9;
constexpr size_t kMostReadBytes = 64 << 10;  // before what has been read is thrown away

// An integer whose first byte has 7 bits for it (RFC 7541, 5.1).
std::string MakeLength(size_t length) {
  constexpr size_t kMost = 0x7f;
  if (length < kMost) return std::string(1, static_cast<char>(length));
  std::string out(1, static_cast<char>(kMost));
  size_t left = length - kMost;
  for (; left >= 0x80; left >>= 7) out += static_cast<char>((left & 0x7f) | 0x80);
  return out + static_cast<char>(left);
}

}  // namespace

std::string BigEndian(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

std::string MakeFrame(FrameType type, uint8_t flags, uint32_t stream, absl::string_view payload,
                      size_t claimed) {
  const size_t size = claimed == SIZE_MAX ? payload.size() : claimed;
  std::string frame;
  frame.reserve(kHeadBytes + payload.size());
  for (const size_t byte : {size >> 16, size >> 8, size}) frame += static_cast<char>(byte);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  absl::StrAppend(&frame, BigEndian(stream), payload);
  return frame;
}

std::string MakeSetting(uint16_t identifier, uint32_t value) {
  return BigEndian(identifier).substr(2) + BigEndian(value);
}

std::string MakeReset(uint32_t stream) {
  constexpr uint32_t kCancel = 8;
  return MakeFrame(FrameType::kReset, kNoFlags, stream, BigEndian(kCancel));
}

std::string MakeWindowUpdate(uint32_t stream, uint32_t increment) {
  return MakeFrame(FrameType::kWindowUpdate, kNoFlags, stream, BigEndian(increment));
}

std::string MakeHeader(absl::string_view name, absl::string_view value) {
  return absl::StrCat(std::string(1, '\0'), MakeLength(name.size()), name, MakeLength(value.size()),
                      value);
}

std::string MakeCallHeaders(absl::string_view path) {
  return MakeHeader(":method", "POST") + MakeHeader(":scheme", "https") +
         MakeHeader(":path", path) + MakeHeader(":authority", "x") + MakeHeader("te", "trailers") +
         MakeHeader("content-type", "application/grpc");
}

std::string MakeMessage(absl::string_view bytes) {
  return absl::StrCat(std::string(1, '\0'), BigEndian(static_cast<uint32_t>(bytes.size())), bytes);
}

std::string MakeCall(uint32_t stream, absl::string_view path, absl::string_view message) {
  return MakeFrame(FrameType::kHeaders, kEndHeaders, stream, MakeCallHeaders(path)) +
         MakeFrame(FrameType::kData, kEndStream, stream, MakeMessage(message));
}

std::optional<Http2Frame> FrameReader::Next() {
  const auto byte = [this](size_t i) { return static_cast<uint8_t>(bytes_[read_ + i]); };
  if (bytes_.size() - read_ < kHeadBytes) return std::nullopt;
  const size_t size = (size_t{byte(0)} << 16) | (size_t{byte(1)} << 8) | byte(2);
  if (bytes_.size() - read_ < kHeadBytes + size) return std::nullopt;
  Http2Frame frame;
  frame.type = static_cast<FrameType>(byte(3));
  frame.flags = byte(4);
  frame.stream =
      ((uint32_t{byte(5)} << 24) | (uint32_t{byte(6)} << 16) | (uint32_t{byte(7)} << 8) | byte(8)) &
      0x7fffffff;
  frame.payload = bytes_.substr(read_ + kHeadBytes, size);
  read_ += kHeadBytes + size;
  if (read_ > kMostReadBytes || read_ == bytes_.size()) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  return frame;
}

}  // namespace vicinity::testing
