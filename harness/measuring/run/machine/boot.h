#pragma once

#include <string>
#include <vector>

#include "run/machine/place.h"

namespace zerotax::machine {

/// A program to run in a virtual machine.
struct GuestProgram {
  std::string path;
  std::vector<std::string> words;  ///< after its name
  std::string init;                ///< zerotax-guest-init of the same build
  std::string system;              ///< whose /bin, /lib, /sbin and /usr the machine has; empty: those of this system
};

/// This program with other words: of this build, or of the one that a place with another processor has. Throws
/// MachineError if there is none.
GuestProgram this_program(const MachinePlace& place, const std::vector<std::string>& words);

/// Runs a program in a virtual machine: under QEMU, by KVM where that works, with the files, the
/// user, the environment and the working directory of this process. What it writes on its standard output and standard
/// error comes out at ours while it runs, and a signal that asks us for an end is passed on. Returns its exit status.
///
/// Throws UsageError and MachineError, with nothing left behind: there is no such kernel, no QEMU; the machine does not
/// start, panics, or ends before the command does.
int run_in_machine(const MachinePlace& place, const GuestProgram& program);

}  // namespace zerotax::machine
