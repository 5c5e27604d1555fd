// The words that options with a few values are written in: in JSON, in flags, in reports.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "client/types/device_tensor.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "client/types/negative_values.h"
#include "client/types/seed_values.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity {

template <typename Enum>
struct Word {
  const char* word;
  Enum value;
};

// All words of an enumeration, each value once. An enumeration without words does not compile.
template <typename Enum>
inline constexpr std::array<Word<Enum>, 0> kWords{};

template <>
inline constexpr std::array<Word<Split>, 4> kWords<Split>{{{"train", Split::kTrain},
                                                           {"validation", Split::kValidation},
                                                           {"test", Split::kTest},
                                                           {"", Split::kNone}}};

template <>
inline constexpr std::array<Word<Expansion>, 2> kWords<Expansion>{
    {{"all_nodes", Expansion::kAllNodes}, {"new_nodes", Expansion::kNewNodes}}};

template <>
inline constexpr std::array<Word<TemporalStrategy>, 2> kWords<TemporalStrategy>{
    {{"uniform", TemporalStrategy::kUniform}, {"last", TemporalStrategy::kLast}}};

template <>
inline constexpr std::array<Word<TimeFollows>, 2> kWords<TimeFollows>{
    {{"seed", TimeFollows::kSeed}, {"path", TimeFollows::kPath}}};

template <>
inline constexpr std::array<Word<Draws>, 2> kWords<Draws>{
    {{"independent", Draws::kIndependent}, {"labor", Draws::kLabor}}};

template <>
inline constexpr std::array<Word<Subgraph>, 2> kWords<Subgraph>{
    {{"directional", Subgraph::kDirectional}, {"induced", Subgraph::kInduced}}};

template <>
inline constexpr std::array<Word<SeedPolicy>, 2> kWords<SeedPolicy>{
    {{"global", SeedPolicy::kGlobal}, {"home", SeedPolicy::kHome}}};

template <>
inline constexpr std::array<Word<CachePolicy>, 3> kWords<CachePolicy>{
    {{"none", CachePolicy::kNone}, {"vip", CachePolicy::kVip}, {"auto", CachePolicy::kAuto}}};

template <>
inline constexpr std::array<Word<LinkExclusion>, 3> kWords<LinkExclusion>{
    {{"none", LinkExclusion::kNone},
     {"self", LinkExclusion::kSelf},
     {"reverse", LinkExclusion::kReverse}}};

template <>
inline constexpr std::array<Word<NegativeMode>, 3> kWords<NegativeMode>{
    {{"none", NegativeMode::kNone},
     {"binary", NegativeMode::kBinary},
     {"triplet", NegativeMode::kTriplet}}};

template <>
inline constexpr std::array<Word<Placement>, 2> kWords<Placement>{
    {{"host", Placement::kHost}, {"device", Placement::kDevice}}};

template <>
inline constexpr std::array<Word<DeviceKind>, 2> kWords<DeviceKind>{
    {{"cuda", DeviceKind::kCuda}, {"host", DeviceKind::kHost}}};

template <>
inline constexpr std::array<Word<WirePrecision>, 3> kWords<WirePrecision>{
    {{"stored", WirePrecision::kStored},
     {"float16", WirePrecision::kFloat16},
     {"bfloat16", WirePrecision::kBfloat16}}};

template <>
inline constexpr std::array<Word<Transport>, 3> kWords<Transport>{
    {{"auto", Transport::kAuto}, {"grpc", Transport::kGrpc}, {"bulk", Transport::kBulk}}};

template <>
inline constexpr std::array<Word<Durability>, 3> kWords<Durability>{
    {{"sync", Durability::kSync},
     {"buffered", Durability::kBuffered},
     {"replicated", Durability::kReplicated}}};

// The word of a value; "unknown" for what is none.
template <typename Enum>
constexpr const char* WordOf(Enum value) {
  static_assert(!kWords<Enum>.empty(), "the enumeration has no words");
  for (const Word<Enum>& word : kWords<Enum>) {
    if (word.value == value) return word.word;
  }
  return "unknown";
}

// "none|vip|auto"
template <typename Enum>
std::string JoinedWords(std::string_view between) {
  static_assert(!kWords<Enum>.empty(), "the enumeration has no words");
  std::string joined;
  for (const Word<Enum>& word : kWords<Enum>) {
    if (&word != kWords<Enum>.data()) joined += between;
    joined += word.word;
  }
  return joined;
}

// As CLI11's transformers take them.
template <typename Words>
auto WordMap(const Words& words) {
  std::map<std::string, decltype(words[0].value)> map;
  for (const auto& word : words) map[word.word] = word.value;
  return map;
}

}  // namespace vicinity
