#include "tests/testing/attacks/flood_attacks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/attacks/http2_frames.h"
#include "tests/testing/attacks/http2_session.h"

namespace vicinity::testing {
namespace {

constexpr char kGraph[] = "/vicinity.proto.Graph/";
constexpr size_t kFrameBytes = 16 << 10;  // as long as a frame may be
constexpr size_t kAtOnceBytes = 32 << 10;

// No other frame may come between HEADERS and their end.
Http2Manners MannersOfHeaders() {
  Http2Manners manners;
  manners.acknowledges = false;
  return manners;
}

// Headers that never end. What is in them matters little.
class ContinuationFlood final : public Http2Session {
 public:
  // `frame_bytes` 0: empty frames, which cost the server a little each and bring it nothing.
  explicit ContinuationFlood(size_t frame_bytes) : Http2Session(MannersOfHeaders()) {
    std::string payload;
    for (int i = 0; payload.size() + 120 < frame_bytes; ++i) {
      payload += MakeHeader(absl::StrCat("x-", i), std::string(100, 'c'));
    }
    while (frames_.size() < kAtOnceBytes) {
      frames_ += MakeFrame(FrameType::kContinuation, kNoFlags, 1, payload);
    }
  }

 protected:
  void Attack(std::string* out) override {
    if (!begun_) {
      *out += MakeFrame(FrameType::kHeaders, kNoFlags, NewStream(),
                        MakeCallHeaders(absl::StrCat(kGraph, "Status")));
      begun_ = true;
    }
    *out += frames_;
  }

 private:
  std::string frames_;
  bool begun_ = false;
};

// One header whose value never ends.
class GiantHeader final : public Http2Session {
 public:
  GiantHeader() : Http2Session(MannersOfHeaders()) {}

 protected:
  void Attack(std::string* out) override {
    if (!begun_) {
      // A literal whose value has 2^28 bytes, it says.
      *out += MakeFrame(FrameType::kHeaders, kNoFlags, NewStream(),
                        MakeCallHeaders(absl::StrCat(kGraph, "Status")) +
                            std::string("\0\x03x-g\x7f\x81\xff\xff\x7f", 10));
      begun_ = true;
    }
    *out += MakeFrame(FrameType::kContinuation, kNoFlags, 1, std::string(kFrameBytes, 'g'));
  }

 private:
  bool begun_ = false;
};

// Calls that are taken back as soon as they are made.
class RapidReset final : public Http2Session {
 public:
  explicit RapidReset(const std::string& method)
      : Http2Session({}), headers_(MakeCallHeaders(absl::StrCat(kGraph, method))) {}

 protected:
  void Attack(std::string* out) override {
    for (const size_t begun = out->size(); out->size() - begun < kAtOnceBytes;) {
      const uint32_t stream = NewStream();
      *out += MakeFrame(FrameType::kHeaders, kEndHeaders, stream, headers_) + MakeReset(stream);
    }
  }

 private:
  const std::string headers_;
};

// Whole calls for rows, each taken back once it has been made.
class GivenUpCalls final : public Http2Session {
 public:
  explicit GivenUpCalls(const std::string& request) : Http2Session({}), request_(request) {}

 protected:
  void Attack(std::string* out) override {
    const auto bytes = static_cast<int64_t>(request_.size()) + 5;
    for (const size_t begun = out->size();
         out->size() - begun < kAtOnceBytes && window() >= bytes;) {
      const uint32_t stream = NewStream();
      *out += MakeCall(stream, absl::StrCat(kGraph, "FetchRows"), request_) + MakeReset(stream);
      TakeWindow(bytes);
    }
  }

 private:
  const std::string request_;
};

// Calls as fast as they are answered, so many at a time.
class CallFlood final : public Http2Session {
 public:
  struct Call {
    std::string path;
    std::string message{};
  };
  explicit CallFlood(std::vector<Call> calls) : Http2Session({}), calls_(std::move(calls)) {}

 protected:
  void Attack(std::string* out) override {
    for (; in_flight_ < kInFlight; ++in_flight_, ++next_) {
      const Call& call = calls_[next_ % calls_.size()];
      *out += MakeCall(NewStream(), call.path, call.message);
    }
  }
  void Ended(uint32_t /*stream*/) override { --in_flight_; }

 private:
  static constexpr int kInFlight = 100;
  const std::vector<Call> calls_;
  size_t next_ = 0;
  int in_flight_ = 0;
};

// The same bytes for ever, after a first few.
class Repetition final : public Http2Session {
 public:
  Repetition(const Http2Manners& manners, std::string first, const std::string& again)
      : Http2Session(manners), first_(std::move(first)) {
    while (again_.size() < kAtOnceBytes) again_ += again;
  }

 protected:
  void Attack(std::string* out) override {
    *out += first_;
    first_.clear();
    *out += again_;
  }

 private:
  std::string first_;
  std::string again_;
};

// Headers of a few bytes that stand for megabytes: an entry of the compression's table, named
// again and again.
class HeaderBomb final : public Http2Session {
 public:
  HeaderBomb() : Http2Session({}) {}

 protected:
  void Attack(std::string* out) override {
    const std::string headers = MakeCallHeaders(absl::StrCat(kGraph, "Status"));
    if (!begun_) {
      // A literal that enters the table (RFC 7541, 6.2.1), some 4000 bytes long.
      std::string entry = MakeHeader("x-bomb", std::string(3900, 'b'));
      entry[0] = 0x40;
      *out +=
          MakeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, NewStream(), headers + entry);
      begun_ = true;
    }
    constexpr char kNewestEntry = static_cast<char>(0x80 | 62);
    *out += MakeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, NewStream(),
                      headers + std::string(kFrameBytes - 1000, kNewestEntry));
  }

 private:
  bool begun_ = false;
};

// Connections that are made to be ended.
class Churn final : public HostileSession {
 public:
  void Say(std::string* /*out*/) override { done_ = true; }
  bool done() const override { return done_; }

 private:
  bool done_ = false;
};

template <typename Session, typename... Args>
Attack Flood(const std::string& name, const Args&... args) {
  Attack attack;
  attack.name = name;
  attack.make_session = [args...] { return std::make_unique<Session>(args...); };
  return attack;
}

Attack Repeating(const std::string& name, const Http2Manners& manners, const std::string& first,
                 const std::string& again) {
  return Flood<Repetition>(name, manners, first, again);
}

// StatusRequest.want_metrics: the dearest that Status can be asked for.
constexpr char kWantMetrics[] = "\x10\x01";

// An open call that has not said what it wants.
std::string OpenCall() {
  return MakeFrame(FrameType::kHeaders, kEndHeaders, 1,
                   MakeCallHeaders(absl::StrCat(kGraph, "FetchRows")));
}

}  // namespace

std::vector<Attack> FloodAttacks(const AttackTarget& target) {
  Http2Manners deaf;
  deaf.reads = false;
  const std::string table_size = MakeFrame(FrameType::kSettings, kNoFlags, 0, MakeSetting(1, 4096));
  std::vector<Attack> attacks = {
      Flood<ContinuationFlood>("CONTINUATION", kFrameBytes),
      Flood<ContinuationFlood>("empty CONTINUATION", size_t{0}),
      Flood<GiantHeader>("endless header"),
      Flood<HeaderBomb>("header bomb"),
      Flood<RapidReset>("rapid reset of rows", std::string("FetchRows")),
      Flood<RapidReset>("rapid reset of Status", std::string("Status")),
      Flood<GivenUpCalls>("rows asked for and given up", target.rows_request),
      Flood<CallFlood>("Status and Describe",
                       std::vector<CallFlood::Call>{{"/vicinity.proto.Graph/Status", kWantMetrics},
                                                    {"/vicinity.proto.Graph/Describe"}}),
      Flood<CallFlood>("Hello and health",
                       std::vector<CallFlood::Call>{{"/vicinity.proto.Graph/Hello"},
                                                    {"/grpc.health.v1.Health/Check"}}),
      Flood<CallFlood>("unknown methods", std::vector<CallFlood::Call>{{"/no.Such/Method"}}),
      Repeating("pings, not reading", deaf, "",
                MakeFrame(FrameType::kPing, kNoFlags, 0, "12345678")),
      Repeating("SETTINGS, not reading", deaf, "", table_size),
      Repeating("PRIORITY", {}, "",
                MakeFrame(FrameType::kPriority, kNoFlags, 1, std::string("\0\0\0\0\x10", 5))),
      Repeating("WINDOW_UPDATE", {}, OpenCall(), MakeWindowUpdate(0, 1) + MakeWindowUpdate(1, 1)),
      Repeating("empty DATA", {}, OpenCall(), MakeFrame(FrameType::kData, kNoFlags, 1, "")),
      Flood<Churn>("connect and close"),
  };
  for (Attack& attack : attacks) {
    // Calls that are answered, or could have been, are load, which is for the admission; who
    // connects and closes ends its connections itself. What comes beside a request that is on its
    // way counts as part of it, until that is as large as any may be, or late.
    if (attack.name == "Status and Describe" || attack.name == "Hello and health" ||
        attack.name == "rows asked for and given up" || attack.name == "connect and close" ||
        attack.name == "WINDOW_UPDATE" || attack.name == "empty DATA") {
      attack.must_be_cut = false;
    }
  }
  return attacks;
}

}  // namespace vicinity::testing
