#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/size.h"
#include "cli/common_options.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "os/print.h"
#include "trace/control_client.h"
#include "trace/document.h"
#include "trace/kernel_events.h"
#include "trace/verbs.h"

namespace zerotax::trace {
namespace {

constexpr const char* kStartExamples =
    "  ZEROTAX_TRACE_CONTROL=/run/user/1000/zerotax ./server &\n"
    "  zerotax trace start --pid $! -o trace --buffer 16MiB\n"
    "  zerotax trace start --pid $! -o trace --event 'request_*' --event '!request_debug'\n"
    "  zerotax trace start --pid $! -o trace --until deadline_missed    # what preceded it\n";
constexpr const char* kStopExamples = "  zerotax trace stop --pid 4711\n";
constexpr const char* kStatusExamples =
    "  zerotax trace status --pid 4711\n"
    "  zerotax trace status --pid 4711 --json - | jq .records\n";

struct ControlChoice {
  pid_t pid = 0;
  std::string control;  ///< folder of the control file
  std::string json;
  std::string out = "zerotax-trace";
  std::string buffer;
  std::string mode;
  std::string drain;
  std::string clock;
  std::vector<std::string> events;
  std::string until;
};

template <std::size_t N>
void put(char (&field)[N], const std::string& text, const char* option) {
  if (text.size() >= N)
    throw UsageError(fmt::format("{} is too long", option), fmt::format("give at most {} bytes", N - 1));
  std::memcpy(field, text.c_str(), text.size() + 1);
}

recorder::ControlOptions wanted_of(const ControlChoice& choice) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (fs::exists(choice.out, failure) && !fs::is_directory(choice.out, failure)) {
    throw UsageError(fmt::format("'{}' is not a folder", choice.out), "name another folder with -o");
  }
  recorder::ControlOptions wanted{};
  put(wanted.folder, absolute_path(choice.out).string(), "--out");
  put(wanted.events, event_list(choice.events), "--event");
  check_trigger(choice.until);
  put(wanted.until, choice.until, "--until");
  wanted.buffer_bytes = choice.buffer.empty() ? 0 : parse_size(choice.buffer);
  wanted.mode = choice.mode == "lost" ? 1 : choice.mode == "overwrite" ? 2 : 0;
  wanted.drain = choice.drain == "thread" ? 1 : choice.drain == "self" ? 2 : choice.drain == "off" ? 3 : 0;
  wanted.monotonic = choice.clock == "monotonic" ? 1 : choice.clock == "tsc" ? -1 : 0;
  return wanted;
}

void check_answer(pid_t pid, const ControlAnswer& answer) {
  switch (answer.result) {
    case recorder::ControlResult::kDone:
      return;
    case recorder::ControlResult::kAlreadyRecording:
      throw UsageError(fmt::format("process {} is already recording into '{}'", pid, answer.folder),
                       fmt::format("stop the recording first: zerotax trace stop --pid {}", pid));
    case recorder::ControlResult::kNotRecording:
      throw UsageError(fmt::format("process {} is not recording", pid),
                       fmt::format("start a recording: zerotax trace start --pid {}", pid));
    case recorder::ControlResult::kFailed:
      break;
  }
  throw UsageError(
      fmt::format("process {} cannot record: {}", pid, answer.message),
      "choose a folder that the process itself can create, with its own privileges and in its own file systems");
}

ExitStatus control(const ControlChoice& choice, const std::string& verb, recorder::ControlAction action) {
  check_outputs({{"--json", choice.json}});
  const bool starts = action == recorder::ControlAction::kStart;
  const recorder::ControlOptions wanted = starts ? wanted_of(choice) : recorder::ControlOptions{};
  ControlClient client(choice.pid, choice.control);
  const ControlAnswer answer = client.ask(action, wanted);
  check_answer(choice.pid, answer);
  const Control result = control_result(choice.pid, verb, answer);
  if (!choice.json.empty()) write_file(choice.json, json_text(control_json(result)));
  print_lines(choice.json == "-" ? stderr : stdout, control_text(result));
  return ExitStatus::kDone;
}

Arguments add_control(Arguments& arguments, const char* name, const char* description, const char* examples,
                      ControlChoice& choice) {
  Arguments verb = arguments.verb(name, description, examples);
  verb.option("--pid", choice.pid, "select the process, which must have been started with ZEROTAX_TRACE_CONTROL=FOLDER")
      .shown_as("PID")
      .positive();
  verb.exactly_one({"--pid"}, {"no --pid is given", fmt::format("zerotax trace {} --pid PID", name)});
  verb.option("--control", choice.control,
              "select the folder of ZEROTAX_TRACE_CONTROL (default: from the process's environment)")
      .path();
  add_json(verb, choice.json);
  return verb;
}

void add_start_options(Arguments& verb, ControlChoice& choice) {
  verb.option("-o,--out", choice.out, "write the trace to this folder").path().with_default();
  verb.option("--buffer", choice.buffer, "set the buffer of each thread (default: 4MiB)")
      .size_in(64 * kKiB, 4 * kGiB, "for each thread")
      .shown_as("SIZE");
  verb.option("--mode", choice.mode,
              "select which record a full buffer loses: the new one (lost) or the oldest (overwrite)")
      .one_of({"lost", "overwrite"})
      .shown_as("MODE");
  verb.option("--drain", choice.drain, "select the writer of the files: thread, self, or off (only at the end)")
      .one_of({"thread", "self", "off"})
      .shown_as("WHO");
  verb.option("--clock", choice.clock, "select the clock of the records: tsc or monotonic")
      .one_of({"tsc", "monotonic"})
      .shown_as("CLOCK");
  add_patterns(verb, "--event", choice.events, "TYPE", "select events of this type");
  verb.option("--until", choice.until, "keep the latest records, and stop at the first event of this type")
      .shown_as("TYPE")
      .word();
}

}  // namespace

std::vector<TraceVerb> control_verbs(Arguments& arguments) {
  using recorder::ControlAction;
  const auto choice = std::make_shared<ControlChoice>();
  const auto does = [&](const Arguments& verb, const char* name, ControlAction action) {
    return TraceVerb{verb, [choice, name, action] { return control(*choice, name, action); }};
  };
  Arguments start = add_control(arguments, "start", "Start recording in a running program", kStartExamples, *choice);
  add_start_options(start, *choice);
  const Arguments stop = add_control(arguments, "stop", "Stop recording in a running program and write its buffers",
                                     kStopExamples, *choice);
  const Arguments status =
      add_control(arguments, "status", "Show what a running program records", kStatusExamples, *choice);
  return {does(start, "start", ControlAction::kStart), does(stop, "stop", ControlAction::kStop),
          does(status, "status", ControlAction::kStatus)};
}

}  // namespace zerotax::trace
