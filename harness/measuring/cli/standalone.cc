#include "cli/standalone.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "cli/parser.h"
#include "os/print.h"

namespace zerotax {

int standalone_main(const std::string& name, const std::string& description, int argc, char** argv,
                    const std::function<void(Arguments)>& add, const std::function<int()>& run) {
  CLI::App app{description, name};
  add(Arguments(app));
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& failure) {
    print_text(stderr, "{}: {}: see `{} --help`\n", name, failure.what(), name);
    return static_cast<int>(ExitStatus::kUsage);
  } catch (const Error& failure) {
    print_text(stderr, "{}: {}: {}\n", name, failure.what(), failure.remedy());
    return static_cast<int>(failure.status());
  }
}

}  // namespace zerotax
