// What is drawn, as it travels. Apart from draw_spec.h, so that drawing needs no messages.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/service.pb.h"
#include "sampler/rules/draw_spec.h"

namespace vicinity {

// A condition, as it is evaluated. InvalidArgument for one that has too many terms, does not fit
// the columns or cannot be evaluated.
void ToProto(const RowCondition& condition, proto::Condition* message);
absl::StatusOr<RowCondition> FromProto(const proto::Condition& message,
                                       absl::Span<const ColumnSpec> columns);

void ToProto(const DrawSpec& spec, proto::DrawSpec* message);

// InvalidArgument for a condition that does not fit the edge type's columns or cannot be evaluated.
// Nothing else is checked here: SampleOneHop refuses what makes no sense.
absl::StatusOr<DrawSpec> FromProto(const proto::DrawSpec& message,
                                   absl::Span<const ColumnSpec> columns);

}  // namespace vicinity
