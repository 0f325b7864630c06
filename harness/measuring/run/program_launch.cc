#include "run/program_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/lines.h"
#include "files/output_kind.h"
#include "os/elf_file.h"
#include "os/input_file.h"
#include "os/machine_trouble.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

using Text = std::string_view;

/// Prefixes of variables that lead loaders, interpreters, build tools, sanitizers and libraries to code and files.
constexpr Text kPrefixes[] = {
    "LD_",    "DYLD_",   "GCONV",   "GETCONF", "NSS_",    "RES_",    "HOSTALIASES", "LOCALDOMAIN", "BASH",    "SHELL",
    "ZSH",    "LESS",    "MAN",     "TERM",    "GREP",    "TAR_",    "RSYNC",       "SUDO_",       "SSH_",    "GIT_",
    "SVN_",   "CVS",     "HG",      "PYTHON",  "PERL",    "RUBY",    "GEM_",        "BUNDLE_",     "NODE_",   "NPM_",
    "YARN_",  "DENO_",   "BUN_",    "JAVA",    "_JAVA",   "JDK",     "JRE",         "JVM",         "MAVEN",   "M2_",
    "GRADLE", "ANT_",    "SBT_",    "SCALA",   "KOTLIN",  "DOTNET",  "CORECLR",     "COMPLUS_",    "COR_",    "MONO_",
    "PHP",    "LUA",     "R_",      "RSCRIPT", "JULIA",   "TCL",     "GUILE",       "OCAML",       "CAML",    "GHC",
    "ERL_",   "ELIXIR",  "OPENSSL", "SSL_",    "KRB5",    "SASL_",   "GTK",         "GDK_",        "GIO_",    "GI_",
    "GST_",   "QT_",     "QML",     "KDE",     "XDG_",    "DBUS",    "LIBGL",       "MESA_",       "VK_",     "EGL",
    "OCL_",   "OPENCL",  "CUDA_",   "ALSA_",   "PULSE_",  "CARGO",   "RUSTC",       "RUSTUP",      "RUSTDOC", "CGO_",
    "GOROOT", "GOPROXY", "GOTOOL",  "MAKE",    "GNUMAKE", "CMAKE",   "NINJA",       "CCACHE",      "DISTCC",  "GCC_",
    "ASAN_",  "LSAN_",   "TSAN_",   "MSAN_",   "UBSAN_",  "HWASAN_", "SANITIZER",   "LLVM_",       "XRAY_",   "GCOV_",
    "HEAP",   "CPUPROF", "OMPI_",   "PMIX_",   "UCX_",    "HDF5_",   "GDAL_",       "PROJ_",       "MAGICK",  "GS_",
    "TEX",    "EMACS",   "DOCKER",  "SYSTEMD", "ZEROTAX_"};

/// Variables that are refused by their whole name.
constexpr Text kNames[] = {"ENV", "IFS", "PS0", "PS1", "PS2", "PS3",  "PS4", "CC",     "CXX",  "CPP",      "LD",
                           "AS",  "AR",  "FC",  "NM",  "TMP", "TEMP", "PWD", "OLDPWD", "MAIL", "LANGUAGE", "RC"};

/// A variable is refused if a part of its name, between underscores, ends in one of these words, as in MANPAGER and
/// EXTRA_PLUGINS.
constexpr Text kEndings[] = {
    "PATH",        "PATHS",    "DIR",     "DIRS",      "DIRECTORY",  "FOLDER",  "FILE",    "FILES",     "FILENAME",
    "HOME",        "ROOT",     "PREFIX",  "OPT",       "OPTS",       "OPTION",  "OPTIONS", "ARGS",      "FLAGS",
    "PRELOAD",     "PRELOADS", "AUDIT",   "LOADER",    "LIB",        "LIBS",    "LIBRARY", "LIBRARIES", "PLUGIN",
    "PLUGINS",     "MODULE",   "MODULES", "EXTENSION", "EXTENSIONS", "HOOK",    "HOOKS",   "COMMAND",   "COMMANDS",
    "CMD",         "CMDLINE",  "EXEC",    "PROGRAM",   "PROG",       "TOOL",    "TOOLS",   "BIN",       "BINARY",
    "INTERPRETER", "EDITOR",   "VISUAL",  "PAGER",     "BROWSER",    "STARTUP", "INIT",    "PROFILE",   "PROFILER",
    "WRAPPER",     "LAUNCHER", "INCLUDE", "INCLUDES",  "IMPORT",     "REQUIRE", "SCRIPT",  "PROXY",     "CONFIG",
    "CONF",        "CFG",      "AGENT",   "AGENTS",    "ENGINE",     "ENGINES", "DRIVER",  "DRIVERS",   "BACKEND",
    "URL",         "URI",      "SERVER",  "HOST",      "SOCK",       "SOCKET",  "ASKPASS", "LOG",       "OUTPUT",
    "DUMP",        "DISPLAY"};

/// Prefixes of variables that configure allocators. Some variables with these prefixes name files.
constexpr Text kOfAllocators[] = {"MALLOC_",   "MIMALLOC_", "TCMALLOC_",         "TBB_MALLOC_",   "LARGECACHE_",
                                  "SNMALLOC_", "RPMALLOC_", "_RJEM_MALLOC_CONF", "JE_MALLOC_CONF"};

bool begins_with_any(Text text, const auto& words) {
  return std::any_of(std::begin(words), std::end(words), [&](Text word) { return text.starts_with(word); });
}

bool is_name(Text key) {
  return !key.empty() && std::isdigit(static_cast<unsigned char>(key.front())) == 0 &&
         std::all_of(key.begin(), key.end(), [](unsigned char each) { return each == '_' || std::isalnum(each) != 0; });
}

/// Returns whether a value holds only numbers, words, or lists of them. Code and paths need other characters: a slash,
/// a blank, a quote, a bracket or a dollar sign.
bool is_plain(Text value) {
  return std::all_of(value.begin(), value.end(), [](unsigned char each) {
    return (each < 0x80 && std::isalnum(each) != 0) || Text("_.,:=+-%@").find(static_cast<char>(each)) != Text::npos;
  });
}

/// Returns whether all tunables are those of glibc's allocator, string functions, memory tags and locks.
bool are_known_tunables(Text value) {
  while (!value.empty()) {
    const Text each = value.substr(0, value.find(':'));
    if (!begins_with_any(each,
                         std::initializer_list<Text>{"glibc.malloc.", "glibc.cpu.", "glibc.mem.", "glibc.pthread."})) {
      return false;
    }
    value.remove_prefix(std::min(each.size() + 1, value.size()));
  }
  return true;
}

bool names_code(Text name) {
  if (begins_with_any(name, kPrefixes) || std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) {
    return true;
  }
  while (!name.empty()) {
    const Text part = name.substr(0, name.find('_'));
    if (std::any_of(std::begin(kEndings), std::end(kEndings), [&](Text end) { return part.ends_with(end); })) {
      return true;
    }
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return false;
}

}  // namespace

bool may_set(const std::string& key, const std::string& value) {
  if (!is_name(key) || !is_plain(value)) return false;
  std::string name = key;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char each) { return std::toupper(each); });
  if (key == "GLIBC_TUNABLES") return are_known_tunables(value);
  if (key == "SCUDO_OPTIONS") return true;
  if (begins_with_any(key, kOfAllocators)) {
    // MALLOC_TRACE and jemalloc's profiles (prof_prefix) name files, and TCMALLOC_MEMFS_MALLOC_PATH names a folder.
    return key != "MALLOC_TRACE" && !key.ends_with("PATH") && value.find("prof") == std::string::npos;
  }
  return !names_code(name);
}

void announce_variables(const std::string& file, const std::string& name, const std::map<std::string, std::string>& env,
                        const std::string& remedy) {
  std::string words;
  for (const auto& [key, value] : env) {
    if (!may_set(key, value)) {
      throw UsageError(
          fmt::format("{} sets {} for {}, but a file may not set a variable that selects code or other files", file,
                      one_line(fmt::format("{}={}", key, value)), name),
          remedy);
    }
    words += fmt::format(" {}={}", key, value);
  }
  if (!words.empty()) print_text(stderr, "zerotax: environment from {} for {}:{}\n", file, name, words);
}

namespace {

bool (*is_recorded)(const std::string& path) = nullptr;
std::string (*open_recording)(const std::string& path) = nullptr;

}  // namespace

bool read_recordings_by(bool (*is)(const std::string& path), std::string (*open)(const std::string& path)) {
  is_recorded = is;
  open_recording = open;
  return true;
}

bool is_recording(const std::string& command) { return is_recorded != nullptr && is_recorded(command); }

std::string resolve_program(const std::string& command) {
  if (is_recording(command)) return open_recording(command);
  std::string program = find_program(command);
  if (!program.empty()) return program;
  if (command.find('/') != std::string::npos) require_folder_of(command);
  throw UsageError(fmt::format("no command '{}' that can be executed", command),
                   "give a program on PATH, or a path with a slash");
}

std::vector<NamedPath> program_input(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string& command = words.front();
  return {{"the program", is_recording(command) ? command : resolve_program(command)}};
}

void check_takes_preload(const std::string& program, const char* cannot) {
  const std::string why = why_not_preloadable(program);
  if (why.empty()) return;
  throw UsageError(fmt::format("'{}' cannot {}: it {}", program, cannot, why),
                   "give a dynamically linked program for glibc and this machine that needs no extra privileges" +
                       (why_outside_only(program).empty()
                            ? std::string(", or sample this program: zerotax profile -- COMMAND")
                            : ", or record this program without zerotax's library: zerotax record -- COMMAND"));
}

std::string project_library(const std::string& file) {
  std::error_code failure;
  const auto library =
      std::filesystem::weakly_canonical(std::filesystem::path(probe_folder()) / "../lib" / file, failure);
  if (!std::filesystem::exists(library, failure)) {
    throw MachineError(fmt::format("'{}' is missing", library.string()),
                       "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes");
  }
  check_preload_path(library.string(), "move the project to a path without these characters");
  return library.string();
}

std::optional<Allocator> resolve_program_allocator(const std::string& word, const std::vector<std::string>& env) {
  if (word.empty()) {
    if (env.empty()) return std::nullopt;
    throw UsageError("--env is given without --allocator",
                     "add --allocator NAME, or set the variable for zerotax itself");
  }
  Allocator allocator = resolve_allocators({word}, env).front();
  check_loads_here(allocator.preload);
  if (allocator.preload) return allocator;
  // Uses the library that the built-in allocator's probe is linked with. An allocator that the user preloads must not
  // answer for the probe.
  Allocator alone = allocator;
  alone.preload = "";
  const ProbeAnswer answer = ask_probe(alone);
  allocator.version = answer.version;
  std::error_code failure;
  allocator.preload = std::filesystem::canonical(answer.calloc_file, failure).string();
  if (failure) {
    throw MachineError(fmt::format("the library of {} does not exist at the path that its probe reports ({})", word,
                                   answer.calloc_file),
                       "give the library's path, as in --allocator " + word + "=PATH");
  }
  return allocator;
}

ForegroundCommand foreground_command(const std::string& program, const std::vector<std::string>& words,
                                     const std::string& library, const std::optional<Allocator>& allocator) {
  ForegroundCommand command;
  command.program = program;
  command.words = words;
  command.output_to_errors = output_rules().takes_standard_output;
  command.before_exec = restore_interrupts;
  std::string preload = library;
  const auto add = [&](const std::string& next) { preload += (preload.empty() ? "" : ":") + next; };
  if (allocator) {
    add(*allocator->preload);
    for (const auto& entry : allocator->env) command.environment.emplace_back(entry);
  }
  if (preload.empty()) return command;
  const char* before = std::getenv("LD_PRELOAD");
  if (before != nullptr && *before != '\0') add(before);
  command.environment.emplace_back("LD_PRELOAD", preload);
  return command;
}

ForegroundResult run_program(const ForegroundCommand& command, const char* subcommand) {
  ForegroundResult result = run_foreground(command);
  if (result.not_started == 0) return result;
  const int reason = result.not_started;
  if (reason == EMFILE || reason == ENFILE || reason == EAGAIN || reason == ENOMEM) {
    throw call_trouble(fmt::format("'{}' cannot be started", command.program), reason);
  }
  throw UsageError(fmt::format("'{}' cannot be started: {}", command.program, std::strerror(result.not_started)),
                   fmt::format("try the command without zerotax {} --", subcommand));
}

}  // namespace zerotax
