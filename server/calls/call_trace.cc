#include "server/calls/call_trace.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/human_text.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace/tracer.h"
#include "server/calls/operations.h"

namespace vicinity {
namespace {

double Seconds(CallTrace::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void CallTrace::Begins(ServerTracing* tracing, absl::string_view path,
                       absl::string_view traceparent, int64_t request_bytes) {
  if (tracing == nullptr) return;
  const auto caller = ParseTraceparent({traceparent.data(), traceparent.size()});
  const bool is_recorded = caller.has_value() && tracing->tracer()->Admits(*caller);
  if (!is_recorded && !tracing->LooksForSlow()) return;
  if (is_recorded) caller_ = *caller;
  tracing_ = tracing;
  path_ = path;
  request_bytes_ = request_bytes;
  begun_ = Clock::now();
}

void CallTrace::WorksAt(Clock::time_point now) {
  if (!works_.has_value()) works_ = now;
  works_since_ = now;
}

void CallTrace::MadeAt(Clock::time_point now, int64_t payload) {
  made_ = now;
  work_ += now - works_since_;
  payload_ += payload;
  ++messages_;
}

std::string CallTrace::OverAt(Clock::time_point now, absl::string_view peer) {
  if (caller_.is_valid()) Record(now, peer);
  int64_t left_out = 0;
  if (!tracing_->IsSlow(now - begun_, &left_out)) return "";
  std::string line = absl::StrFormat(
      "slow call: %s by %s took %.3f s: waited %.3f s for its turn, worked %.3f s, sent %s in "
      "%.3f s: %s",
      std::string(MethodName(path_)), std::string(peer), Seconds(now - begun_),
      Seconds(works_.value_or(now) - begun_), Seconds(work_), HumanBytes(payload_),
      sends_.has_value() ? Seconds(now - *sends_) : 0.0, absl::StatusCodeToString(code_));
  if (left_out > 0) absl::StrAppend(&line, " (", left_out, " slow calls before had no line)");
  return line;
}

void CallTrace::Record(Clock::time_point now, absl::string_view peer) const {
  SpanTree tree(StartSpan(caller_), caller_.span, SpanKind::kServer, std::string(MethodName(path_)),
                begun_);
  tree.End(tree.Begin("queue", SpanKind::kInternal, begun_), absl::StatusCode::kOk,
           works_.value_or(now));
  if (works_.has_value()) {
    const size_t work = tree.Begin("work", SpanKind::kInternal, *works_);
    tree.part(work).Set("busy_ns",
                        std::chrono::duration_cast<std::chrono::nanoseconds>(work_).count());
    tree.part(work).Set("messages", messages_);
    tree.End(work, absl::StatusCode::kOk, messages_ > 0 ? made_ : now);
  }
  if (sends_.has_value()) {
    tree.End(tree.Begin("send", SpanKind::kInternal, *sends_), absl::StatusCode::kOk, now);
  }
  tree.root().Set("rpc.system", "grpc");
  tree.root().Set("rpc.method", std::string(path_.substr(path_.empty() ? 0 : 1)));
  tree.root().Set("peer", std::string(peer));
  tree.root().Set("request_bytes", request_bytes_);
  tree.root().Set("reply_bytes", payload_);
  tracing_->tracer()->Record(tree.Finish(code_, now));
}

}  // namespace vicinity
