#include "runtime/state/setting_kinds.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/state/charter_fields.hpp"

namespace potluck {

namespace {

const declared_setting* find(const setting_kind& kind,
                             const std::string& name) {
  for (const auto& x : kind.settings)
    if (x.name == name)
      return &x;
  return nullptr;
}

/// The value in `settings`; null when there is none.
const std::string* find_own(const run_settings& settings,
                            const declared_setting& what) {
  const auto section = settings.own.find(what.section);
  if (section == settings.own.end())
    return nullptr;
  const auto at = section->second.find(what.name);
  return at == section->second.end() ? nullptr : &at->second;
}

std::string choice_of(const run_settings& settings, const kind_family& x) {
  return find_field(x.chooser)->print(settings);
}

/// Empty when none of the family's kinds has a setting of this name.
std::string kinds_with(const std::string& name, const kind_family& family) {
  std::string result;
  for (const auto& kind : family.kinds)
    if (find(kind, name))
      result += (result.empty() ? "" : " and ") + kind.name;
  return result;
}

std::string problem_with(const run_settings& settings,
                         const kind_family& family) {
  const auto kind = family.chosen(settings);
  if (!kind)
    return family.chooser + " must be one of " + family.names();
  const auto of_kind = family.chooser + " " + kind->name;
  for (const auto& x : kind->settings) {
    const auto value = find_own(settings, x);
    if (!value)
      return "the " + of_kind + " needs the setting " + x.name
             + ", which is not there; use the same version of Potluck "
               "everywhere";
    const auto read = x.read(*value);
    if (!read)
      return read.error();
    if (*read != *value)
      return x.name + " is written as " + *value + " in place of " + *read;
  }
  for (const auto& section : family.sections)
    if (const auto at = settings.own.find(section); at != settings.own.end())
      for (const auto& [name, value] : at->second)
        if (!find(*kind, name))
          return "the " + of_kind + " has no setting " + name;
  return {};
}

} // namespace

const setting_kind* kind_family::find(const std::string& kind) const {
  for (const auto& x : kinds)
    if (x.name == kind)
      return &x;
  return nullptr;
}

std::string kind_family::named_by(const std::string& word) const {
  for (const auto& x : kinds)
    if (!x.suffix.empty() && word.size() > x.suffix.size()
        && word.compare(word.size() - x.suffix.size(), std::string::npos,
                        x.suffix)
               == 0)
      return x.name;
  return word;
}

const setting_kind* kind_family::chosen(const run_settings& settings) const {
  return find(choice_of(settings, *this));
}

std::string kind_family::names() const {
  std::string result;
  for (const auto& x : kinds)
    result += (result.empty() ? "" : ", ") + x.name;
  return result;
}

const kind_families& built_in_families() {
  static const kind_families all{&optimizer_family()};
  return all;
}

const std::set<std::string>& own_sections() {
  static const auto all = [] {
    std::set<std::string> result{"model", "data", "experts"};
    for (const auto* x : built_in_families())
      result.insert(x->sections.begin(), x->sections.end());
    return result;
  }();
  return all;
}

expected<bool> assign(run_settings& settings, const std::string& name,
                      const std::string& value, const kind_families& families) {
  if (const auto common = find_field(name))
    return common->assign(settings, value);
  std::string elsewhere;
  for (const auto* family : families) {
    const auto kind = family->chosen(settings);
    if (const auto declared = kind ? find(*kind, name) : nullptr) {
      auto read = declared->read(value);
      if (!read)
        return failure{read.error()};
      settings.own[declared->section][name] = std::move(*read);
      return true;
    }
    if (const auto kinds = kinds_with(name, *family); !kinds.empty())
      elsewhere = "\"" + name + "\" is a setting of the " + family->chooser
                  + " " + kinds + ", and the " + family->chooser + " is "
                  + choice_of(settings, *family);
  }
  return failure{elsewhere.empty()
                     ? "there is no setting called \"" + shown(name) + "\""
                     : elsewhere};
}

expected<bool> assign(run_settings& settings, const std::vector<setting>& all,
                      const kind_families& families) {
  auto result = settings;
  for (const bool choose : {true, false})
    for (const auto& x : all) {
      const bool chooses
          = std::any_of(families.begin(), families.end(),
                        [&](auto family) { return family->chooser == x.name; });
      if (chooses != choose)
        continue;
      if (auto done = assign(result, x.name, x.value, families); !done)
        return done;
    }
  settings = std::move(result);
  return true;
}

void complete(run_settings& settings, const kind_families& families) {
  for (const auto* family : families)
    if (const auto kind = family->chosen(settings))
      for (const auto& x : kind->settings)
        settings.own[x.section].emplace(x.name, x.usual);
}

std::string problem_with(const run_settings& settings,
                         const kind_families& families) {
  for (const auto* family : families)
    if (auto problem = problem_with(settings, *family); !problem.empty())
      return problem;
  return {};
}

template <class Limits>
const std::string& kind_settings::value(const std::string& name) const {
  const auto declared = find(kind_, name);
  if (!declared || !std::holds_alternative<Limits>(declared->limits))
    throw std::logic_error(kind_.name + " declares no such setting: " + name);
  const auto given = find_own(settings_, *declared);
  return given ? *given : declared->usual;
}

const std::string& kind_settings::text(const std::string& name) const {
  return value<declared_setting::text_limits>(name);
}

std::uint64_t kind_settings::whole(const std::string& name) const {
  return whole_in(value<declared_setting::whole_limits>(name));
}

double kind_settings::real(const std::string& name) const {
  return real_in(value<declared_setting::real_limits>(name));
}

} // namespace potluck
