#pragma once

namespace zerotax::functions {

/// Records the program files that are loaded now.
void record_modules();

}  // namespace zerotax::functions
