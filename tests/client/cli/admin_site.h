// A server "a" of this process with an admin port, which logs, and a cluster file that also names
// "b", which does not run, and "c", which has no admin address and does not run either.
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "proto/admin.pb.h"
#include "server/server.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Ends the test case if it cannot be set up.
class AdminSite {
 public:
  // What the server tells as its flags.
  explicit AdminSite(std::vector<proto::FlagValue> flags = {});

  std::string cluster() const { return folder_.File("cluster.textproto"); }
  std::string File(const std::string& name) const { return folder_.File(name); }
  const Server& server() const { return *server_; }
  spdlog::logger* log() { return log_.get(); }
  int drains() const { return drains_; }

 private:
  const TempDir folder_;
  std::atomic<int> drains_{0};
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<Server> server_;
};

}  // namespace vicinity::testing
