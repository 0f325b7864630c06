#include "cli/plot_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "os/terminal.h"

namespace zerotax {

Argument add_plot_option(Arguments& arguments, bool& plot, const std::string& what) {
  return arguments.flag("--plot", plot, fmt::format("also draw {} in the terminal", what));
}

PlotStyle plot_style() {
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 160;  // beyond it lines are hard to follow
  return {std::clamp(terminal_columns(stdout), kNarrowest, kWidest), locale_is_utf8()};
}

}  // namespace zerotax
