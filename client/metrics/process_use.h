// What a trainer's process has of its machine.
#pragma once

#include "proto/telemetry/registry.h"

namespace vicinity {

// vicinity_client_cpu_seconds_total, vicinity_client_cores and vicinity_client_resident_bytes: of
// the whole process, whatever else it does. They have not the names of Prometheus' own libraries,
// process_*, which a trainer's other exporters and node_exporter have already.
void AddProcessUse(MetricRegistry::Group* group);

}  // namespace vicinity
