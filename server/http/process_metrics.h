// What Prometheus' own libraries tell of every process, by the same names, and which build this is.
#pragma once

#include "proto/telemetry/registry.h"

namespace vicinity {

// process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
// process_open_fds, process_max_fds, process_threads and process_start_time_seconds: read from
// /proc when they are asked for, 0 where the kernel does not tell. vicinity_server_resident_bytes
// says what resident memory is of: mapped files (whose hot part it is), the heap, shared memory.
// vicinity_server_cores, _cpu_wait_seconds_total, _threads_on_disk, _disk_read_bytes_total and
// _major_faults_total say whether it is short of cores or waits for disks.
// And vicinity_build_info is always 1, its label the version.
void AddProcessMetrics(MetricRegistry::Group* group);

}  // namespace vicinity
