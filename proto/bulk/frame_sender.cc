#include "proto/bulk/frame_sender.h"

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace vicinity::bulk {
namespace {

// Of one write: the kernel takes 1,024.
constexpr size_t kMostPieces = 128;
constexpr size_t kMostFrames = 32;

}  // namespace

void FrameSender::Send(Frame frame, size_t most) {
  Going going;
  frame.header.head_bytes = static_cast<uint16_t>(frame.head.size());
  frame.header.payload_bytes = static_cast<uint32_t>(frame.payload.Length());
  const HeaderBytes header = EncodeHeader(frame.header, frame.head);
  going.start.reserve(header.size() + frame.head.size());
  going.start.assign(header.data(), header.size());
  going.start += frame.head;
  if (frame.payload.Valid()) (void)frame.payload.Dump(&going.slices);
  going.size = going.start.size() + frame.header.payload_bytes;
  going.payload = std::move(frame.payload);
  going.waiter = std::move(frame.waiter);
  bool is_broken = false;
  {
    MutexLock lock(&mu_);
    is_broken = broken_;
    if (!is_broken) {
      (going.size <= kSmallFrameBytes ? small_ : large_).push_back(std::move(going));
      if (std::exchange(sending_, true)) return;
    }
  }
  if (!is_broken) return Flush(most);
  if (going.waiter != nullptr) going.waiter->OnSent(false);
}

void FrameSender::CanWrite() { Flush(kSomeBytes); }

size_t FrameSender::num_waiting() const {
  MutexLock lock(&mu_);
  return small_.size() + large_.size();
}

void FrameSender::Flush(size_t most) {
  for (size_t total = 0; TakeFrames();) {
    if (total >= most) return owner_->AwaitWritable();
    FillPieces();
    const absl::StatusOr<size_t> count = stream_->Write(pieces_);
    if (!count.ok()) {
      Break();
      FailAll();
      return owner_->OnBroken(count.status());
    }
    if (*count == 0) return owner_->AwaitWritable();
    total += *count;
    Went(*count);
  }
}

bool FrameSender::TakeFrames() {
  MutexLock lock(&mu_);
  while (going_.size() < kMostFrames && !small_.empty()) {
    const auto behind = going_.begin() + static_cast<int64_t>(num_offered_);
    auto at = going_.end();
    if (!going_.empty() && going_.back().size > kSmallFrameBytes && behind != going_.end()) --at;
    going_.insert(at, std::move(small_.front()));
    small_.pop_front();
  }
  if (going_.empty() && !large_.empty()) {
    going_.push_back(std::move(large_.front()));
    large_.pop_front();
  }
  if (going_.empty()) sending_ = false;
  return !going_.empty();
}

void FrameSender::FillPieces() {
  pieces_.clear();
  size_t skipped = gone_;
  const auto add = [&](const void* data, size_t size) {
    if (skipped >= size) {
      skipped -= size;
    } else if (pieces_.size() < kMostPieces) {
      pieces_.push_back({static_cast<char*>(const_cast<void*>(data)) + skipped, size - skipped});
      skipped = 0;
    }
  };
  num_offered_ = 0;
  for (const Going& frame : going_) {
    if (pieces_.size() == kMostPieces) break;
    ++num_offered_;
    add(frame.start.data(), frame.start.size());
    for (const grpc::Slice& slice : frame.slices) add(slice.begin(), slice.size());
  }
}

void FrameSender::Went(size_t count) {
  gone_ += count;
  while (!going_.empty() && gone_ >= going_.front().size) {
    gone_ -= going_.front().size;
    // Let go of before its waiter goes on: what it makes next may take the same memory.
    std::shared_ptr<Waiter> waiter = std::move(going_.front().waiter);
    going_.pop_front();
    --num_offered_;
    if (waiter != nullptr) waiter->OnSent(true);
  }
}

void FrameSender::Break() {
  std::deque<Going> dropped;
  std::deque<Going> more;
  {
    MutexLock lock(&mu_);
    broken_ = true;
    dropped.swap(small_);
    more.swap(large_);
  }
  for (std::deque<Going>* const frames : {&dropped, &more}) {
    for (const Going& frame : *frames) {
      if (frame.waiter != nullptr) frame.waiter->OnSent(false);
    }
  }
}

void FrameSender::FailAll() {
  std::deque<Going> failed;
  failed.swap(going_);
  gone_ = 0;
  num_offered_ = 0;
  for (const Going& frame : failed) {
    if (frame.waiter != nullptr) frame.waiter->OnSent(false);
  }
  // Nobody sends again: sending_ stays, so that nobody may think that it could.
}

}  // namespace vicinity::bulk
