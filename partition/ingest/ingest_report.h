// What an import or a generator read, dropped and wrote, for people to check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vicinity {

struct IngestReport {
  struct Nodes {
    std::string name;
    int64_t count = 0;
    int64_t isolated = 0;  // without any edge, of any type, in or out
    int32_t num_classes = 0;
    int64_t labelled = 0;  // with a class, not -1
    int64_t train = 0;
    int64_t validation = 0;
    int64_t test = 0;
  };
  // read + reversed - self_loops_dropped - duplicates_dropped = stored.
  struct Edges {
    std::string name;      // "source:relation:target"
    int64_t read = 0;      // as given; a reverse type's own count is in `reversed` alone
    int64_t reversed = 0;  // added, by turning an edge round
    int64_t self_loops_dropped = 0;
    int64_t duplicates_dropped = 0;
    int64_t stored = 0;
    int64_t max_degree = 0;  // most in-edges of one target
  };
  std::vector<Nodes> nodes;  // in the schema's order
  std::vector<Edges> edges;  // likewise
};

}  // namespace vicinity
