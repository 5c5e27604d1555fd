#include "client/cli/commands/metis_child_command.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/client/cli/run_command.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// That it runs METIS is shown by vicinity_process_test, where a parent needs it to.
TEST_CASE("a job that is none is bad data", "[cli]") {
  const testing::TempDir folder;
  CHECK(RunCommand(kMetisChildCommand, {folder.File("none")}).code == ExitCode::kNotFound);
  std::ofstream(folder.File("job")) << "nothing of the kind";
  CHECK(RunCommand(kMetisChildCommand, {folder.File("job")}).code == ExitCode::kBadData);
  CHECK(RunCommand(kMetisChildCommand, {}).code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
