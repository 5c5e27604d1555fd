// What is drawn, as it travels. Apart from draw_spec.h, so that drawing needs no messages.
#pragma once

#include "proto/service.pb.h"
#include "sampler/draw_spec.h"

namespace vicinity {

// Nothing is checked here: SampleOneHop refuses what makes no sense.
void ToProto(const DrawSpec& spec, proto::DrawSpec* message);
DrawSpec FromProto(const proto::DrawSpec& message);

}  // namespace vicinity
