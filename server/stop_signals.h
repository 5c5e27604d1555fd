// SIGTERM and SIGINT taken by threads that wait for them; there are no signal handlers.
#pragma once

#include <chrono>

namespace vicinity {

// Blocks both in this thread and in all that it starts, so that they wait to be taken. To be called
// before any other thread exists.
void BlockStopSignals();

// Waits for one of the two, for as long as the process lives. Returns its number.
int WaitForStopSignal();

// From now on a further stop signal, or `limit` running out, ends the process at once with exit
// code 1: whatever hangs while stopping, it stops.
void ForceExitAfter(std::chrono::nanoseconds limit);

// The process gets SIGTERM when the one that started it ends. False if that has happened already.
bool StopWithParent();

}  // namespace vicinity
