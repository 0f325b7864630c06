#pragma once

#include <cstdio>

#include "base/palette.h"
#include "cli/arguments.h"

namespace zerotax {

/// Adds --color, which every command has.
void add_colour_option(Arguments& arguments);

/// The palette for a stream, by --color and by the kind of stream (suits_colour). Nothing else decides on colour.
Palette palette_for(std::FILE* stream);

}  // namespace zerotax
