#include "tests/testing/graphs/shard_answers.h"

#include <algorithm>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/rules/found_rows.h"
#include "sampler/walk_spec.h"

namespace vicinity::testing {
namespace {

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<uint64_t> UpTo(int64_t count) {
  std::vector<uint64_t> rows(count);
  std::iota(rows.begin(), rows.end(), uint64_t{0});
  return rows;
}

std::vector<int64_t> InOrder(size_t count) {
  std::vector<int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

class Asking {
 public:
  Asking(const Schema& schema, ShardAccess* shard, const CallContext& context)
      : schema_(schema), shard_(shard), context_(context) {}

  void AskAll(const std::vector<std::vector<uint64_t>>& keys) {
    Note("sizes", Ask(ShardBarrier{&sizes_}),
         absl::StrCat(sizes_.version, ":", BytesOf(sizes_.num_nodes), BytesOf(sizes_.num_edges)));
    if (sizes_.num_nodes.empty()) return;
    for (int32_t type = 0; type < static_cast<int32_t>(schema_.node_types.size()); ++type) {
      AskNodes(type, keys[type]);
    }
    for (int32_t type = 0; type < static_cast<int32_t>(schema_.edge_types.size()); ++type) {
      AskEdges(type);
    }
    AskWalks();
    AskFound();
  }
  ShardAnswers Take() { return std::move(answers_); }

 private:
  template <typename Request>
  absl::Status Ask(const Request& request) {
    FanOut calls;
    shard_->Ask(request, context_, calls.Add());
    return calls.Wait();
  }
  void Note(const std::string& what, const absl::Status& status, std::string answer) {
    answers_.emplace_back(what, status.ok() ? std::move(answer) : status.ToString());
  }

  void AskRows(const std::string& what, ShardRows request, int64_t num_rows) {
    if (request.row_bytes == 0 || num_rows == 0) return;
    std::string out(num_rows * request.row_bytes, '\0');
    request.out = out.data();
    request.count = num_rows;
    absl::Status status = Ask(request);
    std::string all = out;
    const std::vector<uint64_t> rows = UpTo(num_rows);
    request.count = 0;
    request.rows = rows;
    status.Update(Ask(request));
    Note(what, status, all + out);
  }

  void AskNodes(int32_t type, const std::vector<uint64_t>& keys) {
    const NodeTypeSpec& spec = schema_.node_types[type];
    const int64_t num_rows = sizes_.num_nodes[type];
    ShardRows rows;
    rows.type = {type};
    for (size_t column = 0; column < spec.columns.size(); ++column) {
      rows.column = static_cast<int32_t>(column);
      rows.row_bytes = spec.columns[column].row_bytes();
      AskRows(absl::StrCat(spec.name, ".", spec.columns[column].name), rows, num_rows);
    }
    rows.column = kKeyColumn;
    rows.row_bytes = sizeof(uint64_t);
    AskRows(absl::StrCat(spec.name, " keys"), rows, num_rows);
    for (int32_t column = spec.id_kind == IdKind::kString ? kNamesColumn : 0;
         column < static_cast<int32_t>(spec.ragged.size()); ++column) {
      AskRagged(type, column, num_rows);
    }
    std::vector<int64_t> nodes(keys.size(), -7);
    const absl::Status found = Ask(ShardKeys{{type}, keys, InOrder(keys.size()), nodes.data()});
    Note(absl::StrCat(spec.name, " of keys"), found, BytesOf(nodes));
  }

  void AskRagged(int32_t type, int32_t column, int64_t num_rows) {
    const std::vector<uint64_t> rows = UpTo(num_rows);
    const std::vector<int64_t> positions = InOrder(rows.size());
    std::vector<std::string> out(rows.size());
    const absl::Status status = Ask(ShardRagged{{type}, column, rows, positions, out.data()});
    std::string all;
    for (const std::string& row : out) absl::StrAppend(&all, row.size(), ":", row);
    Note(absl::StrCat("ragged column ", column, " of type ", type), status, all);
  }

  void AskEdges(int32_t type) {
    const EdgeTypeSpec& spec = schema_.edge_types[type];
    const std::string name = schema_.EdgeTypeName(type);
    const std::vector<uint64_t> rows = UpTo(sizes_.num_nodes[spec.target_type]);
    std::vector<int64_t> degrees(rows.size(), -7);
    const absl::Status counted =
        Ask(ShardDegrees{{type}, rows, InOrder(rows.size()), degrees.data()});
    Note(name + " degrees", counted, BytesOf(degrees));
    std::vector<DrawSpec> rules(4);
    rules[0].fanout = kAllNeighbors;
    rules[1].fanout = 3;
    rules[2].fanout = 3;
    rules[2].replace = true;
    rules[3].fanout = 2;
    rules[3].weighted = !spec.weight_column.empty();
    rules[3].labor = spec.weight_column.empty();
    Neighbors all;
    for (size_t rule = 0; rule < rules.size(); ++rule) {
      Neighbors out;
      AskHop(absl::StrCat(name, " by rule ", rule), type, rules[rule], rows, &out);
      if (rule == 0) all = std::move(out);
    }
    AskEdgeIds(type, rows, all);
    ShardRows columns;
    columns.edge_type = EdgeTypeId{type};
    for (size_t column = 0; column < spec.columns.size(); ++column) {
      columns.column = static_cast<int32_t>(column);
      columns.row_bytes = spec.columns[column].row_bytes();
      AskRows(absl::StrCat(name, ".", spec.columns[column].name), columns, sizes_.num_edges[type]);
    }
  }

  void AskHop(const std::string& what, int32_t type, const DrawSpec& rule,
              const std::vector<uint64_t>& rows, Neighbors* out) {
    ShardHop hop;
    hop.draw = {5, 1, 2};
    hop.detail = EdgeDetail(/*ids=*/true, /*positions=*/true);
    hop.relations.push_back({{type}, rule, rows});
    hop.out = absl::MakeSpan(out, 1);
    const absl::Status status = Ask(hop);
    Note(what, status,
         absl::StrCat(BytesOf(out->counts), "/", BytesOf(out->sources), "/", BytesOf(out->edge_ids),
                      "/", BytesOf(out->edge_positions)));
  }

  void AskEdgeIds(int32_t type, const std::vector<uint64_t>& rows, const Neighbors& all) {
    std::vector<uint64_t> sources;
    std::vector<uint64_t> targets;
    for (size_t i = 0, next = 0; i < all.counts.size(); ++i) {
      for (uint32_t k = 0; k < all.counts[i]; ++k, ++next) {
        for (const int64_t source : {all.sources[next], all.sources[next] + 1}) {
          sources.push_back(static_cast<uint64_t>(source));
          targets.push_back(rows[i]);
        }
      }
    }
    std::vector<int64_t> ids(sources.size(), -7);
    const absl::Status status =
        Ask(ShardEdgeIds{{type}, sources, targets, InOrder(sources.size()), ids.data()});
    Note(schema_.EdgeTypeName(type) + " ids", status, BytesOf(ids));
  }

  void AskWalks() {
    WalkSpec spec;
    spec.metapath = {1, 0};  // from users by items to users
    spec.length = 6;
    const std::vector<uint64_t> rows = UpTo(sizes_.num_nodes[0]);
    std::vector<uint32_t> walks(rows.size());
    std::iota(walks.begin(), walks.end(), 0u);
    const std::vector<uint32_t> steps(rows.size(), 0);
    const std::vector<int64_t> positions = InOrder(rows.size());
    std::vector<int64_t> nodes(rows.size() * 7, -7);
    std::vector<int64_t> edge_ids(rows.size() * 6, -7);
    const absl::Status status = Ask(
        ShardWalks{&spec, {3, 1, 4}, walks, steps, rows, positions, nodes.data(), edge_ids.data()});
    Note("walks", status, BytesOf(nodes) + BytesOf(edge_ids));
  }

  void AskFound() {
    RowCondition where;
    RowCondition::Term term;
    term.op = ConditionOp::kGreaterEqual;
    term.column = 1;  // the label
    term.whole = {1};
    where.terms.push_back(term);
    const std::string problem = CompleteCondition(schema_.node_types[0].columns, &where);
    FoundRows found;
    ShardFind find;
    find.where = &where;
    find.count = sizes_.num_nodes[0];
    find.out = &found;
    Note("users with labels", problem.empty() ? Ask(find) : absl::InternalError(problem),
         BytesOf(found.rows));
  }

  const Schema& schema_;
  ShardAccess* const shard_;
  const CallContext context_;
  ShardVersion sizes_;
  ShardAnswers answers_;
};

}  // namespace

ShardAnswers AnswersOf(const Schema& schema, ShardAccess* shard,
                       const std::vector<std::vector<uint64_t>>& keys, const CallContext& context) {
  Asking asking(schema, shard, context);
  asking.AskAll(keys);
  return asking.Take();
}

std::string Difference(const ShardAnswers& a, const ShardAnswers& b) {
  if (a.size() != b.size()) return absl::StrCat(a.size(), " and ", b.size(), " answers");
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const std::string& one = a[i].second;
    const std::string& other = b[i].second;
    const size_t at =
        std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin();
    const auto readable = [](const std::string& answer) {
      const bool is_text =
          std::all_of(answer.begin(), answer.end(), [](char c) { return c >= ' ' && c <= '~'; });
      return is_text ? answer.substr(0, 200) : absl::StrCat(answer.size(), " bytes");
    };
    return absl::StrCat(a[i].first, " and ", b[i].first, ": ", readable(one), " and ",
                        readable(other), ", from byte ", at, " on");
  }
  return "";
}

}  // namespace vicinity::testing
