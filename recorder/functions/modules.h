#pragma once

namespace zerotax::functions {

/// Records which program files are loaded now.
void record_modules();

}  // namespace zerotax::functions
