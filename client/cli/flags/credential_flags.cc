#include "client/cli/flags/credential_flags.h"

#include <CLI/CLI.hpp>
#include <string>

namespace vicinity::cli {

void AddCredentialFlags(CLI::App* app, CredentialOptions* credentials) {
  const auto path = [app](const char* flag, std::string* value, const char* text) {
    app->add_option(flag, *value, text)->group("Security")->type_name("FILE");
  };
  path("--ca", &credentials->ca, "whom to believe (VICINITY_TLS_CA, or the cluster file)");
  path("--certificate", &credentials->certificate, "our certificate (VICINITY_TLS_CERTIFICATE)");
  path("--key", &credentials->key, "its key, if not in the same file (VICINITY_TLS_KEY)");
  path("--token-file", &credentials->token_file, "our token (VICINITY_TOKEN_FILE)");
  app->add_flag("--allow-plaintext", credentials->allow_plaintext,
                "dial other machines without TLS")
      ->group("Security");
}

}  // namespace vicinity::cli
