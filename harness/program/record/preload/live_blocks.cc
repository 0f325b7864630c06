#include "record/preload/live_blocks.h"

namespace zerotax::record {

constinit BlockTable<LiveBlock> live_blocks;

}  // namespace zerotax::record
