// What ends the questions of a thread: for callers that cannot hand a Cancellation down to what
// they call, as those of the C interface, whose calls are made in one thread and cancelled from
// another.
#pragma once

#include <memory>

#include "client/shards/cancellation.h"

namespace vicinity {

// From now on what this thread asks of shards behind servers, and a graph that it opens, ends soon
// after `cancellation` is cancelled, unless it has a cancellation of its own, as loaders and
// asynchronous calls have. Null: nothing does. Not while an operation of the thread is under way.
void SetThreadCancellation(std::shared_ptr<Cancellation> cancellation);

// That of this thread; null: none. It stays until the next SetThreadCancellation.
Cancellation* ThreadCancellation();

}  // namespace vicinity
