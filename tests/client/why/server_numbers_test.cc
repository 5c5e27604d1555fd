#include "client/why/server_numbers.h"

#include <catch2/catch.hpp>
#include <string>

#include "client/why/metric_samples.h"

namespace vicinity {
namespace {

MetricSamples Scrape(double cpu, double waited, double running, double on_disk, double read) {
  return {{"process_cpu_seconds_total", {}, cpu},
          {"vicinity_server_cpu_wait_seconds_total", {}, waited},
          {"vicinity_server_cores", {}, 2},
          {"vicinity_server_admitted_calls", {{"lane", "data"}, {"state", "running"}}, running},
          {"vicinity_server_admitted_calls", {{"lane", "data"}, {"state", "waiting"}}, 1},
          {"vicinity_server_admitted_calls", {{"lane", "small"}, {"state", "running"}}, 9},
          {"vicinity_server_threads_on_disk", {}, on_disk},
          {"vicinity_server_disk_read_bytes_total", {}, read},
          {"vicinity_server_major_faults_total", {}, read / 4096},
          {"vicinity_server_sent_bytes_total", {{"method", "FetchRows"}}, 100},
          {"vicinity_server_shard_file_bytes", {{"shard", "0"}}, 1000},
          {"vicinity_server_shard_file_bytes", {{"shard", "1"}}, 500},
          {"vicinity_server_resident_bytes", {{"tier", "files"}}, 700},
          {"vicinity_server_resident_bytes", {{"tier", "heap"}}, 70}};
}

TEST_CASE("counters are those between the readings, gauges means of them", "[why]") {
  ServerWatch watch("a");
  watch.Add(100, Scrape(10, 1, 2, 0, 4096));
  watch.Add(102, Scrape(11, 1, 4, 1, 8192));
  watch.Add(104, Scrape(14, 3, 0, 2, 12288));
  CHECK(watch.num_readings() == 3);
  const ServerNumbers numbers = watch.Numbers();
  CHECK(numbers.name == "a");
  CHECK(numbers.seconds == 4);
  CHECK(numbers.cpu_seconds == 4);
  CHECK(numbers.cpu_wait_seconds == 2);
  CHECK(numbers.cores == 2);
  CHECK(numbers.running == 2);
  CHECK(numbers.waiting == 1);
  CHECK(numbers.threads_on_disk == 1);
  CHECK(numbers.read_bytes == 8192);
  CHECK(numbers.major_faults == 2);
  CHECK(numbers.sent_bytes == 0);
  CHECK(numbers.file_bytes == 1500);
  CHECK(numbers.resident_bytes == 700);
  CHECK(numbers.CpuDemand() == Approx(6.0 / 8));
}

TEST_CASE("a server that does not say how many cores it has wants none", "[why]") {
  ServerWatch watch("old");
  watch.Add(0, {{"process_cpu_seconds_total", {}, 1}});
  CHECK(watch.Numbers().CpuDemand() == 0);
  watch.Add(1, {{"process_cpu_seconds_total", {}, 9}});
  CHECK(watch.Numbers().CpuDemand() == 0);
}

}  // namespace
}  // namespace vicinity
