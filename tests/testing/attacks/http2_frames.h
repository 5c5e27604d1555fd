// HTTP/2 as a hostile client writes it (RFC 9113, RFC 7541): by hand, since no library would send
// what attacks are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace vicinity::testing {

enum class FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

// Flags of frames; kAck is that of settings and pings.
inline constexpr uint8_t kNoFlags = 0;
inline constexpr uint8_t kAck = 1;
inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kEndHeaders = 4;

// Identifiers of settings.
inline constexpr uint16_t kInitialWindowSize = 4;

inline constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct Http2Frame {
  FrameType type = FrameType::kData;
  uint8_t flags = 0;
  uint32_t stream = 0;
  std::string payload;
};

// `claimed`: the length that the frame's header says, where it is to lie.
std::string MakeFrame(FrameType type, uint8_t flags, uint32_t stream, absl::string_view payload,
                      size_t claimed = SIZE_MAX);
// Four bytes, the highest first, as most payloads have them.
std::string BigEndian(uint32_t value);
std::string MakeSetting(uint16_t identifier, uint32_t value);  // the payload of SETTINGS
std::string MakeReset(uint32_t stream);                        // CANCEL
std::string MakeWindowUpdate(uint32_t stream, uint32_t increment);

// A literal header without indexing or compression (RFC 7541, 6.2.2).
std::string MakeHeader(absl::string_view name, absl::string_view value);
// The headers of a call of gRPC's; `path` is "/package.Service/Method".
std::string MakeCallHeaders(absl::string_view path);
// A message as gRPC frames it: not compressed, its length, its bytes.
std::string MakeMessage(absl::string_view bytes);
// HEADERS and DATA of a call with one request message, which end the stream.
std::string MakeCall(uint32_t stream, absl::string_view path, absl::string_view message);

// Cuts what a connection hears into frames.
class FrameReader {
 public:
  void Add(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }
  // The next whole frame, if there is one.
  std::optional<Http2Frame> Next();

 private:
  std::string bytes_;
  size_t read_ = 0;  // of bytes_
};

}  // namespace vicinity::testing
