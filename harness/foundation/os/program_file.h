#pragma once

#include <string>

namespace zerotax {

/// The file that a command of this name is: as execvp(3) finds it, by PATH unless it has a slash. Empty if there is
/// no such executable.
std::string find_program(const std::string& name);

/// Why a library of ours cannot be preloaded into a program file, or empty if it can: statically linked, for another
/// machine or C library, setuid or with capabilities that the caller lacks, not a program at all. Scripts are judged by
/// their interpreter. Source: elf(5), ld.so(8) on secure execution, execve(2).
std::string why_not_preloadable(const std::string& path);

/// The same of a program that can be run here all the same, and be watched from outside: static, of another C library,
/// with a sanitizer, or with other rights. Empty if it takes a library, or cannot be run.
std::string why_outside_only(const std::string& path);

/// Why the kernel gives the program of this file more rights than its caller has: "is setuid", "is setgid", "has file
/// capabilities"; empty if it does not.
std::string why_privileged(const std::string& path);

}  // namespace zerotax
