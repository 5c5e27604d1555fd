// What every C call does around its work: nothing is thrown across, what was wrong is remembered.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>

#include "client/types/result.h"

namespace vicinity::c_api {

// Remembers the text of an error for this thread, and gives its code; kOk changes nothing.
int32_t Report(const Error& error);

// As vicinity_last_error. Valid until the thread's next Report.
const char* LastError();

// kInvalidArgument naming the first argument that is null; no error if none is.
struct Argument {
  const char* name;
  const void* value;
};
Error CheckGiven(std::initializer_list<Argument> arguments);

// A copy of `text` for the caller, who frees it by vicinity_string_free.
Error GiveText(const std::string& text, char** given);

// The code of what `work` gives, an Error. Ours throws nothing, but allocation may, and libraries
// that work in between.
template <typename Work>
int32_t Call(Work&& work) {
  try {
    return Report(work());
  } catch (const std::bad_alloc&) {
    return Report(Error(ErrorCode::kResourceExhausted, "out of memory"));
  } catch (const std::exception& thrown) {
    return Report(Error(ErrorCode::kInternal, thrown.what()));
  }
}

}  // namespace vicinity::c_api
