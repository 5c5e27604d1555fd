// Who is at the other end of a TLS connection of the HTTP port.
#pragma once

#include <openssl/ssl.h>

#include "server/security/access_control.h"

namespace vicinity {

// What the other end has shown by the end of its handshake, without tokens.
Caller CallerOf(const SSL& session);

}  // namespace vicinity
