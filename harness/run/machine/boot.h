#pragma once

#include <string>
#include <vector>

#include "run/machine/place.h"

namespace zerotax::machine {

/// Runs this program with other words in a virtual machine: under QEMU, by KVM where that works, with the files, the
/// user, the environment and the working directory of this process. What it writes on its standard output and standard
/// error comes out at ours while it runs, and a signal that asks us for an end is passed on. Returns its exit status.
///
/// Throws UsageError and MachineError, with nothing left behind: there is no such kernel, no QEMU; the machine does not
/// start, panics, or ends before the command does.
int run_in_machine(const MachinePlace& place, const std::vector<std::string>& words);

}  // namespace zerotax::machine
