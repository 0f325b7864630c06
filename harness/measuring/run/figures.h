#pragma once

#include <string>

namespace zerotax {

/// Draws all figures of a results folder with the scripts in plots/. Returns "" on success, or else the reason why
/// there are no figures, with a remedy. Runs the first of `python3` on PATH and /usr/bin/python3 that has matplotlib.
std::string draw_figures(const std::string& results_folder);

/// Writes report.html of a results folder with plots/write_page.py. Returns "" on success, or else the reason why there
/// is no page, with a remedy. Searches for a Python with jinja2 in the same places as draw_figures().
std::string write_report_page(const std::string& results_folder);

/// Draws one document with the script plots/NAME.py, and returns the SVG. An empty document only checks whether drawing
/// is possible, and returns nothing. Throws MachineError with the package to install, or with the script's error.
std::string draw_svg(const std::string& name, const std::string& document);

/// Returns the HTML page of a comparison, made by plots/write_comparison.py. The document is the JSON of `zerotax
/// compare`, `zerotax check` or `zerotax history`. An empty document only checks whether a page is possible, and
/// returns nothing. Throws MachineError with the package to install, or with the script's error.
std::string make_comparison_page(const std::string& document);

}  // namespace zerotax
