#include "client/c_api/call.h"

#include <cstring>

namespace vicinity::c_api {
namespace {

std::string& ThreadsError() {
  static thread_local std::string error;
  return error;
}

}  // namespace

int32_t Report(const Error& error) {
  if (!error.ok()) ThreadsError() = error.message();
  return static_cast<int32_t>(error.code());
}

const char* LastError() { return ThreadsError().c_str(); }

Error CheckGiven(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.value != nullptr) continue;
    return Error(ErrorCode::kInvalidArgument, std::string(argument.name) + " is null");
  }
  return Error();
}

Error GiveText(const std::string& text, char** given) {
  char* const copy = strdup(text.c_str());
  if (copy == nullptr) return Error(ErrorCode::kResourceExhausted, "out of memory");
  *given = copy;
  return Error();
}

}  // namespace vicinity::c_api
