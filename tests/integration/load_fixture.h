// What the tests share that put a real daemon under load.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/integration/data_client.h"
#include "tests/testing/memory_cgroup.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/testbed.h"

namespace vicinity::testing {

// A real daemon over a certified graph of one shard, for tests that load it.
class LoadFixture {
 protected:
  void Start(std::vector<std::string> flags = {}, int64_t row_bytes = 256) {
    TestbedOptions options;
    options.graph.num_nodes = 20'000;
    options.graph.row_bytes = row_bytes;
    options.server_flags = std::move(flags);
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(options));
  }
  std::unique_ptr<DataClient> Connect(int connections, const std::string& name = "",
                                      bool small_windows = false) const {
    DataClientOptions options;
    options.address = testbed_->address(0).ToString();
    options.connections = connections;
    options.name = name;
    options.small_windows = small_windows;
    auto client = DataClient::Connect(&testbed_->graph(), options);
    VICINITY_REQUIRE_OK(client);
    return *std::move(client);
  }
  ProcessUse Use() const {
    const auto use = testbed_->Use(0);
    VICINITY_REQUIRE_OK(use);
    return *use;
  }
  bool FilesComeBackTo(int64_t open_files) const {
    for (int i = 0; i < 3000 && Use().open_files > open_files; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Use().open_files <= open_files;
  }

  // The server may hold so many bytes, and the kernel sees to it where it lets us say so.
  void Confine(int64_t bytes) {
    auto group = MemoryCgroup::Create(bytes * kSlower);
    const absl::Status confined = group.ok() ? (*group)->Add(testbed_->pid(0)) : group.status();
    if (!confined.ok()) {
      WARN("not in a memory cgroup: " << confined);
      return;
    }
    group_ = *std::move(group);
  }
  void CheckConfined() const {
    if (group_ == nullptr) return;
    std::cout << "in its memory cgroup at most " << (group_->most_bytes() >> 20) << " MiB\n";
    CHECK(group_->most_bytes() > 0);
    CHECK(group_->killed() == 0);
  }

  std::unique_ptr<MemoryCgroup> group_;  // goes after its process
  std::unique_ptr<Testbed> testbed_;
};

}  // namespace vicinity::testing
