#include "sampler/draw_spec_proto.h"

namespace vicinity {

void ToProto(const DrawSpec& spec, proto::DrawSpec* message) {
  message->set_fanout(spec.fanout);
  message->set_replace(spec.replace);
  message->set_weighted(spec.weighted);
  message->set_time_column(spec.time_column + 1);
  message->set_last(spec.last);
}

DrawSpec FromProto(const proto::DrawSpec& message) {
  DrawSpec spec;
  spec.fanout = message.fanout();
  spec.replace = message.replace();
  spec.weighted = message.weighted();
  spec.time_column = message.time_column() - 1;
  spec.last = message.last();
  return spec;
}

}  // namespace vicinity
