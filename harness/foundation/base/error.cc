#include "base/error.h"

namespace zerotax {

Error::Error(ExitStatus status, const std::string& problem, std::string remedy)
    : std::runtime_error(problem), status_(status), remedy_(std::move(remedy)) {}

}  // namespace zerotax
