// Every fuzz target on its seeds, on inputs that once did harm (tests/fuzz/corpus) and on some
// hundred mutations of both: in every build, without a fuzzer.
//
// VICINITY_FUZZ_MUTATIONS (30) sets how many of each.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity::fuzz {
namespace {

const char kCorpus[] = "tests/fuzz/corpus";

// Names of files and folders, sorted.
std::vector<std::string> EntriesOf(const std::string& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("every parser withstands what once harmed it, its seeds and their mutations", "[fuzz]") {
  const int mutations = testing::SizeFromEnvironment("VICINITY_FUZZ_MUTATIONS", 30);
  for (const NamedTarget& named : AllTargets()) {
    DYNAMIC_SECTION(named.name) {
      const testing::TempDir folder;
      const FuzzTarget target = named.make(folder.path());
      CHECK_FALSE(target.seeds.empty());
      std::vector<std::string> inputs = target.seeds;
      const std::string corpus = std::string(kCorpus) + "/" + named.name;
      for (const std::string& file : EntriesOf(corpus)) {
        INFO(file);
        inputs.push_back(testing::ReadInput(corpus + "/" + file));
        target.run(inputs.back());
      }
      target.run("");
      for (const std::string& input : inputs) {
        target.run(input);
        for (int i = 0; i < mutations; ++i) {
          target.run(testing::Mutated(input, static_cast<uint64_t>(i)));
        }
      }
    }
  }
}

TEST_CASE("no two targets share a name, and so a corpus", "[fuzz]") {
  std::set<std::string> names;
  for (const NamedTarget& target : AllTargets()) CHECK(names.insert(target.name).second);
}

}  // namespace
}  // namespace vicinity::fuzz
