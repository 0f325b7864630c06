#include "hostile.h"

[[gnu::weak]] void planted::large_free(void* block) { keep_block(block); }
