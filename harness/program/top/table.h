#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "top/result.h"

namespace zerotax::top {

/// Returns lines of text, each at most `columns` characters wide: the machine, the heading, the rows, and notes.
struct Lines {
  std::vector<std::string> head;
  std::string heading;
  std::vector<std::string> rows;
  std::vector<std::string> foot;
};

Lines top_lines(const Sample& sample, std::size_t columns);

/// Returns all lines of the table, each with a line break.
std::string top_text(const Sample& sample, std::size_t columns);

}  // namespace zerotax::top
