#pragma once

#include "base/plot_canvas.h"
#include "cli/arguments.h"

namespace zerotax {

/// Adds --plot. `what`: "time against size".
Argument add_plot_option(Arguments& arguments, bool& plot, const std::string& what);

/// For standard output: as wide as the terminal that it is, at least 60 and at most 160 columns, or 80; in Unicode if
/// the locale is UTF-8.
PlotStyle plot_style();

}  // namespace zerotax
