#pragma once

#include <string>

#include "run/machine/boot.h"
#include "run/machine/kernel.h"

namespace zerotax::machine {

/// A random token, by which the first process recognizes its machine (guest_init.c). Throws MachineError.
std::string new_token();

/// The archive that the kernel unpacks: the first process, its token and its job, and modules. Throws MachineError if
/// this build lacks zerotax-guest-init.
std::string archive_for(const GuestKernel& kernel, const GuestProgram& program, const std::string& token);

}  // namespace zerotax::machine
