// Flags of the commands that call servers: whom to believe, and what to show.
#pragma once

#include "client/types/credential_options.h"

namespace CLI {
class App;
}

namespace vicinity::cli {

// Declares `--ca FILE`, `--certificate FILE`, `--key FILE`, `--token-file FILE` and
// `--allow-plaintext`. There is no flag for a token itself: others could read the command line.
void AddCredentialFlags(CLI::App* app, CredentialOptions* credentials);

}  // namespace vicinity::cli
