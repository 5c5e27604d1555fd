#include "tests/fuzz/command_targets.h"

#include <string_view>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/cluster/cluster_file.h"
#include "server/config.h"

namespace vicinity::fuzz {

FuzzTarget FuzzServerFlags(const std::string&) {
  FuzzTarget target;
  target.seeds = {
      "--data\nd\n--shards=0,1,5\n--listen\n[::1]:7500\n--max-ids=10\n--drain\n0.5",
      "--data=d\n--client-mib-rate=1e300\n--write-timeout=nan\n--max-reply-mib=9223372036854775807",
      "--data=d\n--log-level=debug\n--log-format=json\n--admin-listen=127.0.0.1:1",
  };
  target.run = [](std::string_view input) {
    // Nothing but this test's own input is read.
    if (input.find("cluster") != std::string_view::npos) return;
    const auto line =
        ParseCommandLine(absl::StrSplit(absl::string_view(input.data(), input.size()), '\n'));
    Expect(!line.ok() || !line->message.empty() || !line->config.server.data.empty(),
           "a server that starts has a dataset");
  };
  return target;
}

FuzzTarget FuzzAddress(const std::string&) {
  FuzzTarget target;
  target.seeds = {"127.0.0.1:7500", "[::1]:0", "host.example:65535", "[fe80::1%eth0]:1", ":1"};
  target.run = [](std::string_view input) {
    const auto address = ParseHostPort({input.data(), input.size()});
    if (!address.ok()) return;
    Expect(address->port >= 0 && address->port <= 65535, "a port is one");
    const auto again = ParseHostPort(address->ToString());
    Expect(again.ok() && again->host == address->host && again->port == address->port,
           "an address that is written is read as the same");
  };
  return target;
}

}  // namespace vicinity::fuzz
