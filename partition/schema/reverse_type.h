// Edge types that have the edges of another the other way round: what its out-lists are.
#pragma once

#include <string>
#include <string_view>

#include "partition/schema/schema.h"

namespace vicinity {

// What import calls the reverse of (a, relation, b), a type (b, "rev_" + relation, a) with the same
// edge ids.
std::string ReverseRelation(std::string_view relation);

// The type that has the edges of `edge_type` the other way round: of (a, r, b) it is (b, rev_r, a),
// and of that one (a, r, b). -1: none. Types are known by these names alone.
int FindReverse(const Schema& schema, int edge_type);

}  // namespace vicinity
