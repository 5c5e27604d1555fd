#include "server/calls/server_tracing.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/telemetry/trace/span.h"
#include "proto/version.h"

namespace vicinity {
namespace {

constexpr int64_t kMostSlowLines = 10;  // a second
constexpr int64_t kMostShown = 1000;    // traces, asked for at once
constexpr int64_t kMostReplyBytes = int64_t{3} << 20;
constexpr int64_t kJsonBytesOfSpan = 300;  // beside what it has in memory

TraceResource ResourceOf(const std::string& server) {
  return {{"service.name", "vicinityd"},
          {"service.instance.id", server},
          {"service.version", kVersion}};
}

int64_t JsonBytes(const Spans& spans) {
  int64_t bytes = 0;
  for (const Span& span : spans) bytes += span.num_bytes() + kJsonBytesOfSpan;
  return bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerTracing>> ServerTracing::Start(const TracingOptions& options,
                                                                    const std::string& server) {
  std::unique_ptr<ServerTracing> tracing(new ServerTracing(options, server));
  Tracer::Options to;
  to.max_ops_per_second = options.max_calls_per_second;
  to.sinks.push_back(&tracing->ring_);
  OtlpExporter::Options exported;
  exported.url = OtlpUrl(options.otlp_endpoint);
  exported.resource = tracing->resource_;
  if (!exported.url.empty() && options.max_calls_per_second > 0) {
    VICINITY_ASSIGN_OR_RETURN(tracing->exporter_, OtlpExporter::Start(std::move(exported)));
    to.sinks.push_back(tracing->exporter_.get());
  }
  tracing->tracer_ = std::make_unique<Tracer>(std::move(to));
  return tracing;
}

ServerTracing::ServerTracing(const TracingOptions& options, const std::string& server)
    : options_(options), resource_(ResourceOf(server)), ring_(options.ring_bytes) {}

bool ServerTracing::IsSlow(std::chrono::nanoseconds length, int64_t* left_out) {
  if (!LooksForSlow() || length < options_.slow_call) return false;
  slow_calls_.Add();
  const int64_t second = std::chrono::duration_cast<std::chrono::seconds>(
                             std::chrono::steady_clock::now().time_since_epoch())
                             .count();
  if (slow_second_.exchange(second) != second) slow_in_second_ = 0;
  if (slow_in_second_.fetch_add(1) >= kMostSlowLines) {
    slow_left_out_.fetch_add(1);
    return false;
  }
  *left_out = slow_left_out_.exchange(0);
  return true;
}

absl::StatusOr<proto::TracesReply> ServerTracing::Show(const proto::TracesRequest& request) const {
  if (request.slowest() > kMostShown || request.trace_ids_size() > kMostShown) {
    return absl::InvalidArgumentError(absl::StrCat("traces: ", request.slowest(), " slowest and ",
                                                   request.trace_ids_size(), " ids, at most ",
                                                   kMostShown, " of each can be asked for"));
  }
  std::vector<Spans> found = ring_.Slowest(request.slowest());
  if (request.trace_ids_size() > 0) {
    const std::vector<std::string> ids(request.trace_ids().begin(), request.trace_ids().end());
    found = ring_.Of(ids);
  }
  size_t shown = 0;
  int64_t bytes = 0;
  while (shown < found.size() && bytes + JsonBytes(found[shown]) <= kMostReplyBytes) {
    bytes += JsonBytes(found[shown++]);
  }
  proto::TracesReply reply;
  reply.set_left_out(found.size() - shown);
  found.resize(shown);
  reply.set_otlp(OtlpJson(resource_, found));
  return reply;
}

void ServerTracing::AddMetrics(MetricRegistry::Group* group) const {
  tracer_->AddMetrics("server", group);
  group->Add(
      {"vicinity_server_trace_sent_total", "Spans that the collector has taken"}, {},
      [this] { return exporter_ != nullptr ? static_cast<double>(exporter_->sent()) : 0.0; });
  group->Add({"vicinity_server_trace_dropped_total",
              "Spans that were for the collector, and that it has not taken"},
             {}, [this] {
               return exporter_ != nullptr ? static_cast<double>(exporter_->dropped()) : 0.0;
             });
  group->Add({"vicinity_server_slow_calls_total", "Calls that took longer than --slow-call-ms"}, {},
             &slow_calls_);
}

}  // namespace vicinity
