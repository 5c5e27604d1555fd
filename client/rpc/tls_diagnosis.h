// Finds out what is wrong when no TLS connection comes about, for gRPC does not tell.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "proto/security/certificates.h"

namespace vicinity {

// Makes a connection to `address` (host:port), shakes hands as a client with these files would,
// and closes it. OK if that works. Unauthenticated if it does not because of TLS, the reason being
// that of the server's certificate (expired, not yet valid, of an unknown authority, for another
// name), of ours (asked for and not there, refused), or that only one end speaks TLS; with no
// `files.ca` this end is the one that does not. Unavailable if there is no connection at all or no
// answer within `limit`. Waits for at most that, the name's lookup aside.
absl::Status DiagnoseTls(const std::string& address, const TlsFiles& files,
                         std::chrono::milliseconds limit);

// Whether whoever this machine asks for names says that there is no such host. False also where
// nobody answers. Waits for the lookup.
bool IsUnknownHost(const std::string& host);

}  // namespace vicinity
