#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/one_line.h"
#include "base/units.h"
#include "base/wrap.h"
#include "history/document.h"
#include "history/outcome.h"

namespace zerotax::history {
namespace {

Json commit_with(const Commit& commit, const Answer& answer) {
  Json json = to_json(commit);
  json["name"] = commit.name();
  json["answer"] = word_of(answer.kind);
  json["value"] = answer.value;
  return json;
}

std::string sentence_of_bisection(const Bisection& found, const BisectOutcome* outcome) {
  if (outcome != nullptr) {
    return fmt::format("{} is the first that is not as expected: {}; before: {}.", found.first_bad->name(),
                       outcome->after_answer.value, outcome->before_answer.value);
  }
  if (!found.complete) return "Interrupted before the commit was found.";
  return fmt::format("Not decided: one of {} did it, and those between could not be measured.",
                     format_counted(found.candidates.size(), "commit"));
}

Json outcome_json(const Bisection& found, const BisectOutcome& outcome) {
  Json json = commit_with(*found.first_bad, outcome.after_answer);
  json["diffstat"] = outcome.diffstat;
  json["before"] = commit_with(outcome.before, outcome.before_answer);
  json["library"] = outcome.library.empty() ? not_available("it was not built") : Json(outcome.library);
  json["version"] = outcome.version.empty() ? not_available("the library states none") : Json(outcome.version);
  json["difference"] =
      outcome.difference ? to_json(*outcome.difference) : not_available("one of the two was not measured");
  json["findings"] = Json::array();
  for (const findings::Finding& finding : outcome.findings) {
    json["findings"].push_back({{"name", finding.name}, {"title", finding.title}, {"sentence", finding.sentence}});
  }
  return json;
}

Json question_json(const Question& question) {
  Json json{{"text", text_of(question)}, {"timeout_s", question.grid.timeout_s}};
  if (question.expect && question.expect->is_of_a_point()) {
    json["place"] = {{"case", question.place.case_name},
                     {"size_bytes", question.place.size_bytes},
                     {"touch", question.place.touch},
                     {"thread", question.place.thread}};
  }
  json["grid"] = question.grid.json();
  return json;
}

}  // namespace

Json bisect_json(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome) {
  Json json = document_head("zerotax.bisect/1", found.complete, request.started, request.repository, request.recipe);
  json["question"] = question_json(request.question);
  json["good"] = commit_with(found.good, found.good_answer);
  json["bad"] = commit_with(found.bad, found.bad_answer);
  json["between"] = found.between;
  json["steps"] = Json::array();
  for (const BisectStep& step : found.steps) json["steps"].push_back(commit_with(step.commit, step.answer));
  json["sentence"] = sentence_of_bisection(found, outcome);
  json["first_bad"] = outcome != nullptr ? outcome_json(found, *outcome) : not_available("it was not found");
  json["candidates"] = Json::array();
  for (const Commit& commit : found.candidates) {
    Answer answer;
    for (const BisectStep& step : found.steps) {
      if (step.commit.id == commit.id) answer = step.answer;
    }
    if (commit.id == found.bad.id) answer = found.bad_answer;
    json["candidates"].push_back(commit_with(commit, answer));
  }
  return json;
}

std::string bisect_text(const Json& bisect) {
  const auto line = [](const Json& commit) {
    return wrap(one_line(commit.at("value").get<std::string>()),
                fmt::format("  {:<12}{:<9}", commit.at("name").get<std::string>().substr(0, 11),
                            commit.at("answer").get<std::string>()),
                std::string(23, ' '));
  };
  std::string text = wrap(
      fmt::format("{} between {} and {}, by '{}'", format_counted(bisect.at("between").get<std::uint64_t>(), "commit"),
                  bisect.at("good").at("name").get<std::string>(), bisect.at("bad").at("name").get<std::string>(),
                  bisect.at("question").at("text").get<std::string>()),
      "", "  ");
  text += line(bisect.at("good")) + line(bisect.at("bad"));
  for (const Json& step : bisect.at("steps")) text += line(step);
  text += "\n" + wrap(bisect.at("sentence").get<std::string>(), "", "  ");
  for (const Json& commit : bisect.at("candidates")) {
    text += fmt::format("  {}  {}\n", commit.at("commit").get<std::string>().substr(0, 10),
                        first_characters(one_line(commit.at("subject").get<std::string>()), 66));
  }
  const Json& first = bisect.at("first_bad");
  if (is_not_available(first)) return text;
  text += fmt::format("\ncommit {}\nauthor {}\ndate   {}\n\n    {}\n\n", first.at("commit").get<std::string>(),
                      one_line(first.at("author").get<std::string>()), first.at("date").get<std::string>(),
                      one_line(first.at("subject").get<std::string>()));
  text += first.at("diffstat").get<std::string>() + "\n\n";
  text += wrap(one_line(first.at("before").at("value").get<std::string>()), "before  ", "        ");
  text += wrap(one_line(first.at("value").get<std::string>()), "after   ", "        ");
  if (!is_not_available(first.at("difference"))) {
    text += wrap(one_line(first.at("difference").at("sentence").get<std::string>()), "check   ", "        ");
  }
  for (const Json& finding : first.at("findings")) {
    text += wrap(finding.at("title").get<std::string>(), "finding ", "        ");
  }
  return text;
}

}  // namespace zerotax::history
