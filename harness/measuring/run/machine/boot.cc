#include "run/machine/boot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/kvm.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "files/folders.h"
#include "files/new_file.h"
#include "files/output_file.h"
#include "files/output_kind.h"
#include "os/input_file.h"
#include "os/print.h"
#include "os/regular_file.h"
#include "os/unique_fd.h"
#include "run/interrupt.h"
#include "run/machine/guest_archive.h"
#include "run/machine/kernel.h"
#include "run/machine/place.h"
#include "run/machine/token.h"
#include "run/progress.h"

namespace zerotax::machine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConsoleVariable = "ZEROTAX_VM_CONSOLE";
constexpr std::size_t kConsoleKept = 4096;
/// Time limit for booting, which takes half a minute on a busy machine without KVM.
constexpr std::chrono::minutes kBootLimit{4};

/// Returns the path of the file for a failed machine's console output; empty for no file.
std::string console_path() {
  const char* path = std::getenv(kConsoleVariable);
  return path == nullptr ? "" : path;
}

/// Returns whether KVM can create a CPU. In a virtual machine, /dev/kvm may exist without working.
bool kvm_works() {
  const UniqueFd kvm(::open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm) return false;
  const UniqueFd machine(::ioctl(kvm.get(), KVM_CREATE_VM, 0));
  return machine && UniqueFd(::ioctl(machine.get(), KVM_CREATE_VCPU, 0));
}

/// Connections between zerotax and the machine: the console, and then the ports in the order of guest_init.c.
enum Port : std::size_t { kConsole, kOut, kErr, kLine, kPorts };

struct Wire {
  UniqueFd ours;
  UniqueFd theirs;
};

Wire make_wire() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    throw MachineError(fmt::format("cannot make a socket: {}", std::strerror(errno)), "raise the limit of open files");
  }
  return {UniqueFd(pair[0]), UniqueFd(pair[1])};
}

/// Quotes a path for an option of QEMU, in which a comma must be doubled.
std::string in_option(const std::string& path) {
  std::string text;
  for (const char each : path) text.append(each == ',' ? 2 : 1, each);
  return text;
}

struct Start {
  const MachinePlace& place;
  const GuestKernel& kernel;
  const GuestProgram& program;
  std::string token;
};

std::vector<std::string> emulator_words(const Start& start, const std::string& archive, bool kvm,
                                        const std::array<Wire, kPorts>& wires) {
  const MachinePlace& place = start.place;
  const Emulator& emulator = *place.emulator;
  std::string append = fmt::format("console={} quiet panic=-1 {}{}", emulator.console, kTokenOption, start.token);
  if (!kvm) append += emulator.alone;
  append += place.boot_options;
  if (!place.thp.empty()) append += " transparent_hugepage=" + place.thp;
  std::vector<std::string> words{emulator.program,
                                 "-nodefaults",
                                 "-no-user-config",
                                 "-machine",
                                 kvm ? emulator.machine : emulator.machine_alone,
                                 "-accel",
                                 kvm ? "kvm" : "tcg,thread=multi",
                                 "-cpu",
                                 kvm ? "host" : emulator.cpu_alone,
                                 "-smp",
                                 std::to_string(place.cpus),
                                 "-m",
                                 fmt::format("{}M", place.memory_bytes >> 20),
                                 "-display",
                                 "none",
                                 "-no-reboot",
                                 "-nic",
                                 "none",
                                 "-kernel",
                                 start.kernel.image,
                                 "-initrd",
                                 archive,
                                 "-append",
                                 append,
                                 "-virtfs",
                                 "local,path=/,mount_tag=host,security_model=none,multidevs=remap",
                                 "-device",
                                 "virtio-serial-pci,max_ports=8"};
  if (!start.program.system.empty()) {
    words.insert(words.end(), {"-virtfs", "local,path=" + in_option(start.program.system) +
                                              ",mount_tag=system,security_model=none,multidevs=remap,readonly=on"});
  }
  for (std::size_t port = 0; port < kPorts; ++port) {
    words.insert(words.end(), {"-chardev", fmt::format("socket,id=wire{},fd={}", port, wires[port].theirs.get())});
    if (port == kConsole) {
      words.insert(words.end(), {"-serial", fmt::format("chardev:wire{}", port)});
    } else {
      words.insert(words.end(),
                   {"-device", fmt::format("virtserialport,chardev=wire{0},nr={0},name=zerotax.{0}", port)});
    }
  }
  return words;
}

/// Creates a file that is unlinked at once, because QEMU reads it by its descriptor.
UniqueFd archive_file(const std::string& content) {
  std::string path = fs::temp_directory_path() / "zerotax-vm-XXXXXX";
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (file) ::unlink(path.c_str());
  if (!file || !write_all(file.get(), content)) {
    throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                     "free some space, or set TMPDIR to another folder");
  }
  return file;
}

/// A running virtual machine, which ends with this object.
class Machine {
 public:
  Machine(const Start& how, bool kvm) : emulator_(*how.place.emulator), kvm_(kvm) {
    for (Wire& wire : wires_) wire = make_wire();
    const UniqueFd file = archive_file(archive_for(how.kernel, how.program, how.token));
    start(emulator_words(how, fmt::format("/proc/self/fd/{}", file.get()), kvm, wires_), file.get());
    for (Wire& wire : wires_) wire.theirs.reset();
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  /// Passes on output until the machine has ended, and returns the exit status. Returns nothing if the machine ended
  /// before the command began and another attempt may succeed: the kernel panicked, or KVM does not work.
  std::optional<int> run() {
    const auto began = std::chrono::steady_clock::now();
    Progress progress("booting", 1, 1);
    bool told = false;
    while (read_wires()) {
      if (up_) progress.clear();
      if (!up_ && std::chrono::steady_clock::now() - began > kBootLimit) fail("the machine did not start within 4 min");
      const bool stop = stop_requested();
      if (stop && !up_) throw Stop{};
      // If the output's reader is gone, the command is interrupted, and still writes finished results to files.
      if ((stop || out_failure_ != 0) && !told) told = ::write(wires_[kLine].ours.get(), "\3", 1) == 1;
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    if (!up_ && (kvm_ || console_.find("Kernel panic") != std::string::npos)) return std::nullopt;
    if (status_ < 0)
      fail(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "the machine ended before the command did" : "QEMU failed");
    if (out_failure_ == EPIPE) throw std::system_error(EPIPE, std::generic_category());  // main() handles EPIPE
    if (out_failure_ != 0) cannot_write("standard output", out_failure_);
    return status_;
  }

  /// Throws an error with the guest's last message, which usually names the cause: a panic, or exhausted memory.
  [[noreturn]] void fail(std::string why) const {
    if (!failure_.empty()) why = "the start failed at " + failure_;
    std::string last;
    if (const std::string path = console_path(); !path.empty()) write_file(path, kConsoleHead + console_);
    for (std::size_t at = 0; at < console_.size();) {
      const std::size_t end = std::min(console_.find_first_of("\r\n", at), console_.size());
      const std::string line = console_.substr(at, end - at);
      const bool tells = line.starts_with("failed ") || line.find("panic") != std::string::npos ||
                         line.find("Out of memory") != std::string::npos || line.find("qemu") != std::string::npos ||
                         line.find("cannot start") != std::string::npos;
      if (last.empty() && tells) last = line;
      at = end + 1;
    }
    if (last.find("cannot start") != std::string::npos) {
      throw MachineError(fmt::format("{} is missing", emulator_.program),
                         fmt::format("install {} (Debian's name)", emulator_.package));
    }
    throw MachineError(
        fmt::format("the virtual machine failed: {}{}{}", why, last.empty() ? "" : "; its last message: ", last),
        "try another kernel, or more memory, as in --on vm:bookworm,memory=8GiB");
  }

 private:
  void start(const std::vector<std::string>& words, int archive) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ != 0) return;
    // Ctrl-C must reach only zerotax, which passes it on.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    restore_interrupts();
    for (const Wire& wire : wires_) ::fcntl(wire.theirs.get(), F_SETFD, 0);
    ::fcntl(archive, F_SETFD, 0);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    // QEMU's own messages go to the console.
    ::dup2(wires_[kConsole].theirs.get(), STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::dprintf(STDERR_FILENO, "cannot start %s: %s\n", arguments[0], std::strerror(errno));
    ::_exit(127);
  }

  /// Returns false after all connections have ended.
  bool read_wires() {
    pollfd from[kPorts];
    bool any = false;
    for (std::size_t port = 0; port < kPorts; ++port) {
      from[port] = {wires_[port].ours.get(), POLLIN, 0};
      any = any || wires_[port].ours;
    }
    if (!any) return false;
    constexpr int kLookMs = 100;
    if (::poll(&from[0], kPorts, kLookMs) <= 0) return true;
    for (std::size_t port = 0; port < kPorts; ++port) {
      if (from[port].revents == 0) continue;
      char bytes[16384];
      const ssize_t got = ::read(from[port].fd, &bytes[0], sizeof bytes);
      if (got > 0) {
        take(static_cast<Port>(port), {&bytes[0], static_cast<std::size_t>(got)});
      } else if (got == 0 || errno != EINTR) {
        wires_[port].ours.reset();
      }
    }
    return true;
  }

  void take(Port port, std::string_view bytes) {
    if (port == kOut && out_failure_ == 0 && !write_all(STDOUT_FILENO, bytes)) out_failure_ = errno;
    if (port == kErr) write_all(STDERR_FILENO, bytes);
    if (port == kConsole) {
      console_.append(bytes);
      if (console_.size() > kConsoleKept) console_.erase(0, console_.size() - kConsoleKept);
    }
    if (port != kLine) return;
    line_.append(bytes);
    for (std::size_t end = 0; (end = line_.find('\n')) != std::string::npos; line_.erase(0, end + 1)) {
      const std::string said = line_.substr(0, end);
      if (said == "up") up_ = true;
      if (said.starts_with("exit ")) status_ = std::atoi(said.c_str() + 5);
      if (said.starts_with("failed ")) failure_ = said.substr(7);
    }
  }

  const Emulator& emulator_;
  bool kvm_;
  std::array<Wire, kPorts> wires_;
  pid_t pid_ = 0;
  std::string console_;  ///< last part of the console's output
  std::string line_;     ///< incomplete line
  std::string failure_;
  bool up_ = false;
  int out_failure_ = 0;  ///< errno of a failed write to standard output
  int status_ = -1;      ///< exit status of the command after its end
};

/// Returns the folder of Debian's libraries for arm64, which cmake/sysroot.sh unpacks.
std::string other_system() {
  const char* named = std::getenv("ZEROTAX_SYSROOT");
  return named != nullptr && *named != '\0' ? named : cache_folder("") + "sysroot-arm64";
}

}  // namespace

GuestProgram this_program(const MachinePlace& place, const std::vector<std::string>& words) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const fs::path own = self.parent_path().parent_path();
  const std::string init = "libexec/zerotax-guest-init";
  if (!place.is_other_processor() && place.build.empty()) return {self, words, own / init, ""};
  const fs::path build = place.build.empty() ? own.parent_path() / "build-arm64" : absolute_path(place.build);
  const fs::path program = build / "bin/zerotax";
  if (::access(program.c_str(), X_OK) != 0) {
    throw MachineError(
        fmt::format("no build of zerotax for {} exists at {}", place.emulator->processor, program.string()),
        "make a build with ./run arm64, or name a build, as in --on vm:trixie,arch=aarch64,build=FOLDER");
  }
  const std::string system = place.is_other_processor() ? other_system() : "";
  if (!system.empty() && ::access(system.c_str(), R_OK | X_OK) != 0) {
    throw MachineError(fmt::format("{}, a system for {}, is missing", system, place.emulator->processor),
                       "create the system with ./run arm64, or name a system in ZEROTAX_SYSROOT");
  }
  return {program, words, build / init, system};
}

int run_in_machine(const MachinePlace& place, const GuestProgram& program) {
  check_outputs({{kConsoleVariable, console_path()}});
  const GuestKernel kernel = find_kernel(place);
  bool kvm = !place.is_other_processor() && kvm_works();
  constexpr const char* kEmulated = "its CPU is emulated, so times differ from those of a real CPU";
  print_text(stderr, "zerotax: booting Linux {} in a virtual machine{}\n", kernel.name,
             kvm ? "" : fmt::format(" (no KVM here: {})", kEmulated));
  const Start start{place, kernel, program, new_token()};
  // An emulated CPU takes so long between two interrupts that about one boot in a hundred ends in a kernel panic.
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    Machine machine(start, kvm);
    if (const auto status = machine.run()) return *status;
    if (kvm) {
      kvm = false;
      print_text(stderr, "zerotax: the virtual machine does not start with KVM here; trying again without KVM ({})\n",
                 kEmulated);
      continue;
    }
    if (i >= kTries) machine.fail("the kernel panicked at each start");
    print_text(stderr, "zerotax: the virtual machine's kernel panicked during the boot; trying again\n");
  }
}

}  // namespace zerotax::machine
