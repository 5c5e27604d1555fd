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

constexpr char kWeights[] = "weights of negatives";

Error Wrong(const std::string& text, const char* what = "seeds") {
  return Error(ErrorCode::kInvalidArgument, std::string(what) + ": " + text);
}

// Whether all that the caller set is known here: its header may be of a later version.
template <typename Structure>
Error CheckSize(const Structure& given, const char* what) {
  if (given.struct_size < sizeof(Structure)) {
    return Wrong("struct_size is " + std::to_string(given.struct_size) +
                     ": set it to the size of the structure",
                 what);
  }
  const auto* const bytes = reinterpret_cast<const char*>(&given);
  if (std::all_of(bytes + sizeof(Structure), bytes + given.struct_size,
                  [](char byte) { return byte == 0; })) {
    return Error();
  }
  return Wrong("a field is set that this version of the library does not know", what);
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

// None where `values` is null.
Error CopyWeights(const double* values, int64_t count, const char* name,
                  std::vector<double>* weights) {
  if (values == nullptr && count == 0) return Error();
  if (values == nullptr) return Wrong(std::string(name) + " is null", kWeights);
  if (count <= 0) return Wrong(std::string(name) + " are " + std::to_string(count), kWeights);
  *weights = Copied<double>(values, count);
  return Error();
}

}  // namespace

Result<NegativeWeights> ReadNegativeWeights(const VicinityNegativeWeights& weights) {
  NegativeWeights read;
  Error error = CheckSize(weights, kWeights);
  if (!error.ok()) return error;
  error = CopyWeights(weights.targets, weights.num_targets, "targets", &read.targets);
  if (!error.ok()) return error;
  error = CopyWeights(weights.sources, weights.num_sources, "sources", &read.sources);
  if (!error.ok()) return error;
  return read;
}

std::vector<int64_t> ReadSeedTimes(const VicinitySeeds& seeds) {
  return seeds.times == nullptr ? std::vector<int64_t>()
                                : Copied<int64_t>(seeds.times, seeds.count);
}

Result<SeedList> ReadSeeds(const VicinitySeeds& seeds) {
  Error sized = CheckSize(seeds, "seeds");
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
