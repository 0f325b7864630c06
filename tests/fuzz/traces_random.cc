// Damages traces: metadata, streams and the buffers of a killed process. Every command that reads a trace must refuse
// it by a zerotax::Error, or show it and report the damage.
// Usage: traces_random [--seconds N] [--seed N]
#include <sys/wait.h>
#include <zerotax/trace_reader.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "files/folders.h"
#include "functions/events.h"
#include "random_input.h"
#include "trace/ctf_trace.h"
#include "trace/document.h"
#include "trace/fields.h"
#include "trace/function_result.h"
#include "trace/result.h"

// Events with names like those of the kernel, which the reader interprets (observe/kernel_event_log.cc).
ZEROTAX_EVENT(kernel_fuzzed_fault, (int32_t, pid), (int32_t, tid), (char, kind, 12), (uint64_t, address))
ZEROTAX_EVENT(kernel_fuzzed_fork, (int32_t, pid), (int32_t, tid), (int32_t, child))
ZEROTAX_EVENT(every_kind, (int8_t, small), (double, ratio), (uint16_t, triple, 3), (char, text, 7))

namespace {

using namespace zerotax;
using fuzz::Random;
namespace fs = std::filesystem;

void record_some(std::uint64_t calls) {
  const auto address = [](auto* function) { return reinterpret_cast<std::uint64_t>(function); };
  for (std::uint64_t i = 0; i < calls; ++i) {
    record(function_entry{.function = address(&record_some), .stack = 0x7000});
    record(function_entry{.function = address(&fuzz::say_seed_and_end), .stack = 0x6000});
    record(every_kind{.small = -1, .ratio = 0.5, .triple = {1, 2, 3}, .text = "words"});
    if (i % 3 == 0) {
      record(function_jump{.stack = 0x7100});
    } else {
      record(function_exit{.function = address(&fuzz::say_seed_and_end)});
      record(function_exit{.function = address(&record_some)});
    }
    record(kernel_fuzzed_fault{.pid = 1, .tid = 1, .kind = "zero-fill", .address = i << 12});
    record(kernel_fuzzed_fork{.pid = 1, .tid = 1, .child = 2});
  }
}

/// Writes a trace of two threads, of a child that exited normally, and of a child that was killed before it wrote its
/// buffers.
void make_trace(const std::string& folder) {
  zerotax_trace_options options{};
  options.directory = folder.c_str();
  options.buffer_bytes = 64 << 10;
  options.drain = ZEROTAX_TRACE_DRAIN_OFF;
  if (zerotax_trace_start(&options) != 0) std::abort();
  function_module module{
      .begin = 0, .end = ~std::uint64_t{0}, .bias = 0, .build_id_bytes = 4, .build_id = {1, 2, 3, 4}, .path = {}};
  std::strncpy(&module.path[0], "/proc/self/exe", sizeof module.path - 1);
  record(module);
  record_some(20);
  std::thread([] { record_some(5); }).join();
  for (const bool killed : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      record_some(4);
      if (killed) ::kill(::getpid(), SIGKILL);
      zerotax_trace_stop();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  zerotax_trace_stop();
}

std::string text_in(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  if (!(std::ofstream(path, std::ios::binary) << text).flush()) std::abort();
}

/// Overwrites aligned words, mostly in the heads of packets and records.
std::string damaged_bytes(std::string bytes, Random& random) {
  for (std::uint64_t left = 1 + random() % 6; left > 0 && !bytes.empty(); --left) {
    const std::size_t width = std::size_t{1} << random() % 4;
    const std::size_t most = fuzz::one_in(random, 3) ? bytes.size() : std::min<std::size_t>(bytes.size(), 512);
    const std::size_t at = random() % most / width * width;
    const std::uint64_t value = fuzz::some_number(random);
    if (at + width <= bytes.size()) std::memcpy(bytes.data() + at, &value, width);
  }
  if (fuzz::one_in(random, 8)) bytes.resize(random() % (bytes.size() + 1));
  return bytes;
}

/// Exchanges two words of the metadata, such as the names of events, fields and number types.
std::string with_other_words(std::string text, Random& random) {
  static constexpr const char* kWords[] = {"function_entry",
                                           "function_exit",
                                           "function_jump",
                                           "function_module",
                                           "kernel_fuzzed_fault",
                                           "every_kind",
                                           "function",
                                           "stack",
                                           "begin",
                                           "end",
                                           "bias",
                                           "path",
                                           "build_id",
                                           "build_id_bytes",
                                           "pid",
                                           "tid",
                                           "child",
                                           "kind",
                                           "text",
                                           "ratio",
                                           "true",
                                           "false",
                                           "size = 64",
                                           "size = 32",
                                           "size = 8",
                                           "signed",
                                           "float",
                                           "string",
                                           "[240]",
                                           "[12]",
                                           "[3]",
                                           "id = 1",
                                           "id = 2"};
  for (std::uint64_t left = 1 + random() % 3; left > 0; --left) {
    const std::string from = kWords[random() % std::size(kWords)];
    std::size_t at = text.find(from, random() % text.size());
    if (at == std::string::npos) at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), kWords[random() % std::size(kWords)]);
  }
  return text;
}

void damage(const fs::path& folder, Random& random) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (std::uint64_t left = 1 + random() % 2; left > 0; --left) {
    const fs::path& file = files[random() % files.size()];
    std::string text = text_in(file);
    if (text.empty()) continue;
    if (file.filename() == "metadata") {
      text = fuzz::one_in(random, 3) ? fuzz::damaged_text(std::move(text), random)
                                     : with_other_words(std::move(text), random);
    } else {
      text = damaged_bytes(std::move(text), random);
    }
    write_text(file, text);
  }
}

std::size_t used = 0;

trace::IntervalChoice some_choice(Random& random) {
  static constexpr const char* kKeys[] = {"thread",  "process", "any",  "child=pid", "function",
                                          "address", "kind",    "text", "triple"};
  trace::IntervalChoice choice;
  choice.from = fuzz::one_in(random, 2) ? "function_entry" : "*";
  choice.to = fuzz::one_in(random, 2) ? "kernel_fuzzed_fork" : "*";
  choice.set_key(kKeys[random() % std::size(kKeys)]);
  return choice;
}

/// Runs every function of `zerotax trace` and of the reader library on a folder.
void read_trace(const std::string& folder, Random& random) {
  {
    trace::CtfTrace trace(folder);
    const trace::Summary summary = trace::summary_of(trace, some_choice(random));
    used +=
        trace::list_text(summary).size() + trace::summary_text(summary).size() + trace::warnings_text(summary).size();
    used += json_text(trace::summary_json(summary)).size();
  }
  {
    trace::CtfTrace trace(folder);
    trace.for_each(
        [&](const trace::CtfEvent& event) { used += trace::ctf_line(trace.process_of(event), event, 0).size(); });
    std::FILE* file = std::tmpfile();
    trace::write_perfetto(trace, file);
    std::fclose(file);
  }
  // A separate process reads the names of functions.
  if (fuzz::one_in(random, 4)) {
    trace::CtfTrace trace(folder);
    trace::FunctionQuery query;
    query.tree = fuzz::one_in(random, 2);
    const trace::Functions functions = trace::functions_of(trace, query);
    used += trace::functions_text(functions).size() + json_text(trace::functions_json(functions)).size();
    trace::FunctionFilter filter;
    trace::CtfTrace again(folder);
    used += json_text(trace::function_diff_json(trace::diff_functions(trace, again, filter))).size();
  }
  for (const auto& event : TraceReader(folder)) {
    for (const zerotax_reader_field& field : event.fields()) {
      try {
        if (field.kind == ZEROTAX_READER_TEXT) {
          used += event.text(field.name).size();
        } else if (field.kind != ZEROTAX_READER_FLOAT && field.count != 0) {
          used += static_cast<std::size_t>(event.integer(field.name, field.count - 1)) & 1;
        }
      } catch (const std::out_of_range&) {  // NOLINT(bugprone-empty-catch): two fields have this name
      }
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const fuzz::Options options(count, words);
  const TemporaryFolder place("traces");
  make_trace(place.file("sample"));
  Random first(1);
  read_trace(place.file("sample"), first);
  std::uint64_t refused = 0;
  const std::string folder = place.file("damaged");
  const std::uint64_t tried = fuzz::try_seeds(options, [&](Random& random) {
    fs::remove_all(folder);
    fs::copy(place.file("sample"), folder, fs::copy_options::recursive);
    damage(folder, random);
    for (const bool repaired : {false, true}) {
      try {
        if (repaired) trace::repair_ctf_trace(folder);
        read_trace(folder, random);
      } catch (const Error&) {
        ++refused;
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s%s\n", repaired ? "after repair: " : "", problem.what());
        std::abort();
      }
    }
  });
  std::printf("%llu traces, read twice each: %llu times refused\n", static_cast<unsigned long long>(tried),
              static_cast<unsigned long long>(refused));
  return 0;
}
