#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zerotax {

/// Text files of the source tree, by name. The files are built in, so that an installed zerotax does not need their
/// folders.

/// Contents of harness/allocator/report/forms/<name>.txt, the issue form of a project's tracker.
const std::map<std::string, std::string>& embedded_forms();

/// Contents of harness/allocator/report/reproducers/<name>.c. The name is the kind of finding that the program
/// reproduces.
const std::map<std::string, std::string>& embedded_reproducers();

/// Replaces each @NAME@ in `text` with its value. Throws std::logic_error if a name has no value.
std::string fill_in(const std::string& text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace zerotax
