#pragma once

#include <string>

namespace zerotax {

/// Draws every figure of a results folder with the scripts in plots/. Returns "" on success, else why there are no
/// figures and what to do. Tries `python3` on PATH and /usr/bin/python3, and takes the first that has matplotlib.
std::string draw_figures(const std::string& results_folder);

/// Draws the figure of a "zerotax.snapshot/1" document (its text) to an SVG file. Returns as draw_figures does. Throws
/// UsageError if the file cannot be written.
std::string draw_snapshot(const std::string& snapshot, const std::string& file);

}  // namespace zerotax
