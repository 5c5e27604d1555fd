#include "client/c_api/seeds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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
std::vector<Value> Copied(const VicinitySeeds& seeds) {
  const auto* const values = static_cast<const Value*>(seeds.values);
  return std::vector<Value>(values, values + seeds.count);
}

Result<SeedList> Names(const VicinitySeeds& seeds) {
  const auto* const texts = static_cast<const char* const*>(seeds.values);
  UserNames names;
  names.ids.reserve(seeds.count);
  for (int64_t i = 0; i < seeds.count; ++i) {
    if (texts[i] == nullptr) return Wrong("name " + std::to_string(i) + " is null");
    names.ids.emplace_back(texts[i]);
  }
  return SeedList(std::move(names));
}

}  // namespace

Result<SeedList> ReadSeeds(const VicinitySeeds& seeds) {
  Error sized = CheckSize(seeds);
  if (!sized.ok()) return sized;
  if (seeds.count < 0) return Wrong("count is " + std::to_string(seeds.count));
  if (seeds.values == nullptr && seeds.count > 0) return Wrong("values is null");
  switch (seeds.kind) {
    case VICINITY_SEEDS_GLOBAL_IDS:
      return SeedList(GlobalIds{Copied<int64_t>(seeds)});
    case VICINITY_SEEDS_USER_IDS:
      return SeedList(UserIds{Copied<int64_t>(seeds)});
    case VICINITY_SEEDS_USER_NAMES:
      return Names(seeds);
    case VICINITY_SEEDS_MASK:
      return SeedList(NodeMask{Copied<uint8_t>(seeds)});
    default:
      return Wrong("kind " + std::to_string(seeds.kind) + " is none of VicinitySeedKind");
  }
}

}  // namespace vicinity::c_api
