// What a client shows to servers, and whom it believes.
//
// Public header: standard C++ alone.
#pragma once

#include <string>

namespace vicinity {

// Paths of files; what is empty is taken from the environment variable beside it, if that is set.
// docs/security.md shows how they are made. A change of the files is noticed within 10 seconds.
struct CredentialOptions {
  // PEM, of whom to believe that a server is who it says; there being one means TLS. Without the
  // variable, too: the `ca` of the cluster file.
  std::string ca;  // VICINITY_TLS_CA
  // VICINITY_TLS_CERTIFICATE: our own, which servers beyond loopback want to see. With its private
  // key in the same file, as `vicinity certificate client` writes it, which only its owner may
  // read.
  std::string certificate;
  std::string key;  // VICINITY_TLS_KEY: the private key where it has a file of its own
  // A token, readable by its owner alone: sent over TLS, and in plaintext to loopback only.
  std::string token_file;  // VICINITY_TOKEN_FILE, or the token itself in VICINITY_TOKEN
  // Dial addresses beyond loopback without TLS; the cluster file may also say so.
  bool allow_plaintext = false;
};

}  // namespace vicinity
