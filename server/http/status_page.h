// The status page: one file without anything from elsewhere, which asks /status.json for what it
// shows (server/http/status_page.html).
#pragma once

namespace vicinity {

extern const char kStatusPage[];

// Its Content-Security-Policy: nothing but what it carries itself, and this server.
extern const char kStatusPagePolicy[];

}  // namespace vicinity
