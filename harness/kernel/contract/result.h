#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/table.h"
#include "exchange/outcome.h"
#include "os/environment.h"

namespace zerotax::contract {

struct Reliance {
  RESULT("reliance", "An allocator or a program that relies on a promise.");
  FIELD(std::string, who, "Name of the allocator or program that relies on the promise.");
  FIELD(std::string, where, "Function, file or thread that relies on the promise; null if unknown.", kNullIfEmpty);
};

/// A promise, as the suite lists it.
struct Promise {
  RESULT("row");
  FIELD(std::string, id, "Name of the promise.", form("^[a-z0-9-]+$"));
  FIELD(std::string, family, "The group that the promise belongs to.");
  FIELD(std::string, statement, "The promise, in words.");
  FIELD(std::vector<Reliance>, relied_on_by, "The allocators and programs that rely on the promise.");
};

enum class Verdict : std::uint8_t { kKept, kBroken, kUnsupported, kNotTestable };
ENUM_WORDS(Verdict, "kept", "broken", "unsupported", "not testable here")

struct Evidence {
  RESULT("evidence", "Bytes that break a promise.");
  FIELD(std::uint64_t, address, "Address of the first wrong byte.");
  FIELD(std::uint64_t, offset_bytes, "Offset of the first wrong byte in the range that was examined.");
  FIELD(int, expected, "The byte that the promise requires.", most(255));
  FIELD(std::string, found, "Up to 16 bytes that were read, starting with the first wrong byte, in hexadecimal.",
        form("^[0-9a-f]{2}( [0-9a-f]{2}){0,15}$"));
};

struct ProgramRun {
  RESULT("program run");
  FIELD(Measured<int>, status,
        "Exit status of the program on this machine: 1 if the program shows the broken promise, 0 if not. n/a if the "
        "program was not run.",
        most(255));
  FIELD(Measured<bool>, shows_it, "Whether the program showed the broken promise.");
  FIELD(std::string, output, "Output of the program.", kMayBeEmpty);
};

struct Reproducer {
  RESULT("reproducer", "A C program that repeats the steps of the test.");
  FIELD(std::string, program, "Source code of the program.");
  PART_FIELDS(ProgramRun, shown);
  ProgramRun shown;
  ProgramRun control;  ///< the run without the emulator, if `shown` is a run under an emulator
};

struct Result {
  RESULT("promise", "A promise and its verdict.");
  PART_FIELDS(Promise, promise);
  Promise promise;
  MEMBER(verdict,
         "The verdict of the test. unsupported: the kernel lacks the system call. not testable here: a precondition of "
         "the test is missing.");
  Verdict verdict = Verdict::kNotTestable;
  FIELD(std::string, detail,
        "Observation of the test, or the reason why the promise could not be tested; null if there is nothing to "
        "add.",
        kNullIfEmpty);
  FIELD(std::string, error, "Error of the unsupported system call, such as ENOSYS; null for every other verdict.",
        kNullIfEmpty);
  FIELD(double, seconds, "Time that the test took, in seconds.");
  FIELD(OrNull<std::uint64_t>, tries,
        "Number of attempts of a race; null without a race, or if the promise was broken before the first attempt "
        "ended.",
        least(1));
  FIELD(OrNull<Evidence>, evidence,
        "The bytes that break the promise; null if the test read no bytes, or if no byte was wrong.");
  FIELD(OrNull<Reproducer>, reproducer, "The program that shows the broken promise; null if nothing is broken.");
  bool without_verdict = false;  ///< the suite ended before it reported a verdict
};

struct System {
  RESULT("system", "The system on which the suite ran, as the suite saw the system.");
  FIELD(std::string, system, "Name of the system, as reported by uname(2).", kMayBeEmpty);
  FIELD(std::string, kernel, "Release of the kernel.", kMayBeEmpty);
  FIELD(std::string, machine, "Instruction set of the machine.", kMayBeEmpty);
  FIELD(std::uint64_t, page_bytes, "Size of a page, in bytes.", least(1));
  FIELD(std::uint64_t, user_id, "ID of the user that ran the tests; 0 is root.");
};

struct Counts {
  RESULT("counts");
  FIELD(std::size_t, kept, "Number of promises that are kept.");
  FIELD(std::size_t, broken, "Number of promises that are broken.");
  FIELD(std::size_t, unsupported, "Number of promises about system calls that this kernel lacks.");
  FIELD(std::size_t, not_testable_here, "Number of promises that could not be tested.");
};

struct Contract {
  RESULT("zerotax contract",
         "The document of zerotax contract --json: the kernel's promises on which zeroing depends, each with the "
         "verdict on this kernel, sandbox or emulator.");
  FIELD(std::string, schema, "Name and version of this format.", one_of("zerotax.contract/1"));
  FIELD(std::string, zerotax_version, "Version of zerotax that wrote this file.");
  FIELD(Completion, state, "State of the run: everything was tested, or the run was stopped early.");
  FIELD(std::string, started, "Start time, in UTC.", kUtc);
  FIELD(std::vector<std::string>, command, "The command line, verbatim.", kMayBeEmpty, least_items(1));
  FIELD(Measured<Environment>, environment, "The machine and kernel; n/a if the tests ran elsewhere.");
  FIELD(Measured<System>, tested_on, "The system on which the tests ran, as the tests saw the system.");
  FIELD(std::string, under, "The command that started the tests, such as an emulator; null if there was none.",
        kNullIfEmpty);
  FIELD(double, race_seconds, "Time limit of a race, in seconds. A race ends earlier after 10,000 attempts.", above(0));
  FIELD(std::string, verdict, "Whether any promise is broken.", one_of("none broken|broken"));
  FIELD(std::string, sentence, "The verdict in words.");
  FIELD(Counts, counts, "Number of promises with each verdict.");
  FIELD(std::vector<Result>, promises, "One entry for each promise that was tested, in the suite's order.");
};

/// The suite's results, measured here or read from a file.
struct Results {
  std::optional<System> system = {};  ///< no value if the suite ended before it reported the system
  double race_seconds = 0;
  std::vector<std::string> under = {};  ///< the words of the command that started the suite
  std::vector<Result> results;
  bool complete = false;  ///< whether each promise has a result
};

/// Returns every promise, in the suite's order. Throws MachineError if the suite is missing or does not run.
std::vector<Promise> list_promises();

/// Tests the promises one after the other, each in a process of its own, until a signal asks to stop. `race_seconds` is
/// the time limit of a race. `under` is the command that starts the suite, such as an emulator or a sandbox; it is
/// empty for this kernel. If a promise is broken, $CC or cc compiles its program, which is then run under the same
/// command. Throws the errors of list_promises, and UsageError if `under` cannot be started.
Results test_promises(const std::vector<Promise>& promises, double race_seconds, const std::vector<std::string>& under);

/// Reads the output of `zerotax-contract --json` from a system on which zerotax does not run. Ignores a last line that
/// was cut off. Does not run programs of broken promises. Throws UsageError if the file contains anything else.
Results read_results(const std::string& path);

/// The request on the command line, and its start time.
struct Request {
  std::vector<std::string> command;
  std::string started;
  std::string read = {};  ///< the file that the results were read from; empty if promises were tested
};

std::size_t count(const std::vector<Result>& results, Verdict verdict);

/// Whether every result is "not testable here".
bool is_nothing_tested(const std::vector<Result>& results);

Contract contract_document(const Results& results, const Request& request);

/// The verdict in one sentence, such as "1 of 79 promises is broken."
std::string verdict_sentence(const std::vector<Result>& results);

/// The outcomes for JUnit and similar formats. A broken promise is a failure.
exchange::OutcomeList contract_outcomes(const std::vector<Result>& results);

/// Returns the default output, which fits one screen.
Answer contract_answer(const Results& results, const Request& request);

/// The verdict, then a line for each promise under its family. Evidence and program follow a broken promise. Lines have
/// at most 80 columns, except in programs.
std::string contract_text(const Results& results, const Palette& palette = {});

/// Lists every promise with its statement, and the programs that rely on the promise.
std::string promises_text(const std::vector<Promise>& promises);

/// Writes a bug report for each broken promise (harness/allocator/report/forms/promise.txt) into FOLDER/ID: report.md
/// and reproducer.c. `subject` names the tested system, as in "QEMU 7.2, user mode". Returns the ids of the broken
/// promises. Throws UsageError if the files cannot be written.
std::vector<std::string> write_reports(const Results& results, const std::string& subject, const std::string& folder);

}  // namespace zerotax::contract
