#include "tools/lab/network/network_description.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "runtime/config.hpp"
#include "tools/lab/scenario/scenario_numbers.hpp"

namespace potluck {

namespace {

using what = scenario_value::what;
using reader = std::function<complaint(const scenario_value&)>;

/// One member that an object may have.
struct member {
  std::string name;
  reader read;
  bool needed = false;
};

/// The least rate: a packet in a few seconds. The highest: beyond what one
/// machine forwards.
constexpr double lowest_rate = 500;
constexpr double highest_rate = 125e9;
constexpr double longest_delay = 60;

complaint read_members(const scenario_value& j,
                       const std::vector<member>& known) {
  if (j.kind != what::object)
    return wrong("it is an object, { ... }.");
  std::vector<std::string> names;
  for (const auto& x : known)
    names.push_back(x.name);
  for (const auto& [name, value] : j.members) {
    bool found = false;
    for (const auto& x : known)
      if (x.name == name) {
        found = true;
        if (auto c = x.read(value))
          return at(name, c);
      }
    if (!found)
      return unknown("field", name, names);
  }
  for (const auto& x : known)
    if (x.needed && j.find(x.name) == nullptr)
      return wrong("it needs `" + x.name + "`.");
  return std::nullopt;
}

reader text_into(std::string& out) {
  return [&out](const scenario_value& j) -> complaint {
    if (j.kind != what::text || j.text.empty())
      return wrong("it is a text, \"...\".");
    out = j.text;
    return std::nullopt;
  };
}

reader truth_into(bool& out) {
  return [&out](const scenario_value& j) -> complaint {
    if (j.kind != what::truth)
      return wrong("it is true or false.");
    out = j.truth;
    return std::nullopt;
  };
}

template <class T>
reader number_into(T& out, measure kind, double low, double high) {
  return [&out, kind, low, high](const scenario_value& j) -> complaint {
    double x = 0;
    if (auto c = read_number(j, kind, low, high, x))
      return c;
    out = x;
    return std::nullopt;
  };
}

/// A rate; zero stands for no limit.
template <class T>
reader rate_into(T& out) {
  return [&out](const scenario_value& j) -> complaint {
    if (j.kind == what::number && j.number == 0) {
      out = 0.0;
      return std::nullopt;
    }
    return number_into(out, measure::rate, lowest_rate, highest_rate)(j);
  };
}

template <class T>
reader duration_into(T& out, double high) {
  return [&out, high](const scenario_value& j) -> complaint {
    double x = 0;
    if (auto c = read_number(j, measure::seconds, 0, high, x))
      return c;
    out = to_duration(x);
    return std::nullopt;
  };
}

/// `T` is access_line or line_change: the same names.
template <class T>
std::vector<member> line_members(T& out) {
  return {{"upload", rate_into(out.upload)},
          {"download", rate_into(out.download)},
          {"delay", duration_into(out.delay, longest_delay)},
          {"jitter", duration_into(out.jitter, longest_delay)},
          {"loss", number_into(out.loss, measure::share, 0, 0.9)},
          {"queue", duration_into(out.queue, longest_delay)}};
}

bool plain_name(const std::string& x) {
  auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !x.empty() && x.size() <= 64 && x[0] != '.' && x[0] != '-'
         && std::all_of(x.begin(), x.end(), letter);
}

complaint check_name(const std::string& x) {
  if (plain_name(x))
    return std::nullopt;
  return wrong("`" + x
               + "` is no name; it has up to 64 letters, digits, dots, dashes "
                 "and underscores.");
}

class description_reader {
public:
  complaint read(const scenario_value& j) {
    const double longest = to_seconds(limits::scenario_longest);
    double seed = 1;
    // Hosts first: the others name them.
    if (const auto* hosts = j.find("hosts"))
      if (auto c = at("hosts", list(&description_reader::host, *hosts)))
        return c;
    auto entries = [this](one read) -> reader {
      return [this, read](const scenario_value& x) { return list(read, x); };
    };
    auto done = [](const scenario_value&) { return complaint{}; };
    auto c = read_members(
        j, {{"about", text_into(out_.about)},
            {"seed", number_into(seed, measure::plain, 0, 9e15)},
            {"lasts", duration_into(out_.lasts, longest)},
            {"hosts", done, true},
            {"links", entries(&description_reader::link)},
            {"changes", entries(&description_reader::change)},
            {"commands", entries(&description_reader::command)}});
    out_.seed = static_cast<std::uint64_t>(seed);
    return c;
  }

  network_description take() {
    return std::move(out_);
  }

private:
  using one = complaint (description_reader::*)(const scenario_value&);

  complaint list(one read, const scenario_value& j) {
    if (j.kind != what::list)
      return wrong("it is a list, [ ... ].");
    for (std::size_t i = 0; i < j.members.size(); ++i)
      if (auto c = (this->*read)(j.members[i].second))
        return at("entry " + std::to_string(i + 1), c);
    return std::nullopt;
  }

  complaint host(const scenario_value& j) {
    network_host x;
    std::size_t count = 0;
    auto known = line_members(x.line);
    known.push_back({"name", text_into(x.group), true});
    known.push_back({"count", [&count](const scenario_value& y) {
                       return read_whole(y, 1, limits::lab_hosts, count);
                     }});
    if (auto c = read_members(j, known))
      return c;
    if (auto c = check_name(x.group))
      return at("name", c);
    auto taken = [](const std::string& name) {
      return wrong("there is another host `" + name
                   + "`: give each its own name.");
    };
    if (!out_.members(x.group).empty())
      return taken(x.group);
    for (std::size_t i = 1; i <= std::max<std::size_t>(count, 1); ++i) {
      x.name = count == 0 ? x.group : x.group + "-" + std::to_string(i);
      if (!out_.members(x.name).empty())
        return taken(x.name);
      out_.hosts.push_back(x);
    }
    if (out_.hosts.size() > limits::lab_hosts)
      return wrong("there are more than " + std::to_string(limits::lab_hosts)
                   + " hosts: one machine bears no more.");
    return std::nullopt;
  }

  reader host_into(std::string& out) {
    return [this, &out](const scenario_value& j) -> complaint {
      if (auto c = text_into(out)(j))
        return c;
      if (!out_.members(out).empty())
        return std::nullopt;
      std::vector<std::string> names;
      for (const auto& x : out_.hosts)
        names.push_back(x.name);
      return unknown("host", out, names);
    };
  }

  complaint link(const scenario_value& j) {
    network_link x;
    auto c
        = read_members(j, {{"from", host_into(x.from), true},
                           {"to", host_into(x.to), true},
                           {"both", truth_into(x.both)},
                           {"blocked", truth_into(x.blocked)},
                           {"limit", rate_into(x.limit)},
                           {"delay", duration_into(x.delay, longest_delay)}});
    out_.links.push_back(std::move(x));
    return c;
  }

  complaint change(const scenario_value& j) {
    network_change x;
    auto known = line_members(x.line);
    known.push_back({"at",
                     duration_into(x.at, to_seconds(limits::scenario_longest)),
                     true});
    known.push_back({"host", host_into(x.host), true});
    auto c = read_members(j, known);
    out_.changes.push_back(std::move(x));
    return c;
  }

  complaint command(const scenario_value& j) {
    network_command x;
    const double longest = to_seconds(limits::scenario_longest);
    auto words = [&x](const scenario_value& y) -> complaint {
      if (y.kind != what::list || y.members.empty())
        return wrong("it is a list of texts, the program first.");
      for (const auto& [name, word] : y.members) {
        if (word.kind != what::text)
          return wrong("it is a list of texts, the program first.");
        x.words.push_back(word.text);
      }
      return std::nullopt;
    };
    auto signal = [&x](const scenario_value& y) -> complaint {
      const std::vector<std::pair<std::string, int>> known{
          {"term", SIGTERM}, {"int", SIGINT}, {"kill", SIGKILL}};
      for (const auto& [name, number] : known)
        if (y.kind == what::text && y.text == name) {
          x.signal = number;
          return std::nullopt;
        }
      return wrong("it is \"term\", \"int\" or \"kill\".");
    };
    if (auto c
        = read_members(j, {{"host", host_into(x.host), true},
                           {"name", text_into(x.name)},
                           {"words", words, true},
                           {"starts_at", duration_into(x.starts_at, longest)},
                           {"ends_at", duration_into(x.ends_at, longest)},
                           {"signal", signal},
                           {"serve", truth_into(x.serve)}}))
      return c;
    if (x.ends_at && *x.ends_at < x.starts_at)
      return wrong("it would end before it starts.");
    auto given = x.name;
    for (auto i : out_.members(x.host)) {
      const auto& host = out_.hosts[i];
      auto whole = host.name == x.host;
      x.name = given.empty() ? host.name
               : whole       ? given
                             : given + host.name.substr(host.group.size());
      if (auto c = check_name(x.name))
        return at("name", c);
      if (!names_.insert(x.name).second)
        return wrong("there is another command `" + x.name
                     + "`: give each its own name.");
      auto placed = x;
      placed.host = host.name;
      out_.commands.push_back(std::move(placed));
    }
    return std::nullopt;
  }

  network_description out_;
  std::set<std::string> names_; ///< Of commands.
};

template <class T>
void assign(const std::optional<T>& from, T& to) {
  if (from)
    to = *from;
}

} // namespace

void line_change::apply(access_line& to) const {
  assign(upload, to.upload);
  assign(download, to.download);
  assign(loss, to.loss);
  assign(delay, to.delay);
  assign(jitter, to.jitter);
  assign(queue, to.queue);
}

std::vector<std::size_t>
network_description::members(const std::string& name) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (hosts[i].name == name)
      return {i};
    else if (hosts[i].group == name)
      result.push_back(i);
  return result;
}

expected<network_description> parse_network(const std::string& text) {
  auto tree = read_tree(text);
  if (!tree)
    return failure{tree.error()};
  description_reader reader;
  if (auto c = reader.read(*tree))
    return failure{to_string(
        *(c->place.empty() ? at("the description", std::move(c)) : c))};
  return reader.take();
}

expected<network_description> load_network(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return failure{"'" + path + "' cannot be read: check the path."};
  if (text.str().size() > limits::scenario_bytes)
    return failure{"'" + path + "' is too large for a description."};
  auto result = parse_network(text.str());
  if (!result)
    return failure{path + ": " + result.error()};
  return result;
}

} // namespace potluck
