// What the health service says of each of the server's services, and who wants to hear of changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: all methods from any number at once.
class ServingStates {
 public:
  // Bounds of those who watch, for each holds a call open: in all, and of one client.
  static constexpr int64_t kMaxWatchers = 1024;
  static constexpr int64_t kMaxWatchersOfClient = 64;

  class Watcher {
   public:
    // None: the service is not known. Called under the states' lock, for the first time by Watch:
    // it must not come back.
    virtual void OnState(std::optional<bool> is_serving) = 0;
    // The server ends.
    virtual void OnEnd() = 0;

   protected:
    ~Watcher() = default;
  };

  // Services are "", gRPC's names, or words of our own.
  void Set(const std::string& service, bool is_serving);
  std::optional<bool> Of(const std::string& service) const;

  // ResourceExhausted beyond the bounds, naming them; Unavailable once it has ended.
  absl::Status Watch(const std::string& service, const std::string& client, Watcher* watcher);
  // Whoever is not there is ignored.
  void Unwatch(Watcher* watcher);
  // Tells all watchers, once, that the server ends; none is taken from then on.
  void End();

  int64_t num_watchers() const;

 private:
  struct Watched {
    std::string service;
    std::string client;
  };

  std::optional<bool> Find(const std::string& service) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, bool> states_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<Watcher*, Watched> watchers_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<std::string, int64_t> of_client_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
