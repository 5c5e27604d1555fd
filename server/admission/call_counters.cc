#include "server/admission/call_counters.h"

#include <utility>

namespace vicinity {

CallCounters::CallCounters(std::vector<std::string> methods)
    : methods_(std::move(methods)), cells_(new Cell[methods_.size()]) {}

CallCounters::Running::Running(CallCounters* counters, size_t method)
    : counters_(counters), method_(method), begun_(std::chrono::steady_clock::now()) {
  counters_->cells_[method_].started.Add();
  counters_->in_flight_.Add(1);
}

CallCounters::Running::~Running() {
  Cell& cell = counters_->cells_[method_];
  cell.time.Add(std::chrono::steady_clock::now() - begun_);
  if (!ok_) cell.failed.Add();
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
  counts.failed = cell.failed.value();
  counts.bytes_sent = cell.bytes_sent.value();
  counts.bytes_received = cell.bytes_received.value();
  counts.bytes_copied = cell.bytes_copied.value();
  counts.busy_seconds = cell.time.seconds();
  return counts;
}

void CallCounters::AddMetrics(MetricRegistry::Group* group) const {
  for (size_t i = 0; i < methods_.size(); ++i) {
    if (methods_[i].empty()) continue;
    const Cell& cell = cells_[i];
    const MetricLabels labels = {{"method", methods_[i]}};
    group->Add({"vicinity_server_calls_total", "Calls begun"}, labels, &cell.started);
    group->Add({"vicinity_server_calls_failed_total", "Calls that ended with an error"}, labels,
               &cell.failed);
    group->Add({"vicinity_server_sent_bytes_total", "Payload of replies"}, labels,
               &cell.bytes_sent);
    group->Add({"vicinity_server_received_bytes_total", "Payload of requests"}, labels,
               &cell.bytes_received);
    group->Add({"vicinity_server_copied_bytes_total", "Payload copied on its way, each time"},
               labels, &cell.bytes_copied);
    group->Add(
        {"vicinity_server_call_seconds", "Time from request to end of calls that have ended"},
        labels, &cell.time);
  }
  group->Add({"vicinity_server_calls_in_flight", "Calls under way", MetricKind::kGauge}, {},
             [this] { return static_cast<double>(in_flight()); });
}

}  // namespace vicinity
