#include "proto/bulk/frame.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/testing/status_checks.h"

namespace vicinity::bulk {
namespace {

FrameHeader Request() {
  FrameHeader header;
  header.kind = FrameKind::kRequest;
  header.head_bytes = 4;
  header.call = 0x0102030405060708;
  header.payload_bytes = 1000;
  header.timeout_ms = 5000;
  header.credit = 1 << 20;
  return header;
}

TEST_CASE("a header lies as its page says", "[frame]") {
  const HeaderBytes bytes = EncodeHeader(Request(), "head");
  CHECK(std::string(bytes.data(), 8) == std::string("VBK1\x03\x00\x04\x00", 8));
  CHECK(std::string(bytes.data() + 8, 8) == "\x08\x07\x06\x05\x04\x03\x02\x01");
  CHECK(std::string(bytes.data() + 16, 4) == std::string("\xe8\x03\x00\x00", 4));
  CHECK(std::string(bytes.data() + 20, 4) == std::string("\x88\x13\x00\x00", 4));
  CHECK(std::string(bytes.data() + 24, 8) == std::string("\x00\x00\x10\x00\x00\x00\x00\x00", 8));
}

TEST_CASE("what is encoded is decoded", "[frame]") {
  const HeaderBytes bytes = EncodeHeader(Request(), "head");
  VICINITY_ASSERT_OK_AND_ASSIGN(const FrameHeader header, DecodeHeader(bytes, Sender::kClient));
  CHECK(header.kind == FrameKind::kRequest);
  CHECK(header.head_bytes == 4);
  CHECK(header.call == 0x0102030405060708);
  CHECK(header.payload_bytes == 1000);
  CHECK(header.timeout_ms == 5000);
  CHECK(header.credit == 1 << 20);
  VICINITY_CHECK_OK(CheckHeader(bytes, "head"));
}

TEST_CASE("any bit that changes on the way is found", "[frame]") {
  const HeaderBytes sent = EncodeHeader(Request(), "head");
  for (size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    CAPTURE(bit);
    HeaderBytes came = sent;
    came[bit / 8] = static_cast<char>(came[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE((DecodeHeader(came, Sender::kClient).ok() && CheckHeader(came, "head").ok()));
  }
  VICINITY_CHECK_CODE(CheckHeader(sent, "hEad"), absl::StatusCode::kAborted);
  VICINITY_CHECK_CODE(CheckHeader(sent, ""), absl::StatusCode::kAborted);
}

absl::Status Decoded(const FrameHeader& header, Sender sender) {
  return DecodeHeader(EncodeHeader(header, ""), sender).status();
}

TEST_CASE("each kind comes from its side alone", "[frame]") {
  FrameHeader header;
  const auto comes_from = [&](FrameKind kind) {
    header = FrameHeader();
    header.kind = kind;
    header.call =
        kind == FrameKind::kOpen || kind == FrameKind::kOpened || kind == FrameKind::kGoodbye ? 0
                                                                                              : 1;
    header.timeout_ms = kind == FrameKind::kRequest ? 1 : 0;
    header.credit = kind == FrameKind::kRequest || kind == FrameKind::kCredit ? 1 : 0;
    return std::pair(Decoded(header, Sender::kClient).ok(), Decoded(header, Sender::kServer).ok());
  };
  const std::pair client(true, false);
  const std::pair server(false, true);
  CHECK(comes_from(FrameKind::kOpen) == client);
  CHECK(comes_from(FrameKind::kOpened) == server);
  CHECK(comes_from(FrameKind::kRequest) == client);
  CHECK(comes_from(FrameKind::kMessage) == server);
  CHECK(comes_from(FrameKind::kEnd) == server);
  CHECK(comes_from(FrameKind::kCancel) == client);
  CHECK(comes_from(FrameKind::kCredit) == client);
  CHECK(comes_from(FrameKind::kPing) == std::pair(true, true));
  CHECK(comes_from(FrameKind::kPong) == std::pair(true, true));
  CHECK(comes_from(FrameKind::kGoodbye) == server);
}

TEST_CASE("a header that breaks a rule is refused", "[frame]") {
  FrameHeader header = Request();
  Sender sender = Sender::kClient;
  SECTION("a kind that there is not") {
    header.kind = static_cast<FrameKind>(GENERATE(0, 11, 255));
  }
  SECTION("a head that is too large") { header.head_bytes = kMaxHeadBytes + 1; }
  SECTION("a request that is too large") { header.payload_bytes = kMaxPayloadOfRequest + 1; }
  SECTION("a reply that is too large") {
    header = FrameHeader();
    header.kind = FrameKind::kMessage;
    header.call = 1;
    header.payload_bytes = static_cast<uint32_t>(kMaxPayloadOfReply + 1);
    sender = Sender::kServer;
  }
  SECTION("a call without a number") { header.call = 0; }
  SECTION("a call without a deadline") { header.timeout_ms = 0; }
  SECTION("a call without credit") { header.credit = 0; }
  SECTION("more credit than there may be") { header.credit = kMaxCredit + 1; }
  SECTION("flags") { header.flags = GENERATE(1, 2, 128); }
  SECTION("an end with bytes, but no message") {
    header = FrameHeader();
    header.kind = FrameKind::kEnd;
    header.call = 1;
    header.payload_bytes = 1;
    sender = Sender::kServer;
  }
  SECTION("a goodbye to one call") {
    header = FrameHeader();
    header.kind = FrameKind::kGoodbye;
    header.call = 1;
    sender = Sender::kServer;
  }
  VICINITY_CHECK_CODE(Decoded(header, sender), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("what is no frame is refused", "[frame]") {
  HeaderBytes bytes = EncodeHeader(Request(), "");
  SECTION("gRPC") { std::copy_n("PRI ", 4, bytes.begin()); }
  SECTION("another version") { bytes[3] = '2'; }
  SECTION("bytes that mean nothing yet") { bytes[30] = 1; }
  VICINITY_CHECK_CODE(DecodeHeader(bytes, Sender::kClient), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity::bulk
