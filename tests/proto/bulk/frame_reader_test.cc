#include "proto/bulk/frame_reader.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/proto/bulk/pieces_stream.h"
#include "tests/testing/status_checks.h"

namespace vicinity::bulk {
namespace {

using testing::PiecesStream;

std::string Framed(FrameHeader header, const std::string& head, const std::string& payload) {
  header.head_bytes = static_cast<uint16_t>(head.size());
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  const HeaderBytes bytes = EncodeHeader(header, head);
  return std::string(bytes.data(), bytes.size()) + head + payload;
}

std::string Message(uint64_t call, const std::string& payload) {
  FrameHeader header;
  header.kind = FrameKind::kMessage;
  header.call = call;
  return Framed(header, "", payload);
}

std::string End(uint64_t call, const std::string& head, const std::string& payload) {
  FrameHeader header;
  header.kind = FrameKind::kEnd;
  header.call = call;
  header.flags = payload.empty() ? 0 : kHasMessage;
  return Framed(header, head, payload);
}

// "begin 7", "7 head payload", ...
class Recorder final : public FrameReader::Handler {
 public:
  absl::Status OnHeader(const FrameHeader& header, std::string_view) override {
    events.push_back("begin " + std::to_string(header.call));
    return absl::OkStatus();
  }
  absl::Status OnFrame(const FrameHeader& header, std::string_view head,
                       std::string_view payload) override {
    events.push_back(std::to_string(header.call) + " " + std::string(head) + " " +
                     std::string(payload));
    return header.call == 666 ? absl::CancelledError("enough") : absl::OkStatus();
  }

  std::vector<std::string> events;
};

TEST_CASE("frames come out as they went in, however their bytes arrive", "[frame_reader]") {
  const std::string large(100'000, 'x');
  const std::string bytes = Message(1, "first") + Message(2, large) + Message(3, "") +
                            End(2, "head of the end", "last") + End(4, "no message", "") +
                            Message(5, std::string(4096, 'y')) + Message(6, large);
  PiecesStream stream;
  stream.to_read = bytes;
  stream.piece = GENERATE(1, 7, 39, 40, 41, 4095, 4097, 1'000'000);
  Recorder recorder;
  FrameReader reader(Sender::kServer, GENERATE(0, 1000, 1 << 20));
  while (!stream.to_read.empty()) {
    VICINITY_REQUIRE_OK(reader.ReadFrom(&stream, &recorder));
  }
  CHECK(recorder.events ==
        std::vector<std::string>{"begin 1", "1  first", "begin 2", "2  " + large, "begin 3", "3  ",
                                 "begin 2", "2 head of the end last", "begin 4", "4 no message ",
                                 "begin 5", "5  " + std::string(4096, 'y'), "begin 6",
                                 "6  " + large});
}

TEST_CASE("a header is told before its payload is there", "[frame_reader]") {
  PiecesStream stream;
  stream.to_read = Message(9, "payload").substr(0, kHeaderBytes);
  Recorder recorder;
  FrameReader reader(Sender::kServer, 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const bool all, reader.ReadFrom(&stream, &recorder));
  CHECK(all);
  CHECK(recorder.events == std::vector<std::string>{"begin 9"});
}

TEST_CASE("what is damaged is told before anything is done with it", "[frame_reader]") {
  PiecesStream stream;
  stream.to_read = End(9, "head", "payload");
  Recorder recorder;
  FrameReader reader(Sender::kServer, 0);
  absl::StatusCode code = absl::StatusCode::kAborted;
  SECTION("the head") { stream.to_read[kHeaderBytes] ^= 1; }
  SECTION("a number") { stream.to_read[9] ^= 1; }
  SECTION("the kind") {
    stream.to_read[4] = 99;
    code = absl::StatusCode::kInvalidArgument;
  }
  VICINITY_CHECK_CODE(reader.ReadFrom(&stream, &recorder), code);
  CHECK(recorder.events.empty());
}

TEST_CASE("the end of the stream and an error of the handler end the reading", "[frame_reader]") {
  PiecesStream stream;
  Recorder recorder;
  FrameReader reader(Sender::kServer, 0);
  SECTION("the stream") {
    stream.is_broken = true;
    VICINITY_CHECK_CODE(reader.ReadFrom(&stream, &recorder), absl::StatusCode::kUnavailable);
  }
  SECTION("the handler") {
    stream.to_read = Message(666, "x") + Message(7, "y");
    VICINITY_CHECK_CODE(reader.ReadFrom(&stream, &recorder), absl::StatusCode::kCancelled);
    CHECK(recorder.events.size() == 2);
  }
}

TEST_CASE("who sends without end lets others have their turn", "[frame_reader]") {
  PiecesStream stream;
  for (int i = 0; i < 100; ++i) stream.to_read += Message(1, std::string(100'000, 'x'));
  Recorder recorder;
  FrameReader reader(Sender::kServer, 1 << 20);
  VICINITY_ASSERT_OK_AND_ASSIGN(const bool all, reader.ReadFrom(&stream, &recorder));
  CHECK_FALSE(all);
  CHECK(recorder.events.size() < 100);
  CHECK(recorder.events.size() > 10);
}

}  // namespace
}  // namespace vicinity::bulk
