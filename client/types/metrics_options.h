// Where a trainer shows what it counts.
//
// Public header: standard C++ alone.
#pragma once

#include <chrono>
#include <string>

namespace vicinity {

// All that a graph and its loaders count, as text for Prometheus (docs/metrics.md). Nothing is
// shown unless it is asked for.
struct MetricsOptions {
  // Written anew every `interval` and when a loader ends, by rename: a reader sees the old text or
  // the new, never half. Prometheus' node_exporter reads it (--collector.textfile.directory) if its
  // name ends with .prom. It stays when the graph is gone, as the last loader left it: `vicinity
  // why` reads it then. Empty: none.
  std::string file;
  std::chrono::milliseconds interval{15000};
  // "host:port", port 0 for one that is free: http://host:port/metrics. Empty: none.
  std::string listen;
  bool open = false;  // listen beyond loopback, where anybody may read it, without TLS
  // The value of a label `trainer` of every series, by which trainers of one machine are told
  // apart: few values over all runs, as "0", "1". Empty: no label.
  std::string trainer;
};

}  // namespace vicinity
