// libFuzzer's view of the targets: one program for all, of which `--target=NAME` chooses one.
// Flags that begin with two dashes are not libFuzzer's, which hands them on to its child processes.
//
//   fuzz --list                              prints the names
//   fuzz --target=npy --write-seeds=FOLDER   writes what a run may begin with, a file each
//   fuzz --target=npy [libFuzzer's flags and folders]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/fuzz/targets.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::fuzz {
namespace {

// libFuzzer calls functions that get nothing of ours. Neither is freed: it ends without
// destructors.
const testing::TempDir* folder = nullptr;
const FuzzTarget* chosen = nullptr;

// What follows `flag` in an argument; empty: it is not there.
std::string FlagOf(int argc, char** argv, absl::string_view flag) {
  for (int i = 1; i < argc; ++i) {
    if (absl::StartsWith(argv[i], flag)) return argv[i] + flag.size();
  }
  return "";
}

void List() {
  for (const NamedTarget& target : AllTargets()) std::printf("%s\n", target.name);
  std::exit(0);
}

void WriteSeeds(const FuzzTarget& target, const std::string& to) {
  for (size_t i = 0; i < target.seeds.size(); ++i) {
    testing::WriteInput(absl::StrCat(to, "/seed-", i), target.seeds[i]);
  }
  std::exit(0);
}

int Initialize(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") List();
  const std::string name = FlagOf(argc, argv, "--target=");
  for (const NamedTarget& target : AllTargets()) {
    if (name != target.name) continue;
    folder = new testing::TempDir();
    chosen = new FuzzTarget(target.make(folder->path()));
    const std::string seeds = FlagOf(argc, argv, "--write-seeds=");
    if (!seeds.empty()) WriteSeeds(*chosen, seeds);
    return 0;
  }
  std::fprintf(stderr, "fuzz: --target=%s: no such target; --list lists them\n", name.c_str());
  std::exit(2);
}

}  // namespace
}  // namespace vicinity::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return vicinity::fuzz::Initialize(*argc, *argv);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vicinity::fuzz::chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
