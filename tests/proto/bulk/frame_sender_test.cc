#include "proto/bulk/frame_sender.h"

#include <grpcpp/support/slice.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/bulk/frame_reader.h"
#include "tests/proto/bulk/pieces_stream.h"
#include "tests/testing/status_checks.h"

namespace vicinity::bulk {
namespace {

using testing::PiecesStream;

class Owner final : public FrameSender::Owner {
 public:
  void AwaitWritable() override { ++awaits; }
  void OnBroken(const absl::Status&) override { ++breaks; }
  int awaits = 0;
  int breaks = 0;
};

class Waiter final : public FrameSender::Waiter {
 public:
  explicit Waiter(std::vector<std::string>* log, std::string name)
      : log_(log), name_(std::move(name)) {}
  void OnSent(bool ok) override {
    log_->push_back(name_ + (ok ? " sent" : " lost"));
    if (then) then();
  }
  std::function<void()> then;

 private:
  std::vector<std::string>* const log_;
  const std::string name_;
};

FrameSender::Frame MessageOf(uint64_t call, size_t bytes,
                             std::shared_ptr<Waiter> waiter = nullptr) {
  FrameSender::Frame frame;
  frame.header.kind = FrameKind::kMessage;
  frame.header.call = call;
  // In pieces, as messages with bulk fields are.
  const grpc::Slice slices[] = {grpc::Slice(std::string(bytes / 2, 'a')),
                                grpc::Slice(std::string(bytes - bytes / 2, 'b'))};
  frame.payload = grpc::ByteBuffer(slices, 2);
  frame.waiter = std::move(waiter);
  return frame;
}

// The calls of the frames that were written, in order; each must be right.
class Written final : public FrameReader::Handler {
 public:
  explicit Written(PiecesStream* stream) {
    PiecesStream back;
    back.to_read = stream->written;
    FrameReader reader(Sender::kServer, 1 << 20);
    while (!back.to_read.empty()) VICINITY_REQUIRE_OK(reader.ReadFrom(&back, this));
  }
  absl::Status OnHeader(const FrameHeader&, std::string_view) override { return absl::OkStatus(); }
  absl::Status OnFrame(const FrameHeader& header, std::string_view,
                       std::string_view payload) override {
    calls.push_back(header.call);
    CHECK(payload == std::string(payload.size() / 2, 'a') +
                         std::string(payload.size() - payload.size() / 2, 'b'));
    return absl::OkStatus();
  }
  std::vector<uint64_t> calls;
};

TEST_CASE("frames go at once, whole, and their waiters hear of it", "[frame_sender]") {
  PiecesStream stream;
  stream.piece = GENERATE(1, 13, 40, 100, 1'000'000);
  Owner owner;
  FrameSender sender(&stream, &owner);
  std::vector<std::string> log;
  for (uint64_t call = 1; call < 5; ++call) {
    sender.Send(MessageOf(call, 100 * call, std::make_shared<Waiter>(&log, std::to_string(call))));
  }
  CHECK(Written(&stream).calls == std::vector<uint64_t>{1, 2, 3, 4});
  CHECK(log == std::vector<std::string>{"1 sent", "2 sent", "3 sent", "4 sent"});
  CHECK(owner.awaits == 0);
}

TEST_CASE("while the socket is full small frames come before large ones", "[frame_sender]") {
  PiecesStream stream;
  stream.room = 1000;
  Owner owner;
  FrameSender sender(&stream, &owner);
  sender.Send(MessageOf(1, 100'000));  // has begun
  CHECK(owner.awaits == 1);
  sender.Send(MessageOf(2, 100'000));
  sender.Send(MessageOf(3, 200'000));
  sender.Send(MessageOf(4, 10));
  sender.Send(MessageOf(5, 20));
  CHECK(owner.awaits == 1);
  CHECK(sender.num_waiting() == 4);
  for (int i = 0; i < 1000 && owner.awaits > i; ++i) {
    stream.room = 3000;
    sender.CanWrite();
  }
  CHECK(sender.num_waiting() == 0);
  CHECK(Written(&stream).calls == std::vector<uint64_t>{1, 4, 5, 2, 3});
}

// It may have made a record of the first bytes, though it took none.
TEST_CASE("what a stream has been shown is not overtaken", "[frame_sender]") {
  PiecesStream stream;
  stream.room = 0;
  Owner owner;
  FrameSender sender(&stream, &owner);
  sender.Send(MessageOf(1, 100'000));
  sender.Send(MessageOf(2, 100'000));
  sender.Send(MessageOf(3, 10));
  CHECK(stream.written == "");
  stream.room = SIZE_MAX;
  sender.CanWrite();
  CHECK(Written(&stream).calls == std::vector<uint64_t>{1, 3, 2});
}

// However much a client takes, its thread has others' connections.
TEST_CASE("who says that the socket takes more sends some, and is asked again", "[frame_sender]") {
  PiecesStream stream;
  stream.room = 0;
  Owner owner;
  FrameSender sender(&stream, &owner);
  for (uint64_t call = 1; call <= 8; ++call) sender.Send(MessageOf(call, 300'000));
  REQUIRE(owner.awaits == 1);
  stream.room = SIZE_MAX;
  sender.CanWrite();
  CHECK(owner.awaits == 2);
  CHECK(Written(&stream).calls == std::vector<uint64_t>{1, 2});
  sender.CanWrite();
  CHECK(owner.awaits == 3);
  for (int i = 0; i < 8; ++i) sender.CanWrite();
  CHECK(Written(&stream).calls == std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(sender.num_waiting() == 0);
}

TEST_CASE("a waiter may send what comes next", "[frame_sender]") {
  PiecesStream stream;
  Owner owner;
  FrameSender sender(&stream, &owner);
  std::vector<std::string> log;
  const auto first = std::make_shared<Waiter>(&log, "1");
  first->then = [&] { sender.Send(MessageOf(2, 50, std::make_shared<Waiter>(&log, "2"))); };
  sender.Send(MessageOf(1, 50, first));
  CHECK(log == std::vector<std::string>{"1 sent", "2 sent"});
}

TEST_CASE("what is broken sends nothing more, and all who wait hear of it", "[frame_sender]") {
  PiecesStream stream;
  Owner owner;
  FrameSender sender(&stream, &owner);
  std::vector<std::string> log;
  const auto waiter = [&](const char* name) { return std::make_shared<Waiter>(&log, name); };
  stream.room = 100;
  sender.Send(MessageOf(1, 100'000, waiter("1")));
  sender.Send(MessageOf(2, 10, waiter("2")));
  sender.Send(MessageOf(3, 100'000, waiter("3")));
  CHECK(log.empty());
  SECTION("by the stream") {
    stream.is_broken = true;
    sender.CanWrite();
    CHECK(owner.breaks == 1);
    std::sort(log.begin(), log.end());
    CHECK(log == std::vector<std::string>{"1 lost", "2 lost", "3 lost"});
  }
  SECTION("by its owner") {
    sender.Break();
    CHECK(log == std::vector<std::string>{"2 lost", "3 lost"});
    // What had begun is another thread's, whoever comes now.
    stream.room = SIZE_MAX;
    sender.Send(MessageOf(5, 10));
    CHECK(stream.written.size() == 100);
    stream.is_broken = true;  // as a socket that is shut down
    sender.CanWrite();
    CHECK(log.back() == "1 lost");
  }
  log.clear();
  sender.Send(MessageOf(4, 10, waiter("4")));
  CHECK(log == std::vector<std::string>{"4 lost"});
}

}  // namespace
}  // namespace vicinity::bulk
