#pragma once

#include <cstdio>

#include "base/palette.h"
#include "cli/arguments.h"

namespace zerotax {

/// Adds --color, which every command has.
void add_colour_option(Arguments& arguments);

/// What may be coloured on a stream, by --color and by what the stream is (suits_colour). The only place that decides.
Palette palette_for(std::FILE* stream);

}  // namespace zerotax
