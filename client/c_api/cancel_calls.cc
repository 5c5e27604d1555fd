// The part of client/c_api/vicinity.h that concerns calls that are given up.
#include <cstdint>

#include "client/c_api/call.h"
#include "client/c_api/handles.h"
#include "client/c_api/vicinity.h"
#include "client/call_cancellation.h"
#include "client/types/result.h"

using vicinity::CallCancellation;
using vicinity::Error;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

int32_t vicinity_cancellation_create(VicinityCancellation** cancellation) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"cancellation", cancellation}});
    if (error.ok()) *cancellation = new VicinityCancellation();
    return error;
  });
}

void vicinity_cancellation_release(VicinityCancellation* cancellation) { delete cancellation; }

int32_t vicinity_cancellation_enter(const VicinityCancellation* cancellation) {
  return Call([&]() -> Error {
    if (cancellation == nullptr) {
      CallCancellation::Leave();
    } else {
      cancellation->calls.Enter();
    }
    return Error();
  });
}

int32_t vicinity_cancellation_cancel(const VicinityCancellation* cancellation) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"cancellation", cancellation}});
    if (error.ok()) cancellation->calls.Cancel();
    return error;
  });
}

}  // extern "C"
