#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/measured.h"
#include "base/units.h"
#include "observe/profile_data.h"

namespace zerotax::profile {

/// The sampled process, as it was when sampling began.
struct SampledProcess {
  pid_t pid = 0;
  std::string name;
  std::string path;
  pid_t parent = 0;
  std::string parent_name;
  std::uint64_t load_address = 0;  ///< 0 if the address is unknown
  std::string build_id;            ///< build-id in hexadecimal; empty if the file has no build-id
  std::string launched;            ///< UTC
  bool ended = false;              ///< whether the process ended by itself during the sampling
  std::vector<pid_t> running;      ///< processes that the program started and that outlived it
};

/// The profiled program, and how it was profiled.
struct ProfileSubject {
  std::vector<std::string> command;  ///< the words of the program's command, or the words that name the case
  unsigned hz = 0;
  bool wall = false;
  double wall_s = 0;
  double user_s = 0;  ///< CPU time from the kernel's accounting (rusage), independent of samples
  double system_s = 0;
  std::uint64_t faults = 0;  ///< page faults from the kernel's accounting
  int exit_status = 0;
  std::string started;
  std::optional<SampledProcess> process = {};
};

struct Sampled {
  RESULT("process", "The sampled process.");
  FIELD(pid_t, pid, "PID of the process.");
  FIELD(Measured<std::string>, name, "Short name of the process.");
  FIELD(Measured<std::string>, path, "Path of the process's program.");
  FIELD(pid_t, parent_pid, "PID of the parent process.");
  FIELD(Measured<std::string>, parent_name, "Short name of the parent process.");
  FIELD(Measured<std::string>, load_address, "Address at which the program file was loaded.", form("^0x[0-9a-f]+$"));
  FIELD(Measured<std::string>, build_id, "Version of the program: the build-id in its file.", form("^[0-9a-f]+$"));
  FIELD(Measured<std::string>, launched, "Time when the process was started, in UTC.", kUtc);
  FIELD(bool, ended, "Whether the process ended by itself during the sampling.");
  FIELD(std::optional<std::vector<pid_t>>, running,
        "PIDs of processes that the program started and that outlived it (daemons). Absent if there are no such "
        "processes.",
        least(1));
};

struct SamplingMethod {
  RESULT("method");
  FIELD(std::string, event,
        "The clock that triggers samples. cpu-clock: the kernel's clock of CPU time. wall-clock (--wall): samples"
        " every thread at equal intervals, running or blocked.",
        one_of("cpu-clock|wall-clock"));
  FIELD(unsigned, hz, "Samples per second of CPU time of each thread; with --wall, requested samples per second.",
        least(1));
  FIELD(Measured<std::string>, samples_of,
        "CPUs: each CPU is sampled, whatever runs on it (as root). threads: each thread is sampled by its own "
        "clock; a thread that ends before its clock expires gets no sample. n/a if nothing could be sampled; in "
        "that case all times are from the kernel's accounting.",
        one_of("CPUs|threads"), kLater);
  FIELD(Measured<std::string>, kernel, "Whether samples in kernel mode were taken.", one_of("sampled"));
  FIELD(Measured<std::string>, kernel_names, "Source of the names of kernel functions.", one_of("from /proc/kallsyms"));
  FIELD(std::optional<std::uint64_t>, looks, "With --wall: number of times that all threads were sampled.");
  FIELD(std::optional<Measured<std::string>>, blocked, "With --wall: whether blocked threads are shown.",
        one_of("sampled"));
};

struct Unseen {
  RESULT("unseen");
  FIELD(double, share,
        "Share of the CPU time that the samples do not represent: 1 - seen_s / cpu_s, at least 0. Above one half, the "
        "exit status is 3 and the terminal shows no call tree.",
        most(1));
  FIELD(double, cpu_s, "Total CPU time, in seconds: user_s + system_s.");
  FIELD(double, seen_s, "CPU time that the samples represent, in seconds: (samples - accounted) / hz.");
  FIELD(Measured<double>, user_share,
        "Share of user_s that the samples do not represent. This share decides the exit status if the kernel could not "
        "be sampled. n/a if the kernel was sampled, if nothing was sampled, or if user_s is too small. Absent from "
        "earlier files.",
        most(1), kLater);
  FIELD(Measured<std::string>, why, "Reasons for an unseen share above a tenth.");
  FIELD(Measured<std::string>, remedy, "Remedy for an unseen share above a tenth.");
};

struct Category {
  RESULT("category", "One kind of work, with its samples.");
  FIELD(std::string, category, "Kind of work, by the innermost frames (docs/profile.md).",
        one_of("zeroing|filling|memset (value unknown)|page faults|mapping calls|other "
               "kernel|copying|allocator|program|waiting|kernel (cause unknown)|running (not sampled)"));
  FIELD(Measured<std::uint64_t>, samples, "Number of samples.");
  FIELD(
      std::optional<std::uint64_t>, at_most,
      "Upper bound of the samples in page faults, mapping calls or other kernel work, if their number is unknown. Any "
      "one of the three kinds may have all samples of kernel (cause unknown), so the three bounds must not be added.");
  FIELD(std::optional<Measured<std::uint64_t>>, while_zeroing,
        "For page faults: samples in faults that were taken by a bzero, or by a memset of 0.");
  FIELD(std::optional<Measured<std::uint64_t>>, while_filling,
        "For page faults: samples in faults that were taken by a memset of another byte.");
  FIELD(std::optional<Measured<std::uint64_t>>, while_in_memset_of_unknown_value,
        "For page faults: samples in faults that were taken by a memset whose value is unknown.");
};

struct Function {
  RESULT("function", "The innermost function of sampled stacks.");
  FIELD(std::string, function,
        "Name of the function, demangled; its address if no symbol is known. For the outermost frame, the program's "
        "short name.");
  FIELD(std::string, module,
        "File name of the program, library or script; kernel; perf map for code to which an interpreter gives no "
        "file; empty if unknown.",
        kMayBeEmpty);
  FIELD(std::uint64_t, samples, "Number of samples.");
  FIELD(std::optional<std::string>, after,
        "If no symbol names the code: the last exported function before the code, with the distance, such as "
        "PyBytes_FromStringAndSize+0x12.");
};

struct Call : Function {
  RESULT("call", "A call to a function at one place in the tree.");
  BASE_FIELDS(Function);
  FIELD(std::vector<Call>, children, "The calls that this function made.");
  FIELD(std::optional<Measured<std::uint64_t>>, offset,
        "In the tree of a thread, where a call is a place in a function: bytes from the start of the function to "
        "that place. If the call combines several places, the place with the most samples counts.",
        least(1));
  FIELD(std::optional<Measured<std::string>>, address,
        "In the tree of a thread: address of the place in the process's memory.", form("^0x[0-9a-f]+$"));
  FIELD(std::optional<std::uint64_t>, places, "In the tree of a thread: number of places that this call combines.",
        least(1));
  static constexpr const char* kMore = R"({"dependentRequired": {
    "offset": ["address", "places"], "address": ["offset", "places"], "places": ["offset", "address"]}})";
};

struct PageFaults {
  RESULT("page faults");
  FIELD(std::uint64_t, taken,
        "Number of minor and major faults in the kernel's accounting, including faults in the kernel's own accesses.");
  FIELD(Measured<std::uint64_t>, samples, "Number of faults in user mode, which the tree shows.");
  FIELD(std::uint64_t, sampled, "Number of sampled faults.");
  FIELD(std::vector<Call>, tree,
        "The call tree of faults, like `tree`, but with numbers of faults. These numbers do not show the cost of the "
        "faults.");
};

struct Thread {
  RESULT("thread", "Samples and call tree of one thread.");
  FIELD(std::uint32_t, pid, "PID of the thread's process.");
  FIELD(std::uint32_t, tid, "ID of the thread.");
  FIELD(std::string, name, "Name of the thread; empty if unknown.", kMayBeEmpty);
  FIELD(std::uint64_t, samples, "Number of samples.");
  FIELD(std::vector<Call>, tree, "Call tree of the thread. The outermost calls come first.",
        with(R"({"items": {"$ref": "#/$defs/call", "required": ["offset", "address", "places"]}})"));
};

enum class ProfiledKind { kCommand, kCase, kProcess };

struct Profile : DocumentHead {
  RESULT("zerotax profile",
         "The activities of a case, a program or a process, as zerotax profile --json writes them. The "
         "categories, the functions at the top of the stack, and the roots of the tree each add up to samples; "
         "JSON Schema cannot express this rule.");
  HEAD_FIELDS("zerotax.profile/1",
              "The command line of the program; or the case, allocator, size, fraction of written pages and "
              "thread; or --pid and the process.",
              least_items(1));
  FIELD(int, exit_status,
        "Exit status of the program, as a shell reports it: 128 + N if signal N ended it. 0 for a case and for a "
        "process.",
        most(255));
  FIELD(Measured<Sampled>, process, "The sampled process, as it was when sampling began.", kLater);
  FIELD(SamplingMethod, method, "Method of sampling.");
  FIELD(double, wall_s, "Wall time from start to end, in seconds.");
  FIELD(double, user_s,
        "Seconds of CPU time in user mode, from the kernel's accounting (rusage; for a process, /proc and its CPU"
        " clock).");
  FIELD(double, system_s, "Seconds of CPU time in kernel mode, from the kernel's accounting.");
  FIELD(std::uint64_t, samples, "Number of samples; with --wall, a sample is of one thread.");
  FIELD(std::uint64_t, accounted,
        "Number of samples that zerotax computed from the kernel's accounting, because the kernel or the whole program "
        "could not be sampled; part of samples. The trees show these samples as (kernel, not sampled) and (user mode, "
        "not sampled). Absent from earlier files.",
        kLater);
  FIELD(std::uint64_t, lost,
        "Number of events, most of them samples, that were lost because they were not read in time.");
  FIELD(double, lost_share,
        "Upper bound of the share of lost events. If CPUs are sampled, the lost events may include events of "
        "other processes.",
        most(1), kLater);
  FIELD(Measured<Unseen>, unseen,
        "CPU time in the kernel's accounting that the samples do not represent. n/a with --wall, or if fewer than"
        " 30 samples were expected.",
        kLater);
  FIELD(std::vector<InterpreterNames>, script_names,
        "Interpreters that ran, and the sources of their scripts' function names. Absent from earlier files.", kLater);
  FIELD(std::vector<Category>, categories,
        "Kinds of work that the samples show. The kind with the most samples comes first; each sample is in exactly "
        "one category.");
  FIELD(std::vector<Function>, top_of_stack, "Innermost functions. The function with the most samples comes first.");
  FIELD(std::vector<Call>, tree,
        "The call tree, from the outermost calls inward. The roots of the tree are the programs, by their short "
        "names.");
  FIELD(PageFaults, page_faults,
        "Number of page faults, and their call tree if samples in the kernel do not show where the program takes "
        "faults. Absent from earlier files.",
        kLater);
  FIELD(std::optional<std::vector<Thread>>, threads,
        "A call tree of places in functions for each thread; only with --pid, --threads, or --wall and a command.");
  ProfiledKind kind = ProfiledKind::kCommand;  ///< not in the JSON document
};

Profile profile_result(const ProfileSubject& subject, const ProfileData& data, Json environment);

/// Returns the object of "zerotax.profile/1".
Json profile_json(const Profile& profile);

/// Formats a number of samples as a share, such as "12.5 %"; "n/a" for activities that were not sampled.
inline std::string share_text(const Measured<std::uint64_t>& samples, std::uint64_t of) {
  if (!samples) return "n/a";
  return format_percent(static_cast<double>(*samples) / static_cast<double>(std::max<std::uint64_t>(of, 1)));
}

}  // namespace zerotax::profile
