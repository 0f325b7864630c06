#include "lttng_session.h"

#include <chrono>
#include <filesystem>

#include "os/elf_file.h"

using namespace zerotax;

LttngSession::LttngSession(std::string folder) : folder_(std::move(folder)) {
  for (const char* program : {"lttng", "lttng-sessiond"}) {
    if (find_program(program).empty()) {
      why_not_ = std::string(program) + " is missing: install lttng-tools";
      return;
    }
  }
  if (lttng({"list"})) {
    why_not_ = "a session daemon of LTTng runs already: end it";
    return;
  }
  std::filesystem::create_directories(folder_);
  daemon_ = std::thread([this] {
    ChildCommand command;
    command.program = find_program("lttng-sessiond");
    command.arguments = {"--no-kernel", "--quiet"};
    command.environment = environment();
    command.capture = true;
    command.timeout = std::chrono::hours(1);
    run_child(command, [this] { return stop_.load(); });
  });
  begin();
}

LttngSession::~LttngSession() {
  if (!daemon_.joinable()) return;
  lttng({"destroy", "zerotax-benchmark"});
  stop_.store(true);
  daemon_.join();
}

std::vector<std::pair<std::string, std::string>> LttngSession::environment() const {
  return {{"LTTNG_HOME", folder_}, {"LC_ALL", "C"}};
}

bool LttngSession::lttng(const std::vector<std::string>& words) {
  ChildCommand command;
  command.program = find_program("lttng");
  command.arguments = {"--no-sessiond", "--quiet"};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.environment = environment();
  command.capture = true;
  const ChildResult result = run_child(command, [] { return false; });
  return result.end == ChildResult::End::kExited && result.code == 0;
}

void LttngSession::begin() {
  bool answers = false;
  for (int i = 0; i < 100 && !answers; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    answers = lttng({"list"});
  }
  const std::string name = "zerotax-benchmark";
  if (!answers || !lttng({"create", name, "--output=" + folder_ + "/trace"}) ||
      !lttng({"enable-channel", "--userspace", "--session=" + name, "--subbuf-size=4M", "--num-subbuf=16", "wide"}) ||
      !lttng({"enable-event", "--userspace", "--session=" + name, "--channel=wide", "zerotax_benchmark:sixteen"}) ||
      !lttng({"start", name})) {
    why_not_ = "its session daemon cannot be started here";
  }
}
