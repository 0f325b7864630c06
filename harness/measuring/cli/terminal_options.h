#pragma once

#include <cstdio>
#include <string>

#include "base/plot_canvas.h"
#include "base/table.h"
#include "cli/arguments.h"

namespace zerotax {

/// Adds --color, which every command has.
void add_colour_option(Arguments& arguments);

/// Adds --full, which every command has.
void add_full_option(Arguments& arguments);

/// Whether --full asks to print everything instead of an answer of one screen (base/answer.h).
bool wants_full_text();

/// The palette for a stream, chosen by --color and by the kind of stream (suits_colour). No other function decides
/// about color.
Palette palette_for(std::FILE* stream);

/// Adds --plot. `what` names the plot in the description of --plot, such as "time against size".
Argument add_plot_option(Arguments& arguments, bool& plot, const std::string& what);

/// The style for standard output: 60 to 160 columns wide, like the terminal, or 80 without one; Unicode if the locale
/// is UTF-8.
PlotStyle plot_style();

/// Prints the last line of a command, such as "next: zerotax report --allocator glibc", to standard error if that is a
/// terminal. `command` can be pasted into a shell. Prints nothing if `command` is empty, because there is nothing to
/// act on.
void say_next(const std::string& command);

}  // namespace zerotax
