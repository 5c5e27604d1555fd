// What servers have done while a trainer was watched, as far as it tells what made it wait.
#pragma once

#include <string>
#include <vector>

#include "client/why/metric_samples.h"

namespace vicinity {

// Of a server over some time.
struct ServerNumbers {
  std::string name;
  double seconds = 0;
  double cpu_seconds = 0;
  double cpu_wait_seconds = 0;  // of threads that were ready to run and had no core
  double cores = 0;             // that it may use; 0: not known
  double running = 0;           // calls for data that had their turn, at a time
  double waiting = 0;           // calls for data that waited for it
  double threads_on_disk = 0;   // at a time
  double read_bytes = 0;        // from disks
  double major_faults = 0;
  double sent_bytes = 0;
  double refused_calls = 0;
  double file_bytes = 0;      // of its shards
  double resident_bytes = 0;  // of these, in memory

  // The part of its cores that it used and could have used: above 1 threads wait for cores.
  double CpuDemand() const;
};

// Collects readings of one server.
//
// Threads: one at a time.
class ServerWatch {
 public:
  explicit ServerWatch(std::string name) : name_(std::move(name)) {}

  // All that the server counts, `at` so many seconds on any clock; rising.
  void Add(double at, const MetricSamples& samples);

  int num_readings() const { return num_readings_; }
  // Counters between the first reading and the last, gauges as their means.
  ServerNumbers Numbers() const;

 private:
  const std::string name_;
  int num_readings_ = 0;
  double first_at_ = 0;
  double last_at_ = 0;
  ServerNumbers first_;
  ServerNumbers last_;
  ServerNumbers sums_;  // of gauges
};

}  // namespace vicinity
