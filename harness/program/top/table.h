#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "top/result.h"

namespace zerotax::top {

/// Lines for people, none wider than `columns`: the machine, the heading and a row each, and the notes below.
struct Lines {
  std::vector<std::string> head;
  std::string heading;
  std::vector<std::string> rows;
  std::vector<std::string> foot;
};

Lines top_lines(const Sample& sample, std::size_t columns);

/// All of them, each with its line break.
std::string top_text(const Sample& sample, std::size_t columns);

}  // namespace zerotax::top
