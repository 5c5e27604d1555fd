#include "client/c_api/seeds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace vicinity::c_api {
namespace {

Error Wrong(const std::string& text) {
  return Error(ErrorCode::kInvalidArgument, "seeds: " + text);
}

// Whether all that the caller set is known here: its header may be of a later version.
Error CheckSize(const VicinitySeeds& seeds) {
  if (seeds.struct_size < sizeof(VicinitySeeds)) {
    return Wrong("struct_size is " + std::to_string(seeds.struct_size) +
                 ": set it to the size of the structure");
  }
  const auto* const bytes = reinterpret_cast<const char*>(&seeds);
  if (std::all_of(bytes + sizeof(VicinitySeeds), bytes + seeds.struct_size,
                  [](char byte) { return byte == 0; })) {
    return Error();
  }
  return Wrong("a field is set that this version of the library does not know");
}

template <typename Value>
std::vector<Value> Copied(const void* values, int64_t count) {
  const auto* const first = static_cast<const Value*>(values);
  return std::vector<Value>(first, first + count);
}

Result<NodeIds> Names(const void* values, int64_t count) {
  const auto* const texts = static_cast<const char* const*>(values);
  UserNames names;
  names.ids.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return Wrong("name " + std::to_string(i) + " is null");
    names.ids.emplace_back(texts[i]);
  }
  return NodeIds(std::move(names));
}

Result<NodeIds> Ids(int32_t kind, const void* values, int64_t count) {
  switch (kind) {
    case VICINITY_SEEDS_GLOBAL_IDS:
      return NodeIds(GlobalIds{Copied<int64_t>(values, count)});
    case VICINITY_SEEDS_USER_IDS:
      return NodeIds(UserIds{Copied<int64_t>(values, count)});
    case VICINITY_SEEDS_USER_NAMES:
      return Names(values, count);
    case VICINITY_SEEDS_MASK:
      return Wrong("links have ids, no mask");
    default:
      return Wrong("kind " + std::to_string(kind) + " is none of VicinitySeedKind");
  }
}

Result<SeedList> Links(const VicinitySeeds& seeds) {
  if (seeds.targets == nullptr && seeds.count > 0) return Wrong("targets is null");
  Result<NodeIds> sources = Ids(seeds.kind, seeds.values, seeds.count);
  if (!sources.ok()) return sources.error();
  Result<NodeIds> targets = Ids(seeds.kind, seeds.targets, seeds.count);
  if (!targets.ok()) return targets.error();
  return SeedList(LinkList{seeds.edge_type, *std::move(sources), *std::move(targets)});
}

}  // namespace

std::vector<int64_t> ReadSeedTimes(const VicinitySeeds& seeds) {
  return seeds.times == nullptr ? std::vector<int64_t>()
                                : Copied<int64_t>(seeds.times, seeds.count);
}

Result<SeedList> ReadSeeds(const VicinitySeeds& seeds) {
  Error sized = CheckSize(seeds);
  if (!sized.ok()) return sized;
  if (seeds.count < 0) return Wrong("count is " + std::to_string(seeds.count));
  if (seeds.values == nullptr && seeds.count > 0) return Wrong("values is null");
  if (seeds.edge_type != nullptr) return Links(seeds);
  if (seeds.kind == VICINITY_SEEDS_MASK) {
    if (seeds.times != nullptr) return Wrong("of a mask there are no times: list the ids");
    return SeedList(NodeMask{Copied<uint8_t>(seeds.values, seeds.count)});
  }
  Result<NodeIds> ids = Ids(seeds.kind, seeds.values, seeds.count);
  if (!ids.ok()) return ids.error();
  return std::visit([](auto&& list) { return SeedList(std::move(list)); }, *std::move(ids));
}

}  // namespace vicinity::c_api
