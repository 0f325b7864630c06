#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lines.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "clients/clients.h"
#include "files/output_file.h"
#include "os/print.h"
#include "point/typed_point.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/session.h"

namespace zerotax::clients {
namespace {

std::string label(const Point& point) {
  constexpr std::size_t kLongest = 14;
  std::string text = point.allocator;
  for (const auto& [key, value] : point.env) text += fmt::format(" {}={}", key, value);
  return first_characters(printable(text), kLongest);
}

void add_row(Table& table, const Point& point, const std::vector<Client>& clients,
             const std::vector<ClientResult>& results) {
  const auto of_case = point.number(Metric::kMbPerS);
  std::vector<Cell> cells{label(point), of_case ? Cell(*of_case) : Cell::not_available()};
  for (const Client& client : clients) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const ClientResult& result) {
      return result.allocator == point.allocator && result.client == client.name &&
             result.size_bytes == point.size_bytes;
    });
    if (found == results.end()) {
      cells.emplace_back();
    } else {
      cells.push_back(found->mb_per_s ? Cell(*found->mb_per_s) : Cell::not_available());
    }
  }
  table.add(std::move(cells));
}

/// Returns a table with two lines of headings.
Table empty_table(const std::vector<Client>& clients) {
  std::vector<Column> columns{{"", Unit::kText, 14}, {"the case", Unit::kNumber, 8, "n/a", {}, 0}};
  std::vector<Cell> below{"allocator", "in C++"};
  for (const Client& client : clients) {
    const std::size_t blank = client.heading.find(' ');
    columns.push_back({client.heading.substr(0, blank), Unit::kNumber, 8, "n/a", {}, 0});
    below.emplace_back(client.heading.substr(blank + 1));
  }
  Table table(std::move(columns));
  table.add(std::move(below));
  return table;
}

/// Returns a table of MB/s for each size, at most 78 columns wide. Each table has a row for each allocator, and a
/// column for the case and for each client. A legend follows, and the reasons for missing metrics. `points` are the
/// points of recv_buffer, and `results` are the results of the clients.
std::string clients_table(const std::vector<Client>& clients, const std::vector<Point>& points,
                          const std::vector<ClientResult>& results) {
  std::string text;
  for (std::size_t i = 0; i < points.size();) {
    const std::uint64_t size = points[i].size_bytes;
    Table table = empty_table(clients);
    for (; i < points.size() && points[i].size_bytes == size; ++i) add_row(table, points[i], clients, results);
    text += fmt::format("{}MB/s received into buffers of {}\n", text.empty() ? "" : "\n", format_size(size));
    text += table.text();
  }
  Table legend({{"", Unit::kText, 14}, {"", Unit::kText, 0, "", {}, 0}});
  for (const Client& client : clients) {
    legend.add({client.heading, fmt::format("{}: {}", client.name, client.summary)});
  }
  text += "\n" + legend.text(false);
  // Reasons for missing rates are listed once, because a missing module is the same for every allocator.
  std::set<std::string> told;
  const auto tell = [&](const std::string& allocator, const std::string& what, PointStatus status,
                        const std::string& reason) {
    const std::string line = fmt::format("{}: {}: {}\n", what, word_of(status), reason);
    if (status == PointStatus::kOk || !told.insert(line).second) return;
    text += status == PointStatus::kSkipped ? line : allocator + " " + line;
  };
  for (const Point& point : points) tell(point.allocator, point.case_name, point.status, point.reason.value_or(""));
  for (const ClientResult& result : results) {
    tell(result.allocator, result.client, result.status, result.reason.value_or(""));
  }
  return text;
}

constexpr const char* kExamples =
    "  zerotax clients\n"
    "  zerotax clients --size 100MB --allocator glibc --allocator mine=./libmine.so --json clients.json\n"
    "  zerotax clients --client cffi_1_9 --client requests_2016 --allocator glibc --size 10MB --size 1GB\n";

struct Options {
  MeasureOptions measure;
  std::vector<std::string> clients;
};

/// Returns the requested sizes. Throws UsageError for an invalid size.
std::vector<std::uint64_t> sizes_of(const MeasureOptions& options) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(parse_size(size));
  if (sizes.empty()) sizes = {10'000'000, 100'000'000, 1000 * kMiB};
  check_axes({{"recv_buffer"}, sizes, {}, {}});
  return sizes;
}

/// Prepares the case in C++ at the same sizes, for comparison with the clients.
Session make_session(const MeasureOptions& options, const std::vector<std::uint64_t>& sizes) {
  Plan plan;
  plan.timeout_s = options.timeout_s;
  plan.allocators = resolve_allocators(options.allocators, options.env);
  for (const Allocator& allocator : plan.allocators) check_loads_here(allocator.preload);
  for (const std::uint64_t size : sizes) {
    add_points(plan, {{"recv_buffer"}, {size}, {0.0}, {"main"}}, receive_repeats(size));
  }
  return {std::move(plan), std::nullopt, Subcommand::command_line};
}

/// Runs the clients, one run at a time. The runs of one size follow each other, and alternate between allocators. A
/// signal ends the runs early.
std::vector<ClientResult> run_clients(const Plan& plan, const std::vector<Client>& clients,
                                      const ClientRunner& runner) {
  std::vector<ClientResult> results;
  std::vector<Item> items;
  for (std::size_t first = 0; first < plan.points.size(); first += plan.allocators.size()) {
    for (const Client& client : clients) {
      for (std::size_t i = first; i < first + plan.allocators.size(); ++i) {
        const Allocator& allocator = plan.allocators[plan.points[i].allocator];
        const std::uint64_t size = plan.points[i].size_bytes;
        Item& item = items.emplace_back();
        item.label = fmt::format("{} under {}, {}", client.name, allocator.name, format_size(size));
        item.measure = [&, size](const Say&) { results.push_back(runner.run(allocator, client, size)); };
      }
    }
  }
  static_cast<void>(Experiment("running clients").run(items));
  return results;
}

ExitStatus run(const Options& options) {
  const std::vector<Client> clients = chosen_clients(options.clients);
  const std::string& file = options.measure.json;
  check_outputs({{"--json", file}}, library_inputs(options.measure.allocators));
  // Invalid arguments are reported before the search for Python's modules, which takes seconds.
  Session session = make_session(options.measure, sizes_of(options.measure));
  const auto timeout = std::chrono::duration<double>(options.measure.timeout_s);
  const ClientRunner runner(std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  const int signal = session.run();
  Clients document = clients_of(session.json());
  document.clients = clients;
  if (signal == 0) document.results = run_clients(session.plan(), clients, runner);
  if (interrupted() != 0) document.state = Completion::kInterrupted;
  const std::vector<ClientResult>& results = document.results;
  const std::vector<Point>& points = session.points();
  if (!file.empty()) write_file(file, json_text(clients_json(document)));
  if (file != "-") {
    const Answer answer = clients_answer(document, points);
    print_lines(stdout, wants_full_text() ? wrap(answer.headline) + "\n" + clients_table(clients, points, results)
                                          : answer_text(answer));
  }
  if (interrupted() != 0) say_interrupted();
  const bool healthy =
      std::all_of(points.begin(), points.end(), [](const Point& point) { return is_healthy(point); }) &&
      std::all_of(results.begin(), results.end(), [](const ClientResult& one) { return is_healthy(one.status); });
  return healthy ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand command("clients", Wing::kAllocator, "Measure the time of Python TLS clients under each allocator",
                         kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           options->measure.add_allocators(arguments);
                           arguments
                               .option("--client", options->clients,
                                       "run this client (repeatable; default: all clients that this machine can run)")
                               .completed_by(client_names)
                               .shown_as("CLIENT")
                               .repeatable();
                           add_sizes(arguments, options->measure.sizes, "10MB, 100MB and 1000MiB");
                           add_json(arguments, options->measure.json);
                           return [options] { return run(*options); };
                         });

}  // namespace

}  // namespace zerotax::clients
