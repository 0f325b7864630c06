#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/lines.h"
#include "cli/help_format.h"
#include "cli/parser.h"
#include "cli/subcommand.h"
#include "os/input_file.h"
#include "os/limits.h"
#include "os/machine_trouble.h"
#include "os/print.h"
#include "os/terminal.h"
#include "run/interrupt.h"

namespace {

/// The exit status that a shell reports for a program that SIGPIPE ended. zerotax returns this status if the reader of
/// its output closed the pipe, as head(1) does.
constexpr int kReaderGone = 128 + SIGPIPE;

bool told = false;  ///< the reason for the failure was reported, or no process is left to read it

int fail(const std::string& problem, const std::string& remedy, zerotax::ExitStatus status) {
  told = true;
  zerotax::try_to_print(stderr,
                        fmt::format("zerotax: {}: {}\n", zerotax::one_line(problem), zerotax::one_line(remedy)));
  return static_cast<int>(status);
}

int fail(const zerotax::Error& failure) { return fail(failure.what(), failure.remedy(), failure.status()); }

/// Returns the error for a deleted working folder, if the folder's deletion is the reason why a path could not be used.
std::optional<zerotax::UsageError> working_folder_error() {
  try {
    zerotax::require_working_folder();
  } catch (const zerotax::UsageError& error) {
    return error;
  }
  return std::nullopt;
}

int fail_to_write(int error) {
  if (error == EPIPE) {
    told = true;
    return kReaderGone;
  }
  return fail(fmt::format("cannot write standard output: {}", std::strerror(error)),
              "free some space, or write somewhere else", zerotax::ExitStatus::kUsage);
}

/// Ends the process for an exception that nothing can catch, such as one thrown by a destructor. Allocates nothing.
[[noreturn]] void end_at_once() {
  const char* why =
      "zerotax: an exception ended the command, a defect in zerotax: please report it with the command line\n";
  try {
    if (const std::exception_ptr present = std::current_exception()) std::rethrow_exception(present);
  } catch (const std::bad_alloc&) {
    why = "zerotax: zerotax itself ran out of memory: free some memory, or raise ulimit -v\n";
  } catch (...) {
  }
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, why, std::strlen(why));
  ::_exit(static_cast<int>(zerotax::ExitStatus::kMachine));
}

/// Parses the command line and runs the command. Returns the exit status.
int run(int argc, char** argv) {
  CLI::App app{"zerotax: what zeroing memory costs, in allocators and in programs", "zerotax"};
  app.formatter(std::make_shared<zerotax::HelpFormat>());  // set first, because each added command copies the formatter
  app.set_version_flag("--version", "zerotax " ZEROTAX_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done; 1 a finding; 2 unusable arguments or input; 3 the machine cannot make the "
      "measurement.\n`zerotax COMMAND --help` has examples; `zerotax help TOPIC` explains sizes, allocators, formats "
      "and more.");
  for (int i = 0; i < argc; ++i) zerotax::Subcommand::command_line.emplace_back(argv[i]);

  auto status = zerotax::ExitStatus::kDone;
  try {
    zerotax::Subcommand::add_all(app, status);
    zerotax::Subcommand::check_first_word(app);
    // Our parser must not see a program's own words, because it would change some of them.
    std::vector<std::string> words = zerotax::Subcommand::own_words();
    std::reverse(words.begin(), words.end());  // the parser takes words in reverse order
    app.parse(std::move(words));
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    const int done = app.exit(success, text, text);  // --help and --version
    return zerotax::try_to_print(stdout, text.str()) ? done : fail_to_write(errno);
  } catch (const CLI::ExtrasError&) {
    return fail(zerotax::leftover_error(app));
  } catch (const CLI::ParseError& failure) {
    return fail(failure.what(), fmt::format("see `{} --help`", zerotax::Subcommand::named_command(app)),
                zerotax::ExitStatus::kUsage);
  } catch (const zerotax::Stop&) {
    zerotax::say_interrupted("nothing was written");
  } catch (const zerotax::Error& failure) {
    // If a signal interrupted the work, missing results are not this machine's fault.
    if (zerotax::interrupted() == 0 || failure.status() != zerotax::ExitStatus::kMachine) return fail(failure);
    zerotax::say_interrupted(zerotax::one_line(failure.what()));
  } catch (const std::bad_alloc&) {
    return fail(zerotax::call_trouble("zerotax itself ran out of memory", ENOMEM));
  } catch (const std::system_error& failure) {
    const int error = failure.code().value();
    if (error == EPIPE || std::ferror(stdout) != 0) return fail_to_write(error);
    if (const auto gone = error == ENOENT ? working_folder_error() : std::nullopt) return fail(*gone);
    // EAGAIN means that a thread could not be started, usually because no addresses are left for its stack. All other
    // errors concern a file.
    const bool few_addresses = zerotax::resource_limit(RLIMIT_AS).has_value();
    if (error == EAGAIN) return fail(zerotax::call_trouble("cannot start a thread", few_addresses ? ENOMEM : error));
    return fail(failure.what(), "free some space, or write somewhere else", zerotax::ExitStatus::kUsage);
  } catch (const std::exception& failure) {
    return fail(failure.what(), "this is a defect in zerotax: please report it with the command line",
                zerotax::ExitStatus::kMachine);
  }
  // An interrupted command returns the status that shells expect after a signal.
  if (const int signal = zerotax::interrupted()) return 128 + signal;
  return static_cast<int>(status);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_at_once);
  zerotax::secure_standard_streams();
  zerotax::catch_interrupts();
  const int status = run(argc, argv);
  // If standard output cannot be written to, the command fails, whatever the command found.
  const int error = zerotax::flush_standard_output();
  return error == 0 || told ? status : fail_to_write(error);
}
