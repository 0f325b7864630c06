#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace zerotax {

/// Exit statuses of every `zerotax` command (README, "Exit status").
enum class ExitStatus : int { kDone = 0, kFinding = 1, kUsage = 2, kMachine = 3 };

/// An error that states the problem and its remedy.
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& problem, std::string remedy)
      : std::runtime_error(problem), status_(status), remedy_(std::move(remedy)) {}

  [[nodiscard]] ExitStatus status() const { return status_; }
  [[nodiscard]] const std::string& remedy() const { return remedy_; }

 private:
  ExitStatus status_;
  std::string remedy_;
};

/// Unusable arguments or input: exit status 2.
class UsageError : public Error {
 public:
  UsageError(const std::string& problem, std::string remedy) : Error(ExitStatus::kUsage, problem, std::move(remedy)) {}
};

/// This machine cannot measure the requested metric: exit status 3.
class MachineError : public Error {
 public:
  MachineError(const std::string& problem, std::string remedy)
      : Error(ExitStatus::kMachine, problem, std::move(remedy)) {}
};

}  // namespace zerotax
