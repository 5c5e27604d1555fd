#include "sampler/rules/draw_spec_proto.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/schema/condition.h"
#include "partition/schema/condition_text.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/service.pb.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

const std::vector<ColumnSpec> kColumns = {{"weight", DType::kFloat32, {}},
                                          {"time", DType::kInt64, {}}};

std::shared_ptr<const RowCondition> Where(const std::string& text) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(RowCondition resolved, ResolveCondition(condition, kColumns));
  return std::make_shared<const RowCondition>(std::move(resolved));
}

TEST_CASE("what is drawn comes out of the wire as it went in", "[draw_spec]") {
  DrawSpec spec;
  spec.fanout = GENERATE(int64_t{1}, int64_t{kMaxFanout}, int64_t{kAllNeighbors});
  spec.replace = GENERATE(false, true);
  spec.weighted = GENERATE(false, true);
  spec.time_column = GENERATE(-1, 0, 7);
  spec.last = GENERATE(false, true);
  spec.labor = GENERATE(false, true);
  spec.layer_dependency = spec.labor && spec.fanout == 1;
  if (spec.labor) spec.batch_dependency = GENERATE(uint64_t{1}, uint64_t{2}, UINT64_MAX);
  const std::string where = GENERATE("", "time > -3 and not weight in (0.5, 1)");
  if (!where.empty()) spec.where = Where(where);
  proto::DrawSpec message;
  ToProto(spec, &message);
  proto::DrawSpec received;
  REQUIRE(received.ParseFromString(message.SerializeAsString()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const DrawSpec same, FromProto(received, kColumns));
  CHECK(same == spec);
}

TEST_CASE("a condition that does not fit the columns is refused", "[draw_spec]") {
  DrawSpec spec{5};
  spec.where = Where("time > -3 and not weight in (0.5, 1)");
  proto::DrawSpec good;
  ToProto(spec, &good);
  const auto code = [&](auto change) {
    proto::DrawSpec message = good;
    change(message.mutable_where());
    return FromProto(message, kColumns).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  using C = proto::Condition;
  VICINITY_CHECK_CODE(code([](C* c) { c->mutable_terms()->RemoveLast(); }), kInvalid);
  VICINITY_CHECK_CODE(code([](C* c) { c->mutable_terms(0)->set_column(2); }), kInvalid);
  VICINITY_CHECK_CODE(code([](C* c) { c->mutable_terms(0)->add_whole(1); }), kInvalid);
  VICINITY_CHECK_CODE(code([](C* c) { c->mutable_terms(0)->set_op(C::NONE); }), kInvalid);
  VICINITY_CHECK_CODE(code([](C* c) { c->mutable_terms(0)->set_op(static_cast<C::Op>(-7)); }),
                      kInvalid);
  VICINITY_CHECK_CODE(code([](C* c) {
                        for (int i = 0; i < 1000; ++i) c->add_terms()->set_op(C::NOT);
                      }),
                      kInvalid);
}

TEST_CASE("specs differ by each of their members", "[draw_spec]") {
  const DrawSpec spec{5, false, false};
  CHECK_FALSE(spec == DrawSpec{6, false, false});
  CHECK_FALSE(spec == DrawSpec{5, true, false});
  CHECK_FALSE(spec == DrawSpec{5, false, true});
  CHECK_FALSE(spec == DrawSpec{5, false, false, 0});
  CHECK_FALSE(spec == DrawSpec{5, false, false, -1, true});
  CHECK_FALSE(spec == DrawSpec{5, false, false, -1, false, Where("time > 1")});
  CHECK_FALSE(DrawSpec{5, false, false, -1, false, Where("time > 2")} ==
              DrawSpec{5, false, false, -1, false, Where("time > 1")});
  CHECK(DrawSpec{5, false, false, -1, false, Where("time > 1")} ==
        DrawSpec{5, false, false, -1, false, Where("time > 1")});
}

}  // namespace
}  // namespace vicinity
