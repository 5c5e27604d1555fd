#include "tests/testing/attacks/holding_attacks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/testing/attacks/http2_frames.h"
#include "tests/testing/attacks/http2_session.h"

namespace vicinity::testing {
namespace {

constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";
constexpr char kFetchRows[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr int kMaxStreams = 256;  // that the server allows on a connection
constexpr size_t kAtOnceBytes = 32 << 10;

// Opens calls, and nothing more: the server may end them.
class HeldCalls final : public Http2Session {
 public:
  struct Plan {
    Http2Manners manners;
    std::vector<std::string> paths;  // in turn
    std::string message;
    bool ends = true;            // the request; otherwise there could be more of it
    int64_t most = kMaxStreams;  // at a time
    bool again = true;           // others for those that the server ends
  };

  explicit HeldCalls(const Plan& plan) : Http2Session(plan.manners), plan_(plan) {}

 protected:
  void Attack(std::string* out) override {
    for (const size_t begun = out->size();
         in_flight_ < plan_.most && out->size() - begun < kAtOnceBytes &&
         window() >= MessageBytes();
         ++in_flight_) {
      TakeWindow(MessageBytes());
      const std::string& path = plan_.paths[next_++ % plan_.paths.size()];
      const uint32_t stream = NewStream();
      *out += MakeFrame(FrameType::kHeaders, kEndHeaders, stream, MakeCallHeaders(path)) +
              MakeFrame(FrameType::kData, plan_.ends ? kEndStream : kNoFlags, stream,
                        MakeMessage(plan_.message));
    }
  }
  void Ended(uint32_t /*stream*/) override {
    if (plan_.again) --in_flight_;
  }

 private:
  int64_t MessageBytes() const { return static_cast<int64_t>(plan_.message.size()) + 5; }

  const Plan plan_;
  int64_t in_flight_ = 0;
  size_t next_ = 0;
};

// Requests that claim some MiB and stop before their end, as much of each as the windows allow.
class UnfinishedRequests final : public Http2Session {
 public:
  UnfinishedRequests() : Http2Session({}) {}

 protected:
  void Attack(std::string* out) override {
    constexpr size_t kPiece = 16 << 10;
    constexpr uint32_t kClaimed = 4 << 20;
    for (const size_t begun = out->size(); out->size() - begun < kAtOnceBytes; ++streams_) {
      if (streams_ == kMaxStreams || window() < static_cast<int64_t>(kPiece)) return;
      const uint32_t stream = NewStream();
      std::string message(1, '\0');
      message += BigEndian(kClaimed);
      message.resize(kPiece, 'u');
      *out += MakeFrame(FrameType::kHeaders, kEndHeaders, stream, MakeCallHeaders(kFetchRows)) +
              MakeFrame(FrameType::kData, kNoFlags, stream, message);
      TakeWindow(kPiece);
    }
  }

 private:
  int streams_ = 0;
};

// A byte now and then: of what was begun whole before, or of nothing.
class SlowWords final : public HostileSession {
 public:
  SlowWords(absl::string_view at_once, absl::string_view slowly)
      : at_once_(at_once), slowly_(slowly) {}

  void Say(std::string* out) override {
    if (!begun_) {
      begun_ = true;
      *out += at_once_;
    } else if (next_ < slowly_.size()) {
      *out += slowly_[next_++];
    }
  }

 private:
  const std::string at_once_;
  const std::string slowly_;
  bool begun_ = false;
  size_t next_ = 0;
};

template <typename Session, typename... Args>
Attack Holding(const std::string& name, int num_connections, const Args&... args) {
  Attack attack;
  attack.name = name;
  attack.num_connections = num_connections;
  attack.must_be_cut = false;
  attack.make_session = [args...] { return std::make_unique<Session>(args...); };
  return attack;
}

// The beginning of a ClientHello that claims 512 bytes.
std::string HalfHello() {
  return std::string("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", 11) + std::string(60, 'r');
}

std::vector<Attack> CallAttacks(const AttackTarget& target) {
  HeldCalls::Plan watches;
  watches.paths = {kWatch};
  HeldCalls::Plan unbounded = watches;
  unbounded.manners.acknowledges = false;
  unbounded.most = 1 << 20;
  HeldCalls::Plan reflection;
  reflection.paths = {kReflection};
  reflection.ends = false;
  HeldCalls::Plan parked;
  parked.manners.settings = MakeSetting(kInitialWindowSize, 0);
  parked.paths = {"/vicinity.proto.Graph/Status", "/vicinity.proto.Graph/Describe",
                  "/grpc.health.v1.Health/Check", "/vicinity.proto.Graph/Hello"};
  HeldCalls::Plan unread;
  unread.manners.settings = MakeSetting(kInitialWindowSize, 1 << 30);
  unread.manners.reads = false;
  unread.paths = {kFetchRows};
  unread.message = target.rows_request;
  unread.most = 100;  // the window allows some 16
  return {
      Holding<HeldCalls>("health watches", 113, watches),
      Holding<HeldCalls>("watches, no acknowledgement", 1, unbounded),
      Holding<HeldCalls>("reflection streams", 8, reflection),
      Holding<HeldCalls>("parked small calls", 60, parked),
      Holding<HeldCalls>("rows never read", 32, unread),
      Holding<UnfinishedRequests>("unfinished requests", 20),
  };
}

}  // namespace

std::vector<Attack> HoldingAttacks(const AttackTarget& target) {
  std::vector<Attack> attacks = CallAttacks(target);
  const std::string begin =
      std::string(kPreface) + MakeFrame(FrameType::kSettings, kNoFlags, 0, "");
  const std::string slow_headers =
      MakeFrame(FrameType::kHeaders, kEndHeaders, 1, MakeCallHeaders(kFetchRows));
  const auto many = static_cast<int>(target.max_connections + 64);
  attacks.push_back(Holding<SlowWords>("slow headers", 256, begin, slow_headers));
  attacks.push_back(Holding<SlowWords>("idle connections", many, begin, std::string()));
  Attack half = Holding<SlowWords>("half handshakes", many, HalfHello(), std::string());
  half.opening = Opening::kTcpOnly;
  attacks.push_back(half);
  Attack slow = Holding<SlowWords>("slow handshakes", 256, std::string(), HalfHello());
  slow.opening = Opening::kTcpOnly;
  attacks.push_back(slow);
  return attacks;
}

}  // namespace vicinity::testing
