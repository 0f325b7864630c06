#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "contenders.h"
#include "programs.h"

/// One run of a program under one contender, with all the processes that it started and waited for.
struct Figures {
  double faults = 0;  ///< minor faults
  double user_s = 0;
  double system_s = 0;
  double peak_bytes = 0;  ///< resident, of its largest process

  [[nodiscard]] double cpu_s() const { return user_s + system_s; }
};

/// A run, and how it ended.
struct Run {
  std::string status = "ok";  ///< else "exit status 1", "killed by SIGABRT", "timed out", and the like
  std::string message;        ///< the last line of its standard error, where it failed
  Figures figures;
  std::uint64_t output = 0;  ///< a hash of its standard output
};

/// Runs the program of this file in `folder`, which holds its input, for at most `timeout`.
Run run_program(const Program& program, const std::string& file, const Contender& contender,
                const std::filesystem::path& folder, std::chrono::seconds timeout);
