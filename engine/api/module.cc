// Pulls api.h's functions out of their library and into the module; the linker keeps what is
// exported.
#include "engine/api/api.h"
