#include "client/cli/flags/credential_flags.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

namespace vicinity::cli {
namespace {

TEST_CASE("credentials come from files, and no flag takes a token", "[cli]") {
  CLI::App app;
  CredentialOptions credentials;
  AddCredentialFlags(&app, &credentials);
  app.parse("--ca a --certificate b --key c --token-file d --allow-plaintext");
  CHECK(credentials.ca == "a");
  CHECK(credentials.certificate == "b");
  CHECK(credentials.key == "c");
  CHECK(credentials.token_file == "d");
  CHECK(credentials.allow_plaintext);
  CHECK(app.get_option_no_throw("--token") == nullptr);
}

}  // namespace
}  // namespace vicinity::cli
