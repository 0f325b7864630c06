#pragma once

#include <string>
#include <vector>

#include "run/machine/place.h"

namespace zerotax::machine {

/// A program to run in a virtual machine.
struct GuestProgram {
  std::string path;
  std::vector<std::string> words;  ///< arguments after the program's name
  std::string init;                ///< path of zerotax-guest-init from the same build
  std::string system;              ///< folder that provides the machine's /bin, /lib, /sbin and /usr; empty for this
                                   ///< system's folders
};

/// Returns this program with other arguments. For a place with another processor, returns zerotax built for that
/// processor. Throws MachineError if there is no such build.
GuestProgram this_program(const MachinePlace& place, const std::vector<std::string>& words);

/// Runs a program in a virtual machine under QEMU, with KVM if KVM works. The program has the files, the user, the
/// environment and the working directory of this process. The program's output appears on this process's standard
/// output and standard error while it runs. A signal that requests termination is passed on.
/// Returns the exit status. Throws UsageError or MachineError if the kernel or QEMU is missing, or if the machine does
/// not start, panics, or ends before the command does. No files are left.
int run_in_machine(const MachinePlace& place, const GuestProgram& program);

}  // namespace zerotax::machine
