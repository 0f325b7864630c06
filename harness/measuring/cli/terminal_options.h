#pragma once

#include <cstdio>
#include <string>

#include "base/plot_canvas.h"
#include "base/table.h"
#include "cli/arguments.h"

namespace zerotax {

/// Adds --color, which every command has.
void add_colour_option(Arguments& arguments);

/// The palette for a stream, by --color and by the kind of stream (suits_colour). Nothing else decides on colour.
Palette palette_for(std::FILE* stream);

/// Adds --plot. `what`: "time against size".
Argument add_plot_option(Arguments& arguments, bool& plot, const std::string& what);

/// For standard output: as wide as the terminal that it is, at least 60 and at most 160 columns, or 80; in Unicode if
/// the locale is UTF-8.
PlotStyle plot_style();

/// Where people look on, the last line that a command says: "next: zerotax report --allocator glibc". On standard
/// error, and only if that is a terminal. `command`: to paste; empty: there is nothing to act on, and nothing is said.
void say_next(const std::string& command);

}  // namespace zerotax
