// What most attacks have in common: HTTP/2 is begun, settings and pings are acknowledged, and the
// window is kept account of.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/testing/attacks/hostile_session.h"
#include "tests/testing/attacks/http2_frames.h"

namespace vicinity::testing {

struct Http2Manners {
  std::string settings;      // the payload of the first SETTINGS
  bool acknowledges = true;  // the server's SETTINGS and pings
  bool reads = true;
};

class Http2Session : public HostileSession {
 public:
  explicit Http2Session(const Http2Manners& manners) : manners_(manners) {}

  void Say(std::string* out) final;
  void Hear(absl::string_view bytes) final;
  bool reads() const final { return manners_.reads; }

 protected:
  // What the attack says; Say begins HTTP/2 before the first, and goes on with this.
  virtual void Attack(std::string* out) = 0;
  // Of a stream that the server has ended, by trailers or a reset.
  virtual void Ended(uint32_t /*stream*/) {}

  // Streams of clients are odd.
  uint32_t NewStream() {
    next_stream_ += 2;
    return next_stream_;
  }
  int64_t window() const { return window_; }  // bytes of DATA that the connection takes
  void TakeWindow(int64_t bytes) { window_ -= bytes; }

 private:
  const Http2Manners manners_;
  FrameReader reader_;
  std::string answers_;  // to settings and pings
  bool begun_ = false;
  uint32_t next_stream_ = 0xffffffff;  // 1 is next
  int64_t window_ = 65'535;
};

}  // namespace vicinity::testing
