#include "sampler/draw_spec_proto.h"

namespace vicinity {

void ToProto(const DrawSpec& spec, proto::DrawSpec* message) {
  message->set_fanout(spec.fanout);
  message->set_replace(spec.replace);
  message->set_weighted(spec.weighted);
}

DrawSpec FromProto(const proto::DrawSpec& message) {
  DrawSpec spec;
  spec.fanout = message.fanout();
  spec.replace = message.replace();
  spec.weighted = message.weighted();
  return spec;
}

}  // namespace vicinity
