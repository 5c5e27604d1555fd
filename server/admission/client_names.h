// Whom a call counts for: who is proven to make it, else its connection's client, as that has named
// itself in Hello.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Several connections of one client share its limits; a connection that has not said Hello counts
// for itself. Nothing proves a name that was said in Hello: it tells the well-behaved apart, and
// the limits for all clients together bound the others.
//
// Threads: all methods from any number at once.
// Memory:  the last kMaxPeers connections that spoke.
class ClientNames {
 public:
  static constexpr size_t kMaxPeers = 8192;

  // `peer` as gRPC writes it: "ipv4:127.0.0.1:4711". Names may be anything: they are cut and
  // escaped.
  void Learn(const std::string& peer, absl::string_view name);
  // "host 4711 at 127.0.0.1", or the peer itself. With an identity, which somebody has proven to
  // have, "trainer at 127.0.0.1", whatever the connection said: a grant that several hosts share
  // has its limits on each. A host is its address, but an IPv6 network of 64 bits or the loopback
  // network is one: whoever has one address there may have them all.
  std::string Of(const std::string& peer, const std::string& identity);

 private:
  using Entry = std::pair<std::string, std::string>;

  Mutex mu_;
  std::list<Entry> recent_ ABSL_GUARDED_BY(mu_);  // the last to speak first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_peer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
