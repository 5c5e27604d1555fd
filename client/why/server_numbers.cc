#include "client/why/server_numbers.h"

#include <utility>

namespace vicinity {
namespace {

ServerNumbers Read(const MetricSamples& samples) {
  ServerNumbers numbers;
  numbers.cpu_seconds = SumOf(samples, "process_cpu_seconds_total");
  numbers.cpu_wait_seconds = SumOf(samples, "vicinity_server_cpu_wait_seconds_total");
  numbers.cores = SumOf(samples, "vicinity_server_cores");
  constexpr char kCalls[] = "vicinity_server_admitted_calls";
  numbers.running = SumOf(samples, kCalls, {{"lane", "data"}, {"state", "running"}});
  numbers.waiting = SumOf(samples, kCalls, {{"lane", "data"}, {"state", "waiting"}});
  numbers.threads_on_disk = SumOf(samples, "vicinity_server_threads_on_disk");
  numbers.read_bytes = SumOf(samples, "vicinity_server_disk_read_bytes_total");
  numbers.major_faults = SumOf(samples, "vicinity_server_major_faults_total");
  numbers.sent_bytes = SumOf(samples, "vicinity_server_sent_bytes_total");
  numbers.refused_calls = SumOf(samples, "vicinity_server_refused_calls_total");
  numbers.file_bytes = SumOf(samples, "vicinity_server_shard_file_bytes");
  numbers.resident_bytes = SumOf(samples, "vicinity_server_resident_bytes", {{"tier", "files"}});
  return numbers;
}

constexpr double ServerNumbers::*kCounters[] = {
    &ServerNumbers::cpu_seconds,  &ServerNumbers::cpu_wait_seconds, &ServerNumbers::read_bytes,
    &ServerNumbers::major_faults, &ServerNumbers::sent_bytes,       &ServerNumbers::refused_calls};
constexpr double ServerNumbers::*kGauges[] = {&ServerNumbers::running, &ServerNumbers::waiting,
                                              &ServerNumbers::threads_on_disk};

}  // namespace

double ServerNumbers::CpuDemand() const {
  if (cores <= 0 || seconds <= 0) return 0;
  return (cpu_seconds + cpu_wait_seconds) / (seconds * cores);
}

void ServerWatch::Add(double at, const MetricSamples& samples) {
  last_ = Read(samples);
  last_at_ = at;
  if (num_readings_ == 0) {
    first_ = last_;
    first_at_ = at;
  }
  ++num_readings_;
  for (double ServerNumbers::*const gauge : kGauges) sums_.*gauge += last_.*gauge;
}

ServerNumbers ServerWatch::Numbers() const {
  ServerNumbers numbers = last_;
  numbers.name = name_;
  numbers.seconds = last_at_ - first_at_;
  for (double ServerNumbers::*const counter : kCounters) numbers.*counter -= first_.*counter;
  for (double ServerNumbers::*const gauge : kGauges) {
    if (num_readings_ > 0) numbers.*gauge = sums_.*gauge / num_readings_;
  }
  return numbers;
}

}  // namespace vicinity
