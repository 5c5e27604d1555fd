// One writer's way to one shard: its batches are numbered, and one is under way at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "partition/overlay/live_values.h"
#include "proto/live.pb.h"

namespace vicinity {

// A batch as it was sent, to be sent again as it was.
struct SentBatch {
  proto::WriteSession session;
  proto::WriteBatch batch;
  AppliedBatch applied{};
  bool unsure = false;   // an attempt got no answer, so it may be applied
  bool renewed = false;  // it was sent in another session first, which the server did not know
};

// A batch that nobody knows to be applied keeps its number until that is known: no other may have
// it, and none may come before.
//
// Threads: one at a time.
class WriteLane {
 public:
  // Under way, or given up without an answer; null: none.
  SentBatch* sent() const { return sent_.get(); }

  // `session` is the id to begin with, if it has none yet.
  template <typename MakeSession>
  SentBatch* Begin(proto::WriteBatch batch, const MakeSession& make_session) {
    if (session_.empty()) session_ = make_session();
    sent_ = std::make_unique<SentBatch>();
    sent_->batch = std::move(batch);
    Number();
    return sent_.get();
  }
  void OnApplied() {
    last_ = sent_->session.sequence();
    sent_.reset();
  }
  // It is refused, or was never on its way: the next one has its number. In another session, if an
  // attempt without an answer might still come to take it.
  template <typename MakeSession>
  void Drop(const MakeSession& make_session) {
    if (sent_->unsure) Renew(make_session());
    sent_.reset();
  }
  // The server has forgotten the session.
  void BeginSession(std::string session) {
    Renew(std::move(session));
    sent_->renewed = true;
    Number();
  }

 private:
  void Renew(std::string session) {
    session_ = std::move(session);
    last_ = 0;
  }
  void Number() {
    sent_->session.set_id(session_);
    sent_->session.set_sequence(last_ + 1);
  }

  std::string session_;
  uint64_t last_ = 0;  // applied of the session
  std::unique_ptr<SentBatch> sent_;
};

}  // namespace vicinity
