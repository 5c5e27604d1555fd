#include "proto/bulk/frame.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/common/checksum.h"

namespace vicinity::bulk {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are sent as they lie in memory");

constexpr char kMagic[] = {'V', 'B', 'K', '1'};
constexpr size_t kSummedBytes = 32;

template <typename T>
void Put(T value, size_t at, HeaderBytes* bytes) {
  std::memcpy(bytes->data() + at, &value, sizeof(value));
}
template <typename T>
T Get(const HeaderBytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

uint64_t SumOf(const HeaderBytes& bytes, std::string_view head) {
  return Checksum({bytes.data(), kSummedBytes}, head.empty() ? 0 : Checksum(head));
}

// What a kind of frame has; the table of frame.h.
struct Rule {
  const char* name;
  bool from_client;
  bool from_server;
  bool has_call;  // not 0
  bool has_head;
  bool has_payload;
  bool has_timeout;
  bool has_credit;
};

// In the order of FrameKind, from 1 on.
constexpr Rule kRules[] = {
    {"OPEN", true, false, false, true, false, false, false},
    {"OPENED", false, true, false, true, false, false, false},
    {"REQUEST", true, false, true, true, true, true, true},
    {"MESSAGE", false, true, true, false, true, false, false},
    {"END", false, true, true, true, true, false, false},
    {"CANCEL", true, false, true, false, false, false, false},
    {"CREDIT", true, false, true, false, false, false, true},
    {"PING", true, true, true, false, false, false, false},
    {"PONG", true, true, true, false, false, false, false},
    {"GOODBYE", false, true, false, false, false, false, false},
};

bool MayHaveAnyCall(FrameKind kind) { return kind == FrameKind::kPing || kind == FrameKind::kPong; }

absl::Status Broken(const Rule& rule, const char* what, uint64_t value) {
  return absl::InvalidArgumentError(absl::StrCat(
      "a frame breaks the rules of the bulk channel: ", rule.name, " with ", what, " ", value));
}

absl::Status Check(const FrameHeader& header, const Rule& rule, Sender sender) {
  const bool client = sender == Sender::kClient;
  if (!(client ? rule.from_client : rule.from_server)) {
    return Broken(rule, client ? "a client as sender, call" : "a server as sender, call",
                  header.call);
  }
  if (header.flags != 0 && !(header.kind == FrameKind::kEnd && header.flags == kHasMessage)) {
    return Broken(rule, "flags", header.flags);
  }
  if (header.head_bytes > (rule.has_head ? kMaxHeadBytes : 0)) {
    return Broken(rule, "bytes of a head", header.head_bytes);
  }
  if ((header.call != 0) != rule.has_call && !MayHaveAnyCall(header.kind)) {
    return Broken(rule, "call", header.call);
  }
  const bool has_payload =
      rule.has_payload && (header.kind != FrameKind::kEnd || header.flags == kHasMessage);
  const int64_t most = !has_payload ? 0 : client ? kMaxPayloadOfRequest : kMaxPayloadOfReply;
  if (header.payload_bytes > most) return Broken(rule, "bytes of payload", header.payload_bytes);
  if ((header.timeout_ms != 0) != rule.has_timeout) {
    return Broken(rule, "timeout", header.timeout_ms);
  }
  if ((header.credit != 0) != rule.has_credit || header.credit > kMaxCredit) {
    return Broken(rule, "credit", header.credit);
  }
  return absl::OkStatus();
}

}  // namespace

HeaderBytes EncodeHeader(const FrameHeader& header, std::string_view head) {
  HeaderBytes bytes{};
  std::memcpy(bytes.data(), kMagic, sizeof(kMagic));
  Put(static_cast<uint8_t>(header.kind), 4, &bytes);
  Put(header.flags, 5, &bytes);
  Put(header.head_bytes, 6, &bytes);
  Put(header.call, 8, &bytes);
  Put(header.payload_bytes, 16, &bytes);
  Put(header.timeout_ms, 20, &bytes);
  Put(header.credit, 24, &bytes);
  Put(SumOf(bytes, head), kSummedBytes, &bytes);
  return bytes;
}

absl::StatusOr<FrameHeader> DecodeHeader(const HeaderBytes& bytes, Sender sender) {
  if (std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return absl::InvalidArgumentError("not the bulk channel's protocol, or of another version");
  }
  const auto kind = Get<uint8_t>(bytes, 4);
  if (kind == 0 || kind > sizeof(kRules) / sizeof(kRules[0])) {
    return absl::InvalidArgumentError(absl::StrCat("a frame of the unknown kind ", kind));
  }
  FrameHeader header;
  header.kind = static_cast<FrameKind>(kind);
  header.flags = Get<uint8_t>(bytes, 5);
  header.head_bytes = Get<uint16_t>(bytes, 6);
  header.call = Get<uint64_t>(bytes, 8);
  header.payload_bytes = Get<uint32_t>(bytes, 16);
  header.timeout_ms = Get<uint32_t>(bytes, 20);
  header.credit = Get<uint32_t>(bytes, 24);
  const Rule& rule = kRules[kind - 1];
  if (const auto rest = Get<uint32_t>(bytes, 28); rest != 0) return Broken(rule, "a rest of", rest);
  const absl::Status checked = Check(header, rule, sender);
  if (!checked.ok()) return checked;
  return header;
}

absl::Status CheckHeader(const HeaderBytes& bytes, std::string_view head) {
  const uint64_t sum = SumOf(bytes, head);
  const auto sent = Get<uint64_t>(bytes, kSummedBytes);
  if (sum == sent) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      "a frame was damaged on the way: the checksum of its header is ",
      absl::Hex(sum, absl::kZeroPad16), ", the sender's ", absl::Hex(sent, absl::kZeroPad16)));
}

}  // namespace vicinity::bulk
