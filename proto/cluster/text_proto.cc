#include "proto/cluster/text_proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  const std::string& text() const { return text_; }
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    // The parser counts from 0.
    if (text_.empty()) text_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }

 private:
  std::string text_;
};

}  // namespace

absl::Status ParseTextProto(const std::string& path, const std::string& text,
                            google::protobuf::Message* message, UnknownFields unknown) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(unknown == UnknownFields::kSkip);
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(text, message)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ":", error.text()));
}

}  // namespace vicinity
