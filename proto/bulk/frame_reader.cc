#include "proto/bulk/frame_reader.h"

#include <algorithm>
#include <cstring>

#include "proto/common/status.h"

namespace vicinity::bulk {
namespace {

constexpr size_t kMostAtOnce = 2 << 20;

}  // namespace

absl::StatusOr<bool> FrameReader::ReadFrom(ByteStream* stream, Handler* handler) {
  for (total_ = 0; total_ < kMostAtOnce;) {
    VICINITY_ASSIGN_OR_RETURN(const bool was_full, Fill(stream));
    for (bool more = first_ahead_ < end_ahead_ || has_head_; more;) {
      VICINITY_ASSIGN_OR_RETURN(more, Advance(handler));
    }
    if (!was_full) return true;
  }
  return false;
}

// What is read ahead is all taken apart by now, but for less than there is room for behind it.
absl::StatusOr<bool> FrameReader::Fill(ByteStream* stream) {
  first_ahead_ = end_ahead_ = 0;
  const size_t wanted = has_head_ ? header_.payload_bytes - num_payload_ : 0;
  const iovec pieces[] = {{payload_.get() + num_payload_, wanted}, {ahead_.data(), ahead_.size()}};
  VICINITY_ASSIGN_OR_RETURN(const size_t count,
                            stream->Read(absl::MakeConstSpan(pieces).subspan(wanted == 0 ? 1 : 0)));
  num_payload_ += std::min(count, wanted);
  end_ahead_ = count - std::min(count, wanted);
  total_ += count;
  return count == wanted + ahead_.size();
}

size_t FrameReader::Take(char* to, size_t count) {
  const size_t taken = std::min(count, end_ahead_ - first_ahead_);
  if (taken > 0) std::memcpy(to, ahead_.data() + first_ahead_, taken);
  first_ahead_ += taken;
  return taken;
}

absl::StatusOr<bool> FrameReader::Advance(Handler* handler) {
  if (!has_header_) {
    num_header_ += Take(header_bytes_.data() + num_header_, kHeaderBytes - num_header_);
    if (num_header_ < kHeaderBytes) return false;
    VICINITY_ASSIGN_OR_RETURN(header_, DecodeHeader(header_bytes_, sender_));
    has_header_ = true;
    head_.resize(header_.head_bytes);
    num_head_ = 0;
  }
  if (!has_head_) {
    num_head_ += Take(head_.data() + num_head_, head_.size() - num_head_);
    if (num_head_ < head_.size()) return false;
    VICINITY_RETURN_IF_ERROR(CheckHeader(header_bytes_, head_));
    VICINITY_RETURN_IF_ERROR(handler->OnHeader(header_, head_));
    has_head_ = true;
    num_payload_ = 0;
    MakeRoom();
  }
  num_payload_ += Take(payload_.get() + num_payload_, header_.payload_bytes - num_payload_);
  if (num_payload_ < header_.payload_bytes) return false;
  VICINITY_RETURN_IF_ERROR(
      handler->OnFrame(header_, head_, {payload_.get(), header_.payload_bytes}));
  has_header_ = has_head_ = false;
  num_header_ = num_payload_ = 0;
  if (capacity_ > keep_bytes_) {
    payload_.reset();
    capacity_ = 0;
  }
  return first_ahead_ < end_ahead_;
}

void FrameReader::MakeRoom() {
  if (header_.payload_bytes <= capacity_) return;
  // Not made zero: that would touch all of it.
  payload_.reset(new char[header_.payload_bytes]);
  capacity_ = header_.payload_bytes;
}

}  // namespace vicinity::bulk
