#pragma once

#include <string_view>

namespace zerotax {

/// Writes all of it, in as many pieces as it takes. False, with errno, if that fails: some of it may be written then.
bool write_all(int fd, std::string_view bytes);

}  // namespace zerotax
