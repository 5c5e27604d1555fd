#include "tests/testing/attacks/http2_session.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace vicinity::testing {

void Http2Session::Say(std::string* out) {
  if (!begun_) {
    absl::StrAppend(out, kPreface, MakeFrame(FrameType::kSettings, kNoFlags, 0, manners_.settings),
                    MakeWindowUpdate(0, 1 << 30));  // as much as anybody likes to send
    begun_ = true;
  }
  out->append(answers_);
  answers_.clear();
  Attack(out);
}

void Http2Session::Hear(absl::string_view bytes) {
  reader_.Add(bytes);
  while (const std::optional<Http2Frame> frame = reader_.Next()) {
    const bool acknowledges = (frame->flags & kAck) != 0;
    switch (frame->type) {
      case FrameType::kSettings:
        if (acknowledges || !manners_.acknowledges) break;
        answers_ += MakeFrame(FrameType::kSettings, kAck, 0, "");
        break;
      case FrameType::kPing:
        if (acknowledges || !manners_.acknowledges) break;
        answers_ += MakeFrame(FrameType::kPing, kAck, 0, frame->payload);
        break;
      case FrameType::kWindowUpdate: {
        if (frame->stream != 0 || frame->payload.size() != 4) break;
        for (int i = 0, shift = 24; i < 4; ++i, shift -= 8) {
          window_ += int64_t{static_cast<uint8_t>(frame->payload[i])} << shift;
        }
        break;
      }
      case FrameType::kHeaders:
        if ((frame->flags & kEndStream) != 0) Ended(frame->stream);
        break;
      case FrameType::kReset:
        Ended(frame->stream);
        break;
      default:
        break;
    }
  }
}

}  // namespace vicinity::testing
