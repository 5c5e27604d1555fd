#include "partition/schema/reverse_type.h"

#include <catch2/catch.hpp>
#include <string>

namespace vicinity {
namespace {

Schema Shop() {
  Schema schema;
  schema.node_types.resize(2);
  schema.node_types[0].name = "user";
  schema.node_types[1].name = "item";
  schema.edge_types = {{0, "buys", 1, {}},          {0, "knows", 0, {}}, {1, "rev_buys", 0, {}},
                       {0, "rev_knows", 0, {}},     {0, "likes", 1, {}}, {0, "rev_likes", 1, {}},
                       {1, "rev_rev_likes", 0, {}}, {0, "rev_", 0, {}}};
  return schema;
}

std::string ReverseOf(const std::string& name) {
  const Schema schema = Shop();
  const int found = FindReverse(schema, schema.FindEdgeType(name));
  return found < 0 ? "none" : schema.EdgeTypeName(found);
}

TEST_CASE("the reverse of an edge type is found by its name, and so is what it is the reverse of",
          "[partition]") {
  CHECK(ReverseRelation("buys") == "rev_buys");
  CHECK(ReverseOf("user:buys:item") == "item:rev_buys:user");
  CHECK(ReverseOf("item:rev_buys:user") == "user:buys:item");
  CHECK(ReverseOf("user:knows:user") == "user:rev_knows:user");
  CHECK(ReverseOf("user:rev_knows:user") == "user:knows:user");
}

TEST_CASE(
    "a type of the reverse's name between other nodes is none, nor is a name that only begins "
    "alike",
    "[partition]") {
  CHECK(ReverseOf("user:likes:item") == "none");
  CHECK(ReverseOf("user:rev_likes:item") == "item:rev_rev_likes:user");
  CHECK(ReverseOf("item:rev_rev_likes:user") == "user:rev_likes:item");
  CHECK(ReverseOf("user:rev_:user") == "none");
}

}  // namespace
}  // namespace vicinity
