#pragma once

#include <string>

namespace zerotax {

/// Whether only this user, root, or the user who called sudo can have written a file. False if the file does not exist.
bool is_of_trusted_user(const std::string& path);

}  // namespace zerotax
