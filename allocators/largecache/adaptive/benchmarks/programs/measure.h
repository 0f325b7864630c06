#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "contenders.h"
#include "programs.h"

/// Metrics of one run of a program under one contender. Includes all processes that the program started and waited for.
struct Figures {
  double faults = 0;  ///< minor faults
  double user_s = 0;
  double system_s = 0;
  double peak_bytes = 0;  ///< peak resident memory of the run's largest process

  [[nodiscard]] double cpu_s() const { return user_s + system_s; }
};

/// A run and its outcome.
struct Run {
  std::string status = "ok";  ///< "ok", or for example "exit status 1", "killed by SIGABRT", "timed out"
  std::string message;        ///< last line of standard error, if the run failed
  Figures figures;
  std::uint64_t output = 0;  ///< hash of standard output
};

/// Runs the program of this file in the folder with its input, for at most `timeout`.
Run run_program(const Program& program, const std::string& file, const Contender& contender,
                const std::filesystem::path& folder, std::chrono::seconds timeout);
