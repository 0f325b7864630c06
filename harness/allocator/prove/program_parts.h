#pragma once

#include <map>
#include <string>

namespace zerotax::prove {

/// Contents of harness/allocator/prove/program/<name>.txt: the parts of programs that do not depend on the sequence.
const std::map<std::string, std::string>& embedded_program_parts();

}  // namespace zerotax::prove
