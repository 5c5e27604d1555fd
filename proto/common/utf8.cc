#include "proto/common/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace vicinity {
namespace {

// How many bytes the character at the front takes; 0: it is none.
size_t CharacterBytes(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  uint32_t code = lead & (0x7FU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kSmallest[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

}  // namespace

bool IsUtf8(absl::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = CharacterBytes(bytes);
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

std::string EscapedText(absl::string_view bytes) {
  if (!IsUtf8(bytes)) return absl::CHexEscape(bytes);
  const bool plain =
      std::none_of(bytes.begin(), bytes.end(), [](char c) { return absl::ascii_iscntrl(c) != 0; });
  return plain ? std::string(bytes) : absl::Utf8SafeCHexEscape(bytes);
}

}  // namespace vicinity
