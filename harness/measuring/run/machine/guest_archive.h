#pragma once

#include <string>

#include "run/machine/boot.h"
#include "run/machine/kernel.h"

namespace zerotax::machine {

/// Returns a random token with which the guest's first process recognizes its machine (guest_init.c). Throws
/// MachineError.
std::string new_token();

/// Returns the archive that the kernel unpacks: the first process, its token and job, and modules. Throws MachineError
/// if this build lacks zerotax-guest-init.
std::string archive_for(const GuestKernel& kernel, const GuestProgram& program, const std::string& token);

}  // namespace zerotax::machine
