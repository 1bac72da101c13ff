#include "tools/lab/network/network_description.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "tools/lab/scenario/json_text.hpp"
#include "tools/lab/scenario/limits.hpp"
#include "tools/lab/scenario/scenario.hpp"

namespace potluck {

namespace {

/// Hosts of an emulated network: its addresses, and what one machine bears.
constexpr std::size_t lab_hosts = 250;

using reader = std::function<void(const json_tree&)>;

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
/// Of a list: far more than one machine bears.
constexpr std::size_t most_entries = 65536;

void read_members(const json_tree& j, const std::vector<member>& known) {
  std::vector<std::string> names;
  for (const auto& x : known)
    names.push_back(x.name);
  only_members(j, names);
  for (const auto& x : known)
    if (const auto* value = find(j, x.name))
      inside(x.name, [&] { x.read(*value); });
    else if (x.needed)
      wrong("it needs `" + x.name + "`.");
}

reader text_into(std::string& out) {
  return [&out](const json_tree& j) {
    out = text_of(j);
    if (out.empty())
      wrong("it is empty.");
  };
}

reader truth_into(bool& out) {
  return [&out](const json_tree& j) { out = truth_of(j); };
}

template <class T>
reader number_into(T& out, measure kind, double low, double high) {
  return [&out, kind, low, high](const json_tree& j) {
    out = number_of(j, kind, low, high);
  };
}

/// A rate; zero stands for no limit.
template <class T>
reader rate_into(T& out) {
  return [&out](const json_tree& j) {
    out = j.is_number() && j == 0
              ? 0.0
              : number_of(j, measure::rate, lowest_rate, highest_rate);
  };
}

template <class T>
reader duration_into(T& out, double high) {
  return [&out, high](const json_tree& j) {
    out = to_duration(number_of(j, measure::seconds, 0, high));
  };
}

/// Of the packets that it sends.
double& loss_of(access_line& x) {
  return x.loss_up;
}
std::optional<double>& loss_of(line_change& x) {
  return x.loss;
}

/// `T` is access_line or line_change: the same names.
template <class T>
std::vector<member> line_members(T& out) {
  return {{"upload", rate_into(out.upload)},
          {"download", rate_into(out.download)},
          {"delay", duration_into(out.delay, longest_delay)},
          {"jitter", duration_into(out.jitter, longest_delay)},
          {"loss", number_into(loss_of(out), measure::share, 0, 0.9)},
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

void check_name(const std::string& x) {
  if (!plain_name(x))
    wrong("`" + x
          + "` is no name; it has up to 64 letters, digits, dots, dashes and "
            "underscores.");
}

class description_reader {
public:
  network_description read(const json_tree& j) {
    double seed = 1;
    // The hosts stand first here: the others name them.
    read_members(j, {{"hosts", entries(&description_reader::host), true},
                     {"about", text_into(out_.about)},
                     {"seed", number_into(seed, measure::plain, 0, 9e15)},
                     {"lasts", duration_into(out_.lasts, longest_)},
                     {"links", entries(&description_reader::link)},
                     {"changes", entries(&description_reader::change)},
                     {"commands", entries(&description_reader::command)}});
    out_.seed = static_cast<std::uint64_t>(seed);
    return std::move(out_);
  }

private:
  reader entries(void (description_reader::*read)(const json_tree&)) {
    return [this, read](const json_tree& j) {
      each_of(j, most_entries,
              [&](const json_tree& x, std::size_t) { (this->*read)(x); });
    };
  }

  void host(const json_tree& j) {
    network_host x;
    std::size_t count = 0;
    auto known = line_members(x.line);
    known.push_back({"name", text_into(x.group), true});
    known.push_back({"router", [&x](const json_tree& y) {
                       const auto name = text_of(y);
                       const auto& all = router_names();
                       if (std::find(all.begin(), all.end(), name) == all.end())
                         unknown("router", name, all);
                       x.router = router_named(name);
                     }});
    known.push_back({"count", [&count](const json_tree& y) {
                       count = whole_of(y, 1, lab_hosts);
                     }});
    read_members(j, known);
    inside("name", [&] { check_name(x.group); });
    auto free = [this](const std::string& name) {
      if (!out_.members(name).empty())
        wrong("there is another host `" + name + "`: give each its own name.");
    };
    free(x.group);
    for (std::size_t i = 1; i <= std::max<std::size_t>(count, 1); ++i) {
      x.name = count == 0 ? x.group : x.group + "-" + std::to_string(i);
      free(x.name);
      out_.hosts.push_back(x);
    }
    if (out_.hosts.size() > lab_hosts)
      wrong("there are more than " + std::to_string(lab_hosts)
            + " hosts: one machine bears no more.");
  }

  reader host_into(std::string& out) {
    return [this, &out](const json_tree& j) {
      text_into(out)(j);
      std::vector<std::string> names;
      for (const auto& x : out_.hosts)
        names.push_back(x.name);
      if (out_.members(out).empty())
        unknown("host", out, names);
    };
  }

  void link(const json_tree& j) {
    auto& x = out_.links.emplace_back();
    read_members(j, {{"from", host_into(x.from), true},
                     {"to", host_into(x.to), true},
                     {"both", truth_into(x.both)},
                     {"blocked", truth_into(x.blocked)},
                     {"limit", rate_into(x.limit)},
                     {"delay", duration_into(x.delay, longest_delay)}});
  }

  void change(const json_tree& j) {
    auto& x = out_.changes.emplace_back();
    auto known = line_members(x.line);
    known.push_back({"at", duration_into(x.at, longest_), true});
    known.push_back({"host", host_into(x.host), true});
    read_members(j, known);
  }

  void command(const json_tree& j) {
    network_command x;
    auto words = [&x](const json_tree& y) {
      if (!y.is_array() || y.empty()
          || !std::all_of(y.begin(), y.end(),
                          [](const auto& word) { return word.is_string(); }))
        wrong("it is a list of texts, the program first.");
      x.words = y.get<std::vector<std::string>>();
    };
    auto signal = [&x](const json_tree& y) {
      const std::map<json_tree, int> known{
          {"term", SIGTERM}, {"int", SIGINT}, {"kill", SIGKILL}};
      auto i = known.find(y);
      if (i == known.end())
        wrong("it is \"term\", \"int\" or \"kill\".");
      x.signal = i->second;
    };
    read_members(j, {{"host", host_into(x.host), true},
                     {"name", text_into(x.name)},
                     {"words", words, true},
                     {"starts_at", duration_into(x.starts_at, longest_)},
                     {"ends_at", duration_into(x.ends_at, longest_)},
                     {"signal", signal},
                     {"serve", truth_into(x.serve)}});
    if (x.ends_at && *x.ends_at < x.starts_at)
      wrong("it would end before it starts.");
    auto given = x.name;
    for (auto i : out_.members(x.host)) {
      const auto& host = out_.hosts[i];
      auto whole = host.name == x.host;
      x.name = given.empty() ? host.name
               : whole       ? given
                             : given + host.name.substr(host.group.size());
      inside("name", [&] { check_name(x.name); });
      if (!names_.insert(x.name).second)
        wrong("there is another command `" + x.name
              + "`: give each its own name.");
      auto placed = x;
      placed.host = host.name;
      out_.commands.push_back(std::move(placed));
    }
  }

  const double longest_ = to_seconds(limits::scenario_longest);
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
  assign(loss, to.loss_up);
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
  try {
    return description_reader{}.read(*tree);
  } catch (const mistake& x) {
    return failure_of(x, "the description");
  }
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
