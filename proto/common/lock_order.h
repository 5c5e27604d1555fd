// Keeps Abseil from watching the order of locks while the product runs.
#pragma once

namespace vicinity {

// Debian builds Abseil with its debug checks: each lock of gRPC's is entered into one graph of the
// whole process, under one lock, and a lock taken in another order than before aborts the process.
// A trainer or a server wants neither. The first lock of gRPC's may have been taken before.
//
// Threads: any number. Cost: one store.
void IgnoreLockOrder();

}  // namespace vicinity
