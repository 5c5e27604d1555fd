#include "cache/vip/seed_chances.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status CheckType(NodeTypeId type, const Book& book) {
  if (type.value >= 0 && type.value < book.num_node_types()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there is no node type ", type.value));
}

absl::Status CheckNodes(NodeTypeId type, absl::Span<const int64_t> nodes, const Book& book) {
  VICINITY_RETURN_IF_ERROR(CheckType(type, book));
  std::vector<bool> is_seed(book.num_nodes(type));
  for (const int64_t node : nodes) {
    if (!book.Contains(type, {node})) {
      return absl::InvalidArgumentError(absl::StrCat("seed ", node, " is not one of ",
                                                     book.num_nodes(type), " nodes of its type"));
    }
    if (is_seed[node]) {
      return absl::InvalidArgumentError(absl::StrCat("seed ", node, " is given twice"));
    }
    is_seed[node] = true;
  }
  return absl::OkStatus();
}

// The chance that none of `count` among `all` is in `batch` drawn without replacement:
// C(all - count, batch) / C(all, batch), as the product over the smaller of both numbers.
double NoneDrawn(int64_t count, int64_t all, int64_t batch) {
  const int64_t few = std::min(count, batch);
  const int64_t many = std::max(count, batch);
  double none = 1;
  for (int64_t i = 0; i < few && none > 0; ++i) {
    none *=
        static_cast<double>(std::max<int64_t>(0, all - many - i)) / static_cast<double>(all - i);
  }
  return none;
}

void Count(NodeTypeId type, std::vector<int64_t> nodes, LinkSeeds* seeds) {
  std::sort(nodes.begin(), nodes.end());
  LinkSeeds::Ends ends{type, {}, {}};
  for (const int64_t node : nodes) {
    if (ends.nodes.empty() || ends.nodes.back() != node) {
      ends.nodes.push_back(node);
      ends.counts.push_back(0);
    }
    ++ends.counts.back();
  }
  seeds->ends.push_back(std::move(ends));
}

absl::Status CheckCounts(const LinkSeeds& seeds) {
  for (const LinkSeeds::Ends& ends : seeds.ends) {
    if (ends.counts.size() != ends.nodes.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(ends.counts.size(), " counts for ", ends.nodes.size(), " ends of links"));
    }
    for (size_t i = 0; i < ends.nodes.size(); ++i) {
      if (ends.counts[i] >= 1 && ends.counts[i] <= seeds.num_links) continue;
      return absl::InvalidArgumentError(absl::StrCat("node ", ends.nodes[i], " is an end of ",
                                                     ends.counts[i], " of ", seeds.num_links,
                                                     " links"));
    }
  }
  return absl::OkStatus();
}

SeedChances* OfType(NodeTypeId type, std::vector<SeedChances>* all) {
  for (SeedChances& chances : *all) {
    if (chances.type == type) return &chances;
  }
  all->push_back({type, 0, {}, {}});
  return &all->back();
}

// Lets each node of `negatives`, or all of the type, be drawn as well.
void AddNegatives(const LinkSeeds& seeds, int64_t batch, const Book& book,
                  std::vector<SeedChances>* all) {
  SeedChances* const chances = OfType(seeds.negative_type, all);
  const int64_t choices = seeds.negatives.empty() ? book.num_nodes(seeds.negative_type)
                                                  : static_cast<int64_t>(seeds.negatives.size());
  const double draws = static_cast<double>(batch) * static_cast<double>(seeds.negatives_per_link);
  const double drawn = -std::expm1(draws * std::log1p(-1.0 / static_cast<double>(choices)));
  const auto join = [&](double* chance) { *chance += drawn * (1 - *chance); };
  if (seeds.negatives.empty()) {
    for (double& chance : chances->chances) join(&chance);
    join(&chances->others);
    return;
  }
  std::vector<int64_t> places(book.num_nodes(seeds.negative_type), -1);
  for (size_t i = 0; i < chances->nodes.size(); ++i) {
    places[chances->nodes[i]] = static_cast<int64_t>(i);
  }
  for (const int64_t node : seeds.negatives) {
    if (places[node] >= 0) {
      join(&chances->chances[places[node]]);
    } else {
      chances->nodes.push_back(node);
      chances->chances.push_back(drawn);
    }
  }
}

}  // namespace

LinkSeeds CountEnds(NodeTypeId source_type, std::vector<int64_t> sources, NodeTypeId target_type,
                    std::vector<int64_t> targets) {
  LinkSeeds seeds;
  seeds.num_links = static_cast<int64_t>(sources.size());
  if (source_type == target_type) {
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] != sources[i]) sources.push_back(targets[i]);
    }
    Count(source_type, std::move(sources), &seeds);
  } else {
    Count(source_type, std::move(sources), &seeds);
    Count(target_type, std::move(targets), &seeds);
  }
  return seeds;
}

absl::StatusOr<std::vector<SeedChances>> ChancesOf(const HomeSeeds& seeds, int64_t batch_size,
                                                   const Book& book) {
  if (seeds.nodes.empty()) return std::vector<SeedChances>();
  VICINITY_RETURN_IF_ERROR(CheckNodes(seeds.type, seeds.nodes, book));
  const double all = static_cast<double>(seeds.nodes.size());
  const double chance = std::min(static_cast<double>(batch_size), all) / all;
  return std::vector<SeedChances>{
      {seeds.type, 0, seeds.nodes, std::vector<double>(seeds.nodes.size(), chance)}};
}

absl::StatusOr<std::vector<SeedChances>> ChancesOf(const LinkSeeds& seeds, int64_t batch_size,
                                                   const Book& book) {
  std::vector<SeedChances> all;
  if (seeds.num_links == 0) return all;
  VICINITY_RETURN_IF_ERROR(CheckCounts(seeds));
  const int64_t batch = std::min(batch_size, seeds.num_links);
  for (const LinkSeeds::Ends& ends : seeds.ends) {
    VICINITY_RETURN_IF_ERROR(CheckNodes(ends.type, ends.nodes, book));
    SeedChances* const chances = OfType(ends.type, &all);
    if (!chances->nodes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("ends of node type ", ends.type.value, " are given twice"));
    }
    chances->nodes = ends.nodes;
    for (const int64_t count : ends.counts) {
      chances->chances.push_back(1 - NoneDrawn(count, seeds.num_links, batch));
    }
  }
  if (seeds.negatives_per_link < 0) {
    return absl::InvalidArgumentError(absl::StrCat(seeds.negatives_per_link, " negatives a link"));
  }
  if (seeds.negatives_per_link > 0) {
    VICINITY_RETURN_IF_ERROR(CheckNodes(seeds.negative_type, seeds.negatives, book));
    if (book.num_nodes(seeds.negative_type) == 0) {
      return absl::InvalidArgumentError("negatives of a node type without nodes");
    }
    AddNegatives(seeds, batch, book, &all);
  }
  return all;
}

}  // namespace vicinity
