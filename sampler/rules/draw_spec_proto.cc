#include "sampler/rules/draw_spec_proto.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

RowCondition TermsOf(const proto::Condition& message) {
  RowCondition condition;
  for (const proto::Condition::Term& from : message.terms()) {
    RowCondition::Term term;
    const bool is_known = from.op() >= 0 && from.op() <= static_cast<int>(kLastConditionOp);
    if (is_known) term.op = static_cast<ConditionOp>(from.op());
    if (IsComparison(term.op)) term.column = from.column();
    term.whole.assign(from.whole().begin(), from.whole().end());
    term.real.assign(from.real().begin(), from.real().end());
    condition.terms.push_back(std::move(term));
  }
  return condition;
}

}  // namespace

void ToProto(const RowCondition& condition, proto::Condition* message) {
  for (const RowCondition::Term& term : condition.terms) {
    proto::Condition::Term* const to = message->add_terms();
    to->set_op(static_cast<proto::Condition::Op>(term.op));
    to->set_column(IsComparison(term.op) ? term.column : 0);
    to->mutable_whole()->Add(term.whole.begin(), term.whole.end());
    to->mutable_real()->Add(term.real.begin(), term.real.end());
  }
}

absl::StatusOr<RowCondition> FromProto(const proto::Condition& message,
                                       absl::Span<const ColumnSpec> columns) {
  if (message.terms_size() > kMostConditionTerms) {
    return absl::InvalidArgumentError(absl::StrCat("a condition of ", message.terms_size(),
                                                   " terms, at most ", kMostConditionTerms));
  }
  RowCondition condition = TermsOf(message);
  if (const std::string problem = CompleteCondition(columns, &condition); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  return condition;
}

void ToProto(const DrawSpec& spec, proto::DrawSpec* message) {
  message->set_fanout(spec.fanout);
  message->set_replace(spec.replace);
  message->set_weighted(spec.weighted);
  message->set_time_column(spec.time_column + 1);
  message->set_last(spec.last);
  message->set_labor(spec.labor);
  message->set_layer_dependency(spec.layer_dependency);
  message->set_batch_dependency(spec.batch_dependency == 1 ? 0 : spec.batch_dependency);
  if (spec.where != nullptr) ToProto(*spec.where, message->mutable_where());
}

absl::StatusOr<DrawSpec> FromProto(const proto::DrawSpec& message,
                                   absl::Span<const ColumnSpec> columns) {
  DrawSpec spec;
  spec.fanout = message.fanout();
  spec.replace = message.replace();
  spec.weighted = message.weighted();
  spec.time_column = message.time_column() - 1;
  spec.last = message.last();
  spec.labor = message.labor();
  spec.layer_dependency = message.layer_dependency();
  spec.batch_dependency = std::max<uint64_t>(1, message.batch_dependency());
  if (message.where().terms().empty()) return spec;
  VICINITY_ASSIGN_OR_RETURN(RowCondition where, FromProto(message.where(), columns));
  spec.where = std::make_shared<const RowCondition>(std::move(where));
  return spec;
}

}  // namespace vicinity
