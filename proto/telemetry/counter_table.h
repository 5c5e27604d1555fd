// A struct of counters, described once: a table from which its statistics are read and its metrics
// registered.
//
//   struct Counts { int64_t calls; };                       // for users
//   struct Counters { Counter calls; };                     // what the code adds to
//   constexpr CounterRow<Counts, Counters> kRows[] = {
//       {"vicinity_client_calls_total", "RPCs made", &Counts::calls, &Counters::calls}};
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

template <typename Counts, typename Counters>
struct CounterRow {
  const char* name;
  const char* help;
  int64_t Counts::*count;
  Counter Counters::*counter;
};

// Numbers are read one by one.
template <typename Counts, typename Counters, size_t kSize>
Counts ReadCounters(const CounterRow<Counts, Counters> (&rows)[kSize], const Counters& counters) {
  Counts counts;
  for (const CounterRow<Counts, Counters>& row : rows) {
    counts.*row.count = (counters.*row.counter).value();
  }
  return counts;
}

// `counters` must outlive the group.
template <typename Counts, typename Counters, size_t kSize>
void RegisterCounters(const CounterRow<Counts, Counters> (&rows)[kSize], const Counters& counters,
                      const MetricLabels& labels, MetricRegistry::Group* group) {
  for (const CounterRow<Counts, Counters>& row : rows) {
    group->Add({row.name, row.help, MetricKind::kCounter}, labels, &(counters.*row.counter));
  }
}

}  // namespace vicinity
