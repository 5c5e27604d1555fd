// What every Device must do: run on the host at once and late, and on a GPU where there is one, by
// each device's test.
#pragma once

#include "cache/device/base/device.h"

namespace vicinity::testing {

// In sections, one for each promise; the test case that calls it makes a new device for each.
//
//   memory    aligned and apart; none for no bytes; more than there is, is refused
//   order     a stream does its work in the order in which it got it, also when it is gone itself
//   events    reached before they are recorded and once their point is; waits are for the point
//             recorded last when they were asked for
//   streams   work of several, put in order by events alone
//   kernels   any number of threads, each run once; the kernel may go as soon as it is launched
//   others'   somebody else's stream is used and left to him
//   threads   several may use a device, and a stream, at once
void CheckDevice(Device* device);

}  // namespace vicinity::testing
