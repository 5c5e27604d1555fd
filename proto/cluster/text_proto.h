// Messages in protobuf's text format, as people write them.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace vicinity {

// Fields that this build does not know: an error, or passed over.
enum class UnknownFields { kRefuse, kSkip };

// Parses all of `text`. InvalidArgument "path:line:column: what" with the first error, which is the
// one that names the cause; `message` is then in an unknown state.
absl::Status ParseTextProto(const std::string& path, const std::string& text,
                            google::protobuf::Message* message,
                            UnknownFields unknown = UnknownFields::kRefuse);

}  // namespace vicinity
