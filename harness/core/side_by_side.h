#pragma once

#include <cstddef>
#include <functional>

namespace zerotax {

/// Calls work(0) … work(tasks - 1) from several threads, each index once, in ascending order of start. The first
/// exception ends the rest early and is thrown again here.
void run_side_by_side(std::size_t tasks, std::size_t workers, const std::function<void(std::size_t)>& work);

}  // namespace zerotax
