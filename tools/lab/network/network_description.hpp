/// A small network as a file that a person writes: hosts with access lines,
/// pairs that are special, what changes when, and which commands run where.
/// README.md documents the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "tools/lab/network/access_line.hpp"
#include "tools/lab/network/router_kind.hpp"

namespace potluck {

/// What of an access line becomes different; the rest stays.
struct line_change {
  std::optional<double> upload, download, loss;
  std::optional<duration> delay, jitter, queue;

  void apply(access_line& to) const;
};

/// A host or, with `count`, so many alike: "home" with 3 becomes "home-1" to
/// "home-3", and "home" stands for all of them wherever a host is named.
struct network_host {
  std::string name;
  std::string group; ///< As in the file; the name itself without a count.
  access_line line;
  router_kind router = router_kind::none; ///< Each home has its own.
};

/// What is special about the way from one host to another.
struct network_link {
  std::string from, to; ///< Hosts or groups.
  bool both = false;    ///< The way back is the same.
  bool blocked = false; ///< Nothing passes.
  double limit = 0;     ///< Bytes per second; 0: none but the access lines'.
  duration delay{0};    ///< Beyond the access lines'.
};

struct network_change {
  duration at{0};
  std::string host; ///< Or group.
  line_change line;
};

/// A program on one host. In its words, `{name}` stands for the command's name,
/// and more for the network's addresses (see README.md).
struct network_command {
  std::string host; ///< Or group: one command on each.
  std::string name; ///< The host's, unless given.
  std::vector<std::string> words;
  duration starts_at{0};
  std::optional<duration> ends_at; ///< It is sent `signal` then.
  int signal = 15;
  bool serve = false; ///< Ends with the last that does not serve.
};

struct network_description {
  std::string about;
  std::uint64_t seed = 1; ///< Of loss and jitter.
  std::optional<duration> lasts;
  std::vector<network_host> hosts;
  std::vector<network_link> links;
  std::vector<network_change> changes;
  std::vector<network_command> commands;

  /// Places in `hosts` of that host, or of the group's.
  std::vector<std::size_t> members(const std::string& name) const;
};

/// From JSON with comments. Fails with a sentence that says where.
expected<network_description> parse_network(const std::string& text);
expected<network_description> load_network(const std::string& path);

/// The format, for `--help`.
std::string network_help();

} // namespace potluck
