#pragma once

#include <string>

namespace zerotax {

/// Draws every figure of a results folder with the scripts in plots/. Returns "" on success, else why there are no
/// figures and what to do. Tries `python3` on PATH and /usr/bin/python3, and takes the first that has matplotlib.
std::string draw_figures(const std::string& results_folder);

/// Writes report.html of a results folder by plots/page/write_page.py. Returns "" on success, else why there is no page
/// and what to do. Looks for a python with jinja2 as draw_figures does for its own.
std::string write_report_page(const std::string& results_folder);

/// Draws one document with the script plots/NAME.py, and returns the SVG. An empty document only checks whether that
/// is possible, and returns nothing. Throws MachineError with what to install, or what went wrong.
std::string draw_svg(const std::string& name, const std::string& document);

/// The HTML page of a comparison, before and after or version by version, by plots/page/write_comparison.py from the
/// JSON of `zerotax compare`, `zerotax check` or `zerotax history`. An empty document only checks whether that is
/// possible, and returns nothing. Throws MachineError with what to install, or what went wrong.
std::string make_comparison_page(const std::string& document);

}  // namespace zerotax
