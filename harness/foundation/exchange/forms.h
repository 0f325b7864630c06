#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zerotax {

/// Text files of the source tree that are built in, so that an installed zerotax needs no folder of them: their
/// contents by name.

/// harness/allocator/report/forms/<name>.txt: the form of a project's tracker.
const std::map<std::string, std::string>& embedded_forms();

/// harness/allocator/report/reproducers/<name>.c, with the name of the kind of finding that it reproduces.
const std::map<std::string, std::string>& embedded_reproducers();

/// Replaces each @NAME@ of `text`. Throws std::logic_error if one is left.
std::string fill_in(const std::string& text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace zerotax
