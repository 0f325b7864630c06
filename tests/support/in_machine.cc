// usage: in_machine PLACE PROGRAM [WORD]...
//
// Runs a program in a virtual machine, as `zerotax --on PLACE` runs itself. ./run arm64 --test runs ctest in this way.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "run/machine/boot.h"

int main(int argc, char** argv) {
  try {
    const auto place = argc > 2 ? zerotax::machine::parse_place(argv[1]) : std::nullopt;
    if (!place) {
      std::fputs("usage: in_machine vm:KERNEL[,arch=aarch64][,page=16K][,...] PROGRAM [WORD]...\n", stderr);
      return 2;
    }
    auto program = zerotax::machine::this_program(*place, {argv + 3, argv + argc});
    program.path = argv[2];
    return zerotax::machine::run_in_machine(*place, program);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "in_machine: {}\n", failure.what());
    return 3;
  }
}
