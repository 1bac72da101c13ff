/// `potluck checkpoint`: which checkpoints there are, what one is of, and what
/// two differ in.

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <tuple>

#include "runtime/event_log.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/numbers.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/layout_text.hpp"
#include "tools/lab/display/table.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

namespace fs = std::filesystem;
using cli::option_kind;
using words = std::vector<std::string>;

std::string readable_bytes(std::uint64_t bytes) {
  const auto x = static_cast<double>(bytes);
  return x < 1e6   ? readable(x / 1e3, 3) + " kB"
         : x < 1e9 ? readable(x / 1e6, 3) + " MB"
                   : readable(x / 1e9, 3) + " GB";
}

std::int64_t written_at(const fs::path& file) {
  std::error_code ignored;
  const auto age
      = fs::file_time_type::clock::now() - fs::last_write_time(file, ignored);
  return static_cast<std::int64_t>(std::time(nullptr))
         - std::chrono::duration_cast<std::chrono::seconds>(age).count();
}

std::string as_date(std::int64_t seconds) {
  const auto when = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::localtime_r(&when, &parts);
  char text[20];
  const auto size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return {text, size};
}

// ---- list -------------------------------------------------------------------

struct found_file {
  std::string path;
  std::int64_t written = 0;
  checkpoint_summary what;
};

/// Those of a folder, or of its folders with states for roll-backs.
void look_in(const fs::path& folder, int depth,
             std::vector<found_file>& found) {
  std::error_code problem;
  for (fs::directory_iterator i{folder, problem}, end; !problem && i != end;
       i.increment(problem)) {
    std::error_code unknown;
    if (i->is_directory(unknown) && depth > 0)
      look_in(i->path(), depth - 1, found);
    else if (i->is_regular_file(unknown))
      if (auto what = read_checkpoint_summary(i->path()))
        found.push_back({i->path(), written_at(i->path()), std::move(*what)});
  }
}

int list(const words& places, bool as_json) {
  std::vector<found_file> found;
  for (const auto& place : places) {
    std::error_code problem;
    if (fs::is_directory(place, problem)) {
      look_in(place, 1, found);
      continue;
    }
    auto what = read_checkpoint_summary(place);
    if (!what)
      return complain(what.error());
    found.push_back({place, written_at(place), std::move(*what)});
  }
  std::sort(found.begin(), found.end(), [](auto& x, auto& y) {
    return std::tuple{x.what.charter.settings().run, y.what.step, x.path}
           < std::tuple{y.what.charter.settings().run, x.what.step, y.path};
  });
  std::vector<words> rows{{"run", "step", "of", "samples", "parameters", "size",
                           "written", "file"}};
  for (const auto& x : found) {
    const auto& settings = x.what.charter.settings();
    if (as_json) {
      std::cout << to_json({"checkpoint",
                            {{"run", settings.run},
                             {"step", x.what.step},
                             {"steps", settings.steps},
                             {"samples", x.what.history_samples},
                             {"parameters", x.what.values},
                             {"bytes", x.what.file_bytes},
                             {"written", x.written},
                             {"path", x.path}}},
                           0)
                << "\n";
      continue;
    }
    rows.push_back(
        {harmless(shown_run(settings.run)), std::to_string(x.what.step),
         std::to_string(settings.steps), std::to_string(x.what.history_samples),
         std::to_string(x.what.values), readable_bytes(x.what.file_bytes),
         as_date(x.written), harmless(x.path)});
  }
  if (found.empty() && !as_json)
    std::cout << "There is no checkpoint in " << places.front()
              << "; name another folder.\n";
  else if (!as_json)
    std::cout << table(rows);
  std::cout << std::flush;
  return all_well;
}

// ---- show and diff ----------------------------------------------------------

expected<model_layout> layout_in(const checkpoint& x) {
  if (const auto& text = x.charter.file(layout_file); !text.empty())
    return read_layout_text(text);
  model_layout all;
  all.add("(all)", {static_cast<std::int64_t>(x.state.parameters.size())}, true,
          0, 0);
  return all;
}

std::string shape_of(const tensor_entry& x) {
  std::string result;
  for (auto extent : x.shape)
    result += (result.empty() ? "" : "x") + std::to_string(extent);
  return result.empty() ? "scalar" : result;
}

/// Root of the mean of squares.
template <class Value>
double rms(std::uint64_t count, Value value) {
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = value(i);
    sum += x * x;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

int show(const std::string& path) {
  auto saved = load_checkpoint(path);
  if (!saved)
    return complain(saved.error());
  auto layout = layout_in(*saved);
  if (!layout)
    return complain(path + ": " + layout.error());
  const auto& settings = saved->charter.settings();
  const auto& state = saved->state;
  if (layout->values() != state.parameters.size())
    return complain("The checkpoint " + path
                    + " does not fit its own model; it was written by another "
                      "version of potluck.");
  std::cout << "run         " << harmless(shown_run(settings.run))
            << "\nstep        " << state.step << " of " << settings.steps
            << "\nsamples     " << state.history_samples << "\nparameters  "
            << state.parameters.size() << "\ndigest      "
            << to_string(digest_of_state(state)) << "\n";
  if (const auto& signed_by = saved->history; !signed_by.empty())
    std::cout << "signed      steps " << signed_by.front().step << " to "
              << signed_by.back().step << "\n";
  std::cout << "\nsettings\n";
  for (const auto& x : saved->charter.table())
    if (x.name != "run")
      std::cout << "  " << x.name << " = " << harmless(x.value) << "\n";
  std::vector<words> rows{{"tensor", "shape", "rms", "largest"}};
  for (const auto& x : layout->entries()) {
    const auto* values = state.parameters.data() + x.offset;
    float largest = 0;
    for (std::uint64_t i = 0; i < x.values; ++i)
      largest = std::max(largest, std::abs(values[i]));
    rows.push_back({harmless(x.name), shape_of(x),
                    readable(rms(x.values, [&](auto i) { return values[i]; })),
                    readable(largest)});
  }
  std::cout << "\n" << table(rows) << std::flush;
  return all_well;
}

/// Settings, and files by their digests, that are not the same.
std::size_t diff_settings(const checkpoint& a, const checkpoint& b) {
  std::map<std::string, std::pair<std::string, std::string>> all;
  for (const auto& x : a.charter.table())
    all[x.name].first = x.value;
  for (const auto& x : b.charter.table())
    all[x.name].second = x.value;
  std::size_t different = 0;
  for (const auto& [name, values] : all)
    if (values.first != values.second) {
      ++different;
      const auto or_none = [](const std::string& x) {
        return x.empty() ? "none" : harmless(x);
      };
      std::cout << name << ": " << or_none(values.first) << " -> "
                << or_none(values.second) << "\n";
    }
  return different;
}

int diff(const std::string& first, const std::string& second) {
  auto a = load_checkpoint(first);
  if (!a)
    return complain(a.error());
  auto b = load_checkpoint(second);
  if (!b)
    return complain(b.error());
  auto here = layout_in(*a);
  auto there = layout_in(*b);
  for (auto* x : {&here, &there})
    if (!*x)
      return complain(x->error());
  std::size_t different = diff_settings(*a, *b);
  if (a->state.step != b->state.step) {
    ++different;
    std::cout << "step: " << a->state.step << " -> " << b->state.step << "\n";
  }
  if (auto problem = layout_difference(*here, *there); !problem.empty()) {
    std::cout << "The models differ: " << problem << ".\n" << std::flush;
    return failed;
  }
  if (here->values() != a->state.parameters.size()
      || there->values() != b->state.parameters.size())
    return complain("A checkpoint does not fit its own model; it was written "
                    "by another version of potluck.");
  std::vector<words> rows{
      {"tensor", "shape", "largest change", "rms of change", "of rms"}};
  for (const auto& x : here->entries()) {
    const auto* before = a->state.parameters.data() + x.offset;
    const auto* after = b->state.parameters.data() + x.offset;
    if (std::equal(before, before + x.values, after))
      continue;
    const auto change = [&](auto i) {
      return static_cast<double>(after[i]) - static_cast<double>(before[i]);
    };
    double largest = 0;
    for (std::uint64_t i = 0; i < x.values; ++i)
      largest = std::max(largest, std::abs(change(i)));
    const auto moved = rms(x.values, change);
    const auto size = rms(x.values, [&](auto i) { return before[i]; });
    rows.push_back({harmless(x.name), shape_of(x), readable(largest),
                    readable(moved), readable(moved / size)});
  }
  if (rows.size() > 1)
    std::cout << table(rows);
  else if (digest_of_state(a->state) != digest_of_state(b->state))
    std::cout << "The parameters are equal; what the optimizer keeps of them, "
                 "or the samples behind them, differs.\n";
  else if (different == 0)
    std::cout << "They hold the same.\n";
  std::cout << std::flush;
  const bool same = different == 0 && rows.size() == 1
                    && digest_of_state(a->state) == digest_of_state(b->state);
  return same ? all_well : failed;
}

int run_checkpoint(cli::command_line& options, const std::string&) {
  const auto& what = options.positionals();
  const words rest{what.empty() ? what.begin() : what.begin() + 1, what.end()};
  const auto verb = what.empty() ? "" : what.front();
  if (verb == "list") {
    const auto usual = identity_directory(options);
    if (rest.empty() && usual.empty())
      return complain("Name a folder: potluck checkpoint list FOLDER.");
    return list(rest.empty() ? words{usual} : rest, options.flag("json"));
  }
  if (verb == "show" && rest.size() == 1)
    return show(rest[0]);
  if (verb == "diff" && rest.size() == 2)
    return diff(rest[0], rest[1]);
  return complain("Write `potluck checkpoint list [FOLDER]`, `show FILE` or "
                  "`diff FILE FILE`.");
}

} // namespace

command checkpoint_command() {
  cli::command_spec spec;
  spec.name = "checkpoint";
  spec.summary = "List checkpoints, show one, compare two";
  spec.usage = "potluck checkpoint list [FOLDER | FILE]...\n"
               "       potluck checkpoint show FILE\n"
               "       potluck checkpoint diff FILE FILE";
  spec.positionals = 64;
  for (auto& x : network_options())
    if (x.name == "identity-dir")
      spec.options.push_back(x);
  spec.options.push_back({"json", option_kind::flag, "",
                          "With list: one JSON object a line.", ""});
  spec.notes
      = "Without a folder, list looks where `potluck join` keeps checkpoints: "
        "the newest of a\nrun is RUN.checkpoint, older ones "
        "RUN.checkpoint.STEP. Exit status of diff: 0 where\nthe two hold the "
        "same, 1 where they differ.\n";
  return {spec, run_checkpoint};
}

} // namespace potluck::tools
