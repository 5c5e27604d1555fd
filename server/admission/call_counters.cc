#include "server/admission/call_counters.h"

#include <iterator>
#include <utility>

namespace vicinity {
namespace {

// As Go's library for gRPC writes codes, whose dashboards and alerts go by these texts.
constexpr const char* kCodeNames[] = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

size_t PlaceOf(absl::StatusCode code) {
  const auto place = static_cast<size_t>(code);
  return place < std::size(kCodeNames) ? place : static_cast<size_t>(absl::StatusCode::kUnknown);
}

MetricLabels LabelsOf(const CountedMethod& method) {
  return {{"grpc_type", method.has_stream ? "server_stream" : "unary"},
          {"grpc_service", method.service},
          {"grpc_method", method.method}};
}

}  // namespace

CallCounters::CallCounters(std::vector<CountedMethod> methods)
    : methods_(std::move(methods)), cells_(new Cell[methods_.size()]) {}

CallCounters::Running::Running(CallCounters* counters, size_t method)
    : counters_(counters), method_(method), begun_(std::chrono::steady_clock::now()) {
  counters_->cells_[method_].started.Add();
  counters_->in_flight_.Add(1);
}

CallCounters::Running::~Running() {
  Cell& cell = counters_->cells_[method_];
  cell.time.Add(std::chrono::steady_clock::now() - begun_);
  cell.ended[PlaceOf(code_)].Add();
  counters_->in_flight_.Add(-1);
}

void CallCounters::Running::AddReceived(int64_t bytes) {
  counters_->cells_[method_].bytes_received.Add(bytes);
}

void CallCounters::Running::AddCopied(int64_t bytes) {
  counters_->cells_[method_].bytes_copied.Add(bytes);
}

void CallCounters::Running::AddSent(int64_t bytes) {
  counters_->cells_[method_].bytes_sent.Add(bytes);
}

MethodCounts CallCounters::counts(size_t method) const {
  const Cell& cell = cells_[method];
  MethodCounts counts;
  counts.started = cell.started.value();
  for (size_t code = 1; code < kNumCodes; ++code) counts.failed += cell.ended[code].value();
  counts.bytes_sent = cell.bytes_sent.value();
  counts.bytes_received = cell.bytes_received.value();
  counts.bytes_copied = cell.bytes_copied.value();
  counts.busy_seconds = cell.time.seconds();
  return counts;
}

void CallCounters::AddMetrics(MetricRegistry::Group* group) const {
  static_assert(std::size(kCodeNames) == kNumCodes);
  for (size_t i = 0; i < methods_.size(); ++i) {
    if (methods_[i].method.empty()) continue;
    const Cell& cell = cells_[i];
    const MetricLabels of_grpc = LabelsOf(methods_[i]);
    group->Add({"grpc_server_started_total", "Calls begun"}, of_grpc, &cell.started);
    for (size_t code = 0; code < kNumCodes; ++code) {
      MetricLabels labels = of_grpc;
      labels.emplace_back("grpc_code", kCodeNames[code]);
      group->Add({"grpc_server_handled_total", "Calls that have ended, by code"}, std::move(labels),
                 &cell.ended[code]);
    }
    group->Add(
        {"grpc_server_handling_seconds", "Time from request to end of calls that have ended"},
        of_grpc, &cell.time);
    const MetricLabels labels = {{"method", methods_[i].method}};
    group->Add({"vicinity_server_sent_bytes_total", "Payload of replies"}, labels,
               &cell.bytes_sent);
    group->Add({"vicinity_server_received_bytes_total", "Payload of requests"}, labels,
               &cell.bytes_received);
    group->Add({"vicinity_server_copied_bytes_total", "Payload copied on its way, each time"},
               labels, &cell.bytes_copied);
  }
  group->Add({"vicinity_server_calls_in_flight", "Calls under way", MetricKind::kGauge}, {},
             [this] { return static_cast<double>(in_flight()); });
}

}  // namespace vicinity
