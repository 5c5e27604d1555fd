#include "server/http/status_page.h"

namespace vicinity {

const char kStatusPage[] =
#include "server/http/status_page.inc"
    ;

const char kStatusPagePolicy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
    "'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace vicinity
