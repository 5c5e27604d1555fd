// Ports for servers that have to be told theirs.
#pragma once

#include <string>

namespace vicinity::testing {

// A port of an address of this machine (IPv4) that nobody listens on, and that this process was not
// given before; 0: there is none.
int FreePort(const std::string& host);

}  // namespace vicinity::testing
