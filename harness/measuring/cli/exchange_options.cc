#include "cli/exchange_options.h"

#include <cstdio>

#include "cli/common_options.h"
#include "exchange/outcome.h"
#include "exchange/outcome_texts.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/print.h"
#include "run/figures.h"

namespace zerotax {

exchange::OutcomeKind kind_of(Direction direction) {
  using enum exchange::OutcomeKind;
  constexpr exchange::OutcomeKind kKinds[] = {kWorse, kBetter, kChanged};
  return kKinds[static_cast<std::size_t>(direction)];
}

exchange::OutcomeKind kind_of(Verdict verdict) {
  using enum exchange::OutcomeKind;
  constexpr exchange::OutcomeKind kKinds[] = {kSame, kBetter, kWorse, kWorse, kChanged, kFailed};
  return kKinds[static_cast<std::size_t>(verdict)];
}

void ExchangeOptions::add(Arguments& arguments) {
  begin_ = std::chrono::steady_clock::now();
  add_json(arguments, json_);
  arguments.option("--junit", junit_, "write JUnit XML to this file, for Jenkins and GitLab").path();
  arguments.option("--markdown", markdown_, "write Markdown to this file, for a comment on a pull request").path();
  arguments.option("--bmf", bmf_, "write Bencher Metric Format to this file").path();
  arguments.flag("--github", github_, "also print annotations for GitHub Actions");
}

void ExchangeOptions::add_html(Arguments& arguments) {
  arguments.option("--html", html_, "write a page with charts of before and after to this file").path();
}

std::vector<NamedPath> ExchangeOptions::outputs() const {
  return {{"--json", json_}, {"--junit", junit_}, {"--markdown", markdown_},
          {"--bmf", bmf_},   {"--html", html_},   {"--github", github_ ? "-" : ""}};
}

void ExchangeOptions::check_page() const {
  if (!html_.empty()) make_comparison_page("");
}

bool ExchangeOptions::silent() const {
  return json_ == "-" || junit_ == "-" || markdown_ == "-" || bmf_ == "-" || html_ == "-";
}

void ExchangeOptions::write(const exchange::OutcomeList& list, const Json& document) const {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  if (!json_.empty()) write_file(json_, json_text(document));
  if (!junit_.empty()) write_file(junit_, exchange::junit_xml(list, taken.count(), utc_now()));
  if (!markdown_.empty()) write_file(markdown_, exchange::markdown_text(list));
  if (!bmf_.empty()) write_file(bmf_, json_text(exchange::bmf_json(list)));
  if (!html_.empty()) write_file(html_, make_comparison_page(json_text(document)));
}

void ExchangeOptions::publish(const exchange::OutcomeList& list, const Json& document, const std::string& text) const {
  if (!silent()) print_lines(stdout, text);
  print_annotations(list);
  write(list, document);
}

void ExchangeOptions::print_annotations(const exchange::OutcomeList& list) const {
  if (!github_) return;
  // GitHub's runner must execute these lines; print_text would escape them.
  std::fflush(stdout);
  write_file("-", exchange::github_commands(list));
}

}  // namespace zerotax
