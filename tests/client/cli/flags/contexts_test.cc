#include "client/cli/flags/contexts.h"

#include <catch2/catch.hpp>
#include <string>

#include "proto/common/file.h"
#include "tests/client/cli/commands/operate/variable.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using testing::Variable;

TEST_CASE("contexts are kept in the user's configuration", "[contexts]") {
  const testing::TempDir folder;
  const Variable config("XDG_CONFIG_HOME", folder.File("config"));
  CHECK(ContextsPath().value() == folder.File("config/vicinity/contexts.textproto"));
  CHECK(ReadContexts().value().contexts().empty());
  proto::Contexts contexts;
  contexts.set_current("a");
  contexts.add_contexts()->set_name("a");
  VICINITY_REQUIRE_OK(WriteContexts(contexts));
  CHECK(ReadContexts().value().SerializeAsString() == contexts.SerializeAsString());
  VICINITY_REQUIRE_OK(WriteFileAtomically(ContextsPath().value(), "contexts { nmae: 'a' }"));
  VICINITY_CHECK_CODE(ReadContexts(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the flag goes before the context, and that before the environment", "[contexts]") {
  const testing::TempDir folder;
  const Variable config("XDG_CONFIG_HOME", folder.File("config"));
  CHECK(ChooseCluster("", "", {}).value().file.empty());
  proto::Contexts contexts;
  contexts.set_current("used");
  for (const char* name : {"used", "named"}) {
    proto::Context* const context = contexts.add_contexts();
    context->set_name(name);
    context->set_cluster(std::string("/") + name);
    context->set_ca(std::string("/ca/") + name);
    context->set_token_file(std::string("/token/") + name);
  }
  VICINITY_REQUIRE_OK(WriteContexts(contexts));
  CredentialOptions given;
  given.ca = "/mine";
  CHECK(ChooseCluster("", "", given).value().file == "/used");
  // What is given stays; what is not comes from the context, and only from the one that is meant.
  CHECK(ChooseCluster("", "named", given).value().credentials.ca == "/mine");
  CHECK(ChooseCluster("", "named", given).value().credentials.token_file == "/token/named");
  CHECK(ChooseCluster("/flag", "", {}).value().file == "/flag");
  CHECK(ChooseCluster("/flag", "", {}).value().credentials.ca.empty());
  const Variable cluster("VICINITY_CLUSTER", "/environment");
  CHECK(ChooseCluster("", "", {}).value().file == "/environment");
  CHECK(ChooseCluster("", "", {}).value().credentials.ca.empty());
  CHECK(ChooseCluster("", "named", {}).value().file == "/named");
  VICINITY_CHECK_CODE(ChooseCluster("", "nobody", {}), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity::cli
