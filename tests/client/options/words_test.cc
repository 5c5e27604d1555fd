#include "client/options/words.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

namespace vicinity {
namespace {

template <typename Words>
void CheckOneToOne(const Words& words) {
  std::set<std::string> texts;
  std::set<int> values;
  for (const auto& word : words) {
    INFO(word.word);
    CHECK(texts.insert(word.word).second);
    CHECK(values.insert(static_cast<int>(word.value)).second);
  }
}

TEST_CASE("a word stands for one value, and a value has one word", "[words]") {
  CheckOneToOne(kWords<Split>);
  CheckOneToOne(kWords<Expansion>);
  CheckOneToOne(kWords<SeedPolicy>);
  CheckOneToOne(kWords<CachePolicy>);
  CheckOneToOne(kWords<Placement>);
  CheckOneToOne(kWords<DeviceKind>);
  CheckOneToOne(kWords<WirePrecision>);
  CheckOneToOne(kWords<Transport>);
}

TEST_CASE("words are found by their values, joined and mapped", "[words]") {
  CHECK(std::string(WordOf(CachePolicy::kVip)) == "vip");
  CHECK(std::string(WordOf(static_cast<CachePolicy>(9))) == "unknown");
  CHECK(JoinedWords<CachePolicy>("|") == "none|vip|auto");
  CHECK(WordMap(kWords<SeedPolicy>) ==
        std::map<std::string, SeedPolicy>{{"global", SeedPolicy::kGlobal},
                                          {"home", SeedPolicy::kHome}});
}

}  // namespace
}  // namespace vicinity
