// SIGTERM, SIGINT and SIGHUP taken by threads that wait for them; there are no signal handlers.
#pragma once

#include <chrono>
#include <functional>

namespace vicinity {

// Blocks them in this thread and in all that it starts, so that they wait to be taken. To be called
// before any other thread exists.
void BlockStopSignals();

// Waits for SIGTERM or SIGINT, for as long as the process lives, and returns its number. Each
// SIGHUP on the way calls `reload`.
int WaitForStopSignal(const std::function<void()>& reload);

// The process gets SIGTERM: stops as if told from outside.
void StopThisProcess();

// From now on a further stop signal, or `limit` running out, ends the process at once with exit
// code 1: whatever hangs while stopping, it stops.
void ForceExitAfter(std::chrono::nanoseconds limit);

// The process gets SIGTERM when the one that started it ends. False if that has happened already.
bool StopWithParent();

}  // namespace vicinity
