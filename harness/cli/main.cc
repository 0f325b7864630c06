#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <system_error>

#include "base/one_line.h"
#include "cli/subcommand.h"
#include "drive/interrupt.h"

namespace {

int fail(const std::string& problem, const std::string& remedy, zerotax::ExitStatus status) {
  fmt::print(stderr, "zerotax: {}: {}\n", zerotax::one_line(problem), zerotax::one_line(remedy));
  return static_cast<int>(status);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"zerotax: what zeroing memory costs, in any allocator, to the byte"};
  app.set_version_flag("--version", "zerotax " ZEROTAX_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done; 1 a finding; 2 unusable arguments or input; 3 this machine cannot measure it.\n"
      "`zerotax COMMAND --help` has examples.");
  for (int i = 0; i < argc; ++i) zerotax::Subcommand::command_line.emplace_back(argv[i]);
  zerotax::catch_interrupts();

  auto status = zerotax::ExitStatus::kDone;
  try {
    zerotax::Subcommand::add_all(app, status);
    zerotax::Subcommand::check_first_word();
    // A program's own words are not for our parser, which would change some of them.
    app.parse(zerotax::Subcommand::own_words(), argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help and --version
  } catch (const CLI::ParseError& failure) {
    return fail(failure.what(), "see `zerotax --help`, or `zerotax COMMAND --help`", zerotax::ExitStatus::kUsage);
  } catch (const zerotax::Error& failure) {
    return fail(failure.what(), failure.remedy(), failure.status());
  } catch (const std::system_error& failure) {
    // Who reads our output has had enough, as head(1) has.
    if (failure.code() == std::errc::broken_pipe) return 128 + SIGPIPE;
    return fail(failure.what(), "make room, or write somewhere else", zerotax::ExitStatus::kUsage);
  } catch (const std::exception& failure) {
    return fail(failure.what(), "this is a defect of zerotax: please report it with the command line",
                zerotax::ExitStatus::kMachine);
  }
  // An interrupted run says so as the shell expects it.
  if (const int signal = zerotax::interrupted()) return 128 + signal;
  return static_cast<int>(status);
}
