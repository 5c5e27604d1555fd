// What certificate a server shows.
#pragma once

#include <string>

namespace vicinity::testing {

// In PEM, of the server on a port of 127.0.0.1, whoever signed it; empty if it shows none.
std::string ServedCertificate(int port);

}  // namespace vicinity::testing
