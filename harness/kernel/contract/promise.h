#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/table.h"
#include "exchange/outcome.h"

namespace zerotax::contract {

/// Who relies on a promise, and where: an allocator or a program, and a function, a file or a thread.
struct Reliance {
  std::string who;
  std::string where;  ///< may be empty
};

/// One row of the suite.
struct Promise {
  std::string id;
  std::string family;
  std::string statement;
  std::vector<Reliance> relied_on_by;
};

enum class Verdict : std::uint8_t { kKept, kBroken, kUnsupported, kNotTestable };
/// "kept", "broken", "unsupported", "not testable here".
const char* word_of(Verdict verdict);

/// The evidence that a promise is broken.
struct Evidence {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< of the first wrong byte in what was looked at
  int expected = 0;          ///< the byte that should be there
  std::string found;         ///< up to 16 bytes from there, in hexadecimal
};

/// The C program that shows a broken promise, and what came of it here.
struct Reproducer {
  struct Run {
    std::string why_not;  ///< empty: it was compiled and run
    int status = 0;       ///< exit status; 1: it shows it
    std::string output;
  };
  std::string program;
  Run shown;
  Run control;  ///< on the kernel itself, where `shown` is under an emulator
};

struct Result {
  Promise promise;
  Verdict verdict = Verdict::kNotTestable;
  std::string detail;  ///< a sentence; may be empty
  std::string error;   ///< "ENOSYS", of what is unsupported
  double seconds = 0;
  std::optional<std::uint64_t> tries = {};  ///< of a race
  std::optional<Evidence> evidence = {};    ///< where bytes were wrong
  std::optional<Reproducer> reproducer = {};
  bool without_verdict = false;  ///< the suite itself ended before it reported a verdict
};

/// Where the suite ran.
struct System {
  std::string name;     ///< "Linux"
  std::string kernel;   ///< its release
  std::string machine;  ///< "x86_64"
  std::uint64_t page_bytes = 0;
  std::uint64_t user_id = 0;
};

/// What the suite said, here or elsewhere.
struct Results {
  std::optional<System> system = {};  ///< nothing if it did not get so far
  double race_seconds = 0;
  std::vector<std::string> under = {};  ///< the words of the command that the suite was started by
  std::vector<Result> results;
  bool complete = false;  ///< each promise has a result
};

/// Every promise, in the suite's order. Throws MachineError if the suite is missing or does not run.
std::vector<Promise> list_promises();

/// Tests them one after the other, each in a process of its own, until a signal asks for an end. `race_seconds`: the
/// longest that a race may last; `under` starts the suite (an emulator, a sandbox), and is empty for this kernel. $CC
/// or cc compiles the program of each broken promise, which is run there, too. Throws as list_promises, and UsageError
/// if `under` cannot be started.
Results test_promises(const std::vector<Promise>& promises, double race_seconds, const std::vector<std::string>& under);

/// What `zerotax-contract --json` printed where this command does not run; a last line that was cut off is left out.
/// Programs of broken promises are not run here. Throws UsageError if the file is something else.
Results read_results(const std::string& path);

/// What the command line asked for, and when.
struct Request {
  std::vector<std::string> command;
  std::string started;
  std::string read = {};  ///< the file that was read instead of testing
};

std::size_t count(const std::vector<Result>& results, Verdict verdict);

/// Whether every result is "not testable here".
bool is_nothing_tested(const std::vector<Result>& results);

/// The object of "zerotax.contract/1" (results/schema/contract.schema.json).
Json contract_json(const Results& results, const Request& request);

/// "1 of 79 promises is broken."
std::string verdict_sentence(const std::vector<Result>& results);

/// For JUnit and the like: what is broken fails the command.
exchange::OutcomeList contract_outcomes(const std::vector<Result>& results);

/// A line for each promise, under its family; evidence and program below what is broken. At most 80 columns, but for
/// programs.
std::string contract_text(const std::vector<Result>& results, const Palette& palette = {});

/// Every promise with its statement and who relies on it.
std::string promises_text(const std::vector<Promise>& promises);

/// Writes a bug report for each broken promise (harness/allocator/report/forms/promise.txt) into FOLDER/ID: report.md
/// and reproducer.c. `subject` names the tested system, as in "QEMU 7.2, user mode". Returns the ids of the broken
/// promises. Throws UsageError if the files cannot be written.
std::vector<std::string> write_reports(const Results& results, const std::string& subject, const std::string& folder);

}  // namespace zerotax::contract
