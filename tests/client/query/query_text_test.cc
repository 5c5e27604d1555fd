#include "client/query/query_text.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/query/query.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

std::string Again(const std::string& text) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  return QueryText(query);
}

TEST_CASE("A query is read step by step, with all its arguments") {
  const std::string text = R"text(
    # Papers, and what they cite.
    src = nodes(paper, $seeds, where="year >= 2010 and not kind in (3, 4)"); all.2 = nodes(author)
    ada = nodes(author, [ada, "grace h", 7, -1], columns=[name, 'h-index'])
    near = neighbors(src, "paper:cites:paper", 10,
                     by=weight, replace=true,   # as many as there are draws
                     order_by=id, descending=true, limit=3, edge_columns=[weight], edge_ids=true)
    no = negatives(src, cites, 5, degree_power=0.75, exact=false, shared=true)
    all = layer(near, cites, 64, by=weight, square_root=true)
    like = negatives(src, cites, 8, like=near, same=[kind, year], shares=[0.25, 5e-1])
    few = nodes(paper, split=train, count=16, by=pagerank)
    one = walk(src, cites, 4, edge_ids=true)
    long = walk(src, [of, "paper:has:author"], 6, weighted_by=weight, restart_prob=0.25, p=0.5, q=2,
                node_type=author, columns=[name])
    most = visited(src, [of, has], 10, length=6, num_walks=50, exclude_start=true, restart_prob=0.1)
    rank = ppr(src, [cites, has], 32, alpha=0.25, eps=1e-5, max_neighbors=100, weighted_by=weight,
               node_type=author)
    sub = induced([src, near], cites, where="weight > 1", edge_columns=[weight], edge_ids=true)
    own = induced(near, cites)
    onto = neighbors(src, cites, 10, direction=out)
    from = neighbors(src, cites, direction="in")
  )text";
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  REQUIRE(query.steps.size() == 16);
  const QueryStep& src = query.steps[0];
  CHECK(src.name == "src");
  CHECK(src.kind == StepKind::kNodes);
  CHECK(src.type == "paper");
  CHECK(src.input == "seeds");
  CHECK(src.where == "year >= 2010 and not kind in (3, 4)");
  CHECK(src.count == kAllNeighbors);
  CHECK(query.steps[1].name == "all.2");
  CHECK(query.steps[2].ids == std::vector<std::string>{"ada", "grace h", "7", "-1"});
  CHECK(query.steps[2].columns == std::vector<std::string>{"name", "h-index"});
  const QueryStep& near = query.steps[3];
  CHECK(near.kind == StepKind::kNeighbors);
  CHECK(near.from == "src");
  CHECK(near.type == "paper:cites:paper");
  CHECK(near.count == 10);
  CHECK(near.by == "weight");
  CHECK(near.replace);
  CHECK(near.direction == EdgeDirection::kIn);
  CHECK(near.order_by == "id");
  CHECK(near.descending);
  CHECK(near.limit == 3);
  CHECK(near.edge_columns == std::vector<std::string>{"weight"});
  CHECK(near.edge_ids);
  CHECK(query.steps[4].kind == StepKind::kNegatives);
  CHECK(query.steps[4].degree_power == 0.75);
  CHECK_FALSE(query.steps[4].exact);
  CHECK(query.steps[4].shared);
  CHECK(query.steps[5].kind == StepKind::kLayer);
  CHECK(query.steps[5].square_root);
  CHECK(query.steps[6].like == "near");
  CHECK(query.steps[6].same == std::vector<std::string>{"kind", "year"});
  CHECK(query.steps[6].shares == std::vector<double>{0.25, 0.5});
  CHECK(query.steps[7].split == Split::kTrain);
  CHECK(query.steps[7].count == 16);
  CHECK(query.steps[8].kind == StepKind::kWalk);
  CHECK(query.steps[8].metapath == std::vector<std::string>{"cites"});
  CHECK(query.steps[8].length == 4);
  CHECK(query.steps[8].edge_ids);
  const QueryStep& walk = query.steps[9];
  CHECK(walk.metapath == std::vector<std::string>{"of", "paper:has:author"});
  CHECK(walk.length == 6);
  CHECK(walk.weighted_by == "weight");
  CHECK(walk.restart_prob == 0.25);
  CHECK(walk.p == 0.5);
  CHECK(walk.q == 2);
  CHECK(walk.node_type == "author");
  const QueryStep& most = query.steps[10];
  CHECK(most.kind == StepKind::kVisited);
  CHECK(most.metapath.size() == 2);
  CHECK(most.top == 10);
  CHECK(most.length == 6);
  CHECK(most.num_walks == 50);
  CHECK(most.exclude_start);
  CHECK(most.restart_prob == 0.1);
  const QueryStep& rank = query.steps[11];
  CHECK(rank.kind == StepKind::kPpr);
  CHECK(rank.edge_types == std::vector<std::string>{"cites", "has"});
  CHECK(rank.top == 32);
  CHECK(rank.alpha == 0.25);
  CHECK(rank.eps == 1e-5);
  CHECK(rank.max_neighbors == 100);
  CHECK(rank.weighted_by == "weight");
  CHECK(rank.node_type == "author");
  CHECK(query.steps[12].kind == StepKind::kInduced);
  CHECK(query.steps[12].among == std::vector<std::string>{"src", "near"});
  CHECK(query.steps[12].type == "cites");
  CHECK(query.steps[12].where == "weight > 1");
  CHECK(query.steps[12].edge_ids);
  CHECK(query.steps[13].among == std::vector<std::string>{"near"});
  CHECK(query.steps[14].direction == EdgeDirection::kOut);
  CHECK(query.steps[15].direction == EdgeDirection::kIn);
}

TEST_CASE("What is written of a query is read as the same query") {
  const std::string text =
      "src = nodes(paper, $seeds, where=\"year >= 2010\")\n"
      "ada = nodes(author, [ada, \"grace h\", 7, -1, \"8 \", \"1F2\"], columns=[\"h-index x\"])\n"
      "near = neighbors(src, paper:cites:paper, all, order_by=time, descending=true, limit=3, "
      "edge_ids=true)\n"
      "no = negatives(src, cites, 5, degree_power=0.10000000000000001, exact=false, "
      "shared=true)\n"
      "like = negatives(src, cites, 8, like=near, same=[kind], shares=[0.25])\n"
      "lay = layer(near, 'it \"is\"', 64, by=weight, square_root=true, columns=[\"7\", name])\n"
      "one = walk(src, cites, 4, edge_ids=true)\n"
      "many = walk(src, [cites, \"7\"], 4, weighted_by=w, restart_prob=0.25, p=0.5, q=2, "
      "node_type=author)\n"
      "none = walk(src, [], all)\n"
      "most = visited(src, cites, 10, length=6, num_walks=50, p=2, exclude_start=true)\n"
      "rank = ppr(src, cites, 10, alpha=0.25, weighted_by=weight)\n"
      "whole = ppr(src, [], 10, max_neighbors=7)\n"
      "sub = induced([src, near], cites, columns=[x], edge_columns=[weight], edge_ids=true)\n"
      "own = induced(near, cites)\n"
      "onto = neighbors(src, cites, 5, by=weight, replace=true, direction=out)\n";
  CHECK(Again(text) == text);
  CHECK(Again("near = neighbors(src, cites, direction=in)") ==
        "near = neighbors(src, cites, all)\n");
  Query built;
  built.Nodes("src", "paper").input = "seeds";
  QueryStep& near = built.Neighbors("near", "src", "cites", 10);
  built.Neighbors("far", "near", "cites");
  built.Walk("walk", "src", {"cites"}, 3).p = 2;
  near.columns = {"features"};
  CHECK(built.Text() ==
        "src = nodes(paper, $seeds)\n"
        "near = neighbors(src, cites, 10, columns=[features])\n"
        "far = neighbors(near, cites, all)\n"
        "walk = walk(src, cites, 3, p=2)\n");
  CHECK(Query::Parse(built.Text())->Text() == built.Text());
  Query more;
  more.Nodes("src", "paper");
  QueryStep& visited = more.Visited("v", "src", {"cites"}, 5);
  visited.length = 3;
  visited.num_walks = 9;
  more.Ppr("r", "v", {}, 5).eps = 0.5;
  more.Induced("i", {"src", "v"}, "cites").edge_ids = true;
  more.Neighbors("o", "src", "cites").direction = EdgeDirection::kOut;
  CHECK(more.Text() ==
        "src = nodes(paper)\n"
        "v = visited(src, cites, 5, length=3, num_walks=9)\n"
        "r = ppr(v, [], 5, eps=0.5)\n"
        "i = induced([src, v], cites, edge_ids=true)\n"
        "o = neighbors(src, cites, all, direction=out)\n");
}

TEST_CASE("a column whose name looks like a number is written so that it is read again") {
  const std::string text =
      "near = neighbors(src, cites, all, columns=[\"7\", \"-1\"], edge_columns=[\"8 \"])\n";
  CHECK(Again(text) == text);
}

TEST_CASE("What is no query is refused with its place") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "a query without steps"},
      {"  # nothing\n", "a query without steps"},
      {"src", "line 1, character 4: expected `=`, found the end"},
      {"src = paper(x)",
       "line 1, character 7: expected one of nodes, neighbors, negatives, layer, walk, visited, "
       "ppr, induced, found `paper(x)`"},
      {"src = nodes()", "character 13: expected a node type, found `)`"},
      {"src = nodes(paper", "character 18: expected `,`, found the end"},
      {"a = nodes(p)\nb = neighbors(a)", "line 2, character 16: expected an edge type, found `)`"},
      {"a = nodes(p)\n  b = negatives(a, e)", "line 2, character 21: expected how many, found `)`"},
      {"a = nodes(p) b = nodes(p)", "character 14: expected the end of the line, or ;"},
      {"a = nodes(p, contains=3)", "character 14: expected one of split, count, by"},
      {"a = nodes(p, split=all)", "expected one of train, validation, test, found `all)`"},
      {"a = nodes(p, by=x, by=y)", "another argument than by, which is given already"},
      {"a = nodes(p, by=x, $in)", "an argument with its name"},
      {"b = neighbors(a, e, 10, 20)", "with its name and =, found `20)`"},
      {"b = neighbors(a, e, 1.5)", "expected for how many a whole number, or all, found `1.5)`"},
      {"b = neighbors(a, e, 99999999999999999999)", "a whole number, or all"},
      {"b = neighbors(a, e, replace=yes)", "expected true or false, found `yes)`"},
      {"b = neighbors(a, e, columns=x)", "expected `[`, found `x)`"},
      {"b = neighbors(a, e, direction=both)", "expected one of in, out, found `both)`"},
      {"b = negatives(a, e, 2, direction=out)", "expected one of by, degree_power"},
      {"b = neighbors(a, e, columns=[1])", "a word, a text or ], found `1])`"},
      {"b = neighbors(a, e, where=\"x > 1)", "a second \" behind the text"},
      {"b = negatives(a, e, 1, degree_power=nan)", "expected for degree_power a number"},
      {"a = nodes(p, $)", "expected a word behind $"},
      {"a = nodes(p) ?", "expected a word, a text, a number or one of"},
      {"a = nodes(p, [1, 2)", "expected `,`, found `)`"},
      {"w = walk(a)", "character 11: expected an edge type, or a list of them, found `)`"},
      {"w = walk(a, 7, 2)", "expected an edge type, or a list of them, found `7, 2)`"},
      {"w = walk(a, [7], 2)", "expected a word, a text or ], found `7], 2)`"},
      {"w = walk(a, e, x)", "expected for how many steps a whole number, or all, found `x)`"},
      {"w = walk(a, e, p=2)", "expected how many steps, found `p=2)`"},
      {"w = walk(a, e, 3, by=x)", "expected one of weighted_by, restart_prob, p, q, node_type"},
      {"v = visited(a, e)", "character 17: expected how many of the nodes, found `)`"},
      {"v = visited(a, e, 3, num_walks=some)",
       "expected for num_walks a whole number, or all, found `some)`"},
      {"v = visited(a, e, 3, edge_ids=true)", "expected one of length, num_walks, weighted_by"},
      {"i = induced(a)", "character 14: expected an edge type, found `)`"},
      {"i = induced(7, e)", "expected a step's name, or a list of them, found `7, e)`"},
      {"i = induced([a, 7], e)", "expected a word, a text or ], found `7], e)`"},
      {"i = induced(a, e, limit=3)", "expected one of where, columns, edge_columns, edge_ids"},
      {"r = ppr(a, 10)", "expected an edge type, or a list of them, found `10)`"},
      {"r = ppr(a, e, 10, epsilon=1)", "expected one of alpha, eps, max_neighbors, weighted_by"},
      {"r = ppr(a, e, 10, alpha=x)", "expected for alpha a number, found `x)`"},
      {"w = walk(a, e, 3, q=much)", "expected for q a number, found `much)`"},
  };
  for (const auto& [text, expected] : wrong) {
    const absl::Status status = ParseQuery(text).status();
    INFO(text << "\n" << status);
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(status.message()).find(expected) != std::string::npos);
  }
}

TEST_CASE("A query has its limits") {
  std::string steps;
  for (int64_t i = 0; i < kMostQuerySteps; ++i) steps += "s" + std::to_string(i) + "=nodes(p)\n";
  VICINITY_CHECK_OK(ParseQuery(steps).status());
  VICINITY_CHECK_CODE(ParseQuery(steps + "more=nodes(p)").status(),
                      absl::StatusCode::kInvalidArgument);
  const std::string blanks(kMostQueryBytes, ' ');
  VICINITY_CHECK_CODE(ParseQuery("a = nodes(p)" + blanks).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
