#include "tests/testing/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace vicinity::testing {
namespace {

std::string BaseFolder() {
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') return folder;
  }
  return "/tmp";
}

}  // namespace

TempDir::TempDir() : path_(BaseFolder() + "/vicinity_XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::abort();
  }
}

TempDir::~TempDir() {
  // Best effort: a test that passed does not fail for what it leaves behind.
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::File(std::string_view name) const { return path_ + "/" + std::string(name); }

}  // namespace vicinity::testing
