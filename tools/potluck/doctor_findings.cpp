#include "tools/potluck/doctor_findings.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "runtime/dialable.hpp"
#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using grade = finding::grade;

constexpr double gibibyte = 1024.0 * 1024 * 1024;
/// A tiny model and its moments, beside a system that works.
constexpr double enough_memory = 1 * gibibyte;
/// Checkpoints are written beside the old ones.
constexpr double enough_disk = 2 * gibibyte;
/// Below, averaging takes most of the time even for small models.
constexpr double enough_upload = 1e6 / 8;
/// Nothing depends on clocks, but logs of several machines are hard to read.
constexpr double much_clock = 60;

std::string gibibytes(double bytes) {
  return readable(bytes / gibibyte, 3) + " GiB";
}

std::string joined(const std::vector<std::string>& all) {
  std::string result;
  for (const auto& x : all)
    result += (result.empty() ? "" : ", ") + x;
  return result;
}

finding of_peer(const peer_facts& x) {
  finding f{"peer " + to_string(x.where), grade::fatal, "", ""};
  if (!x.unresolved.empty()) {
    f.what = "its name stands for no address: " + x.unresolved;
    f.remedy = "check the name, and that this machine can look names up";
  } else if (!x.connected) {
    f.what = "no encrypted connection: " + x.closed;
    f.remedy = "check that it runs there, and that firewalls let port "
               + std::to_string(x.where.port) + " out here and in there";
  } else if (x.said && x.said->version != protocol_version) {
    f.what = "it speaks protocol version " + std::to_string(x.said->version)
             + ", this potluck version " + std::to_string(protocol_version);
    f.remedy = "install the same release on both";
  } else if (!x.refusal.empty()) {
    f.what = "it turns this peer down: " + x.refusal;
    f.remedy = "do as it says";
  } else if (!x.welcomed || !x.said) {
    f.what = "it connects, and says nothing that potluck says";
    f.remedy = "check that the port is potluck's";
  } else {
    f.how = grade::good;
    f.what = to_string(x.said->role) + ", protocol version "
             + std::to_string(x.said->version) + ", TLS 1.3, round trip "
             + readable(x.round_trip * 1e3, 2) + " ms";
    if (!x.addresses.empty() && x.addresses.front() != x.where.host)
      f.what += ", at " + joined(x.addresses);
    if (x.clock_behind) {
      const auto apart = std::abs(*x.clock_behind);
      f.what += ", clocks " + readable(std::round(apart * 10) / 10, 6)
                + " s apart";
      if (apart > much_clock) {
        f.how = grade::degraded;
        f.remedy = "set the clock, for instance by timedatectl set-ntp true";
      }
    }
  }
  return f;
}

const char* word(grade x) {
  switch (x) {
    case grade::good:
      return "good";
    case grade::unknown:
      return "unknown";
    case grade::degraded:
      return "degraded";
    case grade::fatal:
      return "fatal";
  }
  return "";
}

const char* mark(grade x) {
  switch (x) {
    case grade::good:
      return "ok    ";
    case grade::unknown:
      return "--    ";
    case grade::degraded:
      return "WORSE ";
    case grade::fatal:
      return "FAILS ";
  }
  return "";
}

} // namespace

int status_of(const std::vector<finding>& all) {
  int result = 0;
  for (const auto& f : all)
    result = std::max(result, f.how == grade::fatal      ? 2
                              : f.how == grade::degraded ? 1
                                                         : 0);
  return result;
}

std::string as_lines(const std::vector<finding>& all) {
  std::string result;
  for (const auto& f : all)
    result += mark(f.how) + harmless(f.topic) + ": " + harmless(f.what)
              + (f.remedy.empty() ? "" : " -> " + harmless(f.remedy)) + "\n";
  constexpr const char* whole[] = {
      "This machine can take part.\n",
      "This machine can take part, but worse than it could.\n",
      "This machine cannot take part.\n",
  };
  return result + whole[status_of(all)];
}

std::string as_json(const std::vector<finding>& all) {
  nlohmann::ordered_json result;
  result["status"] = status_of(all);
  result["findings"] = nlohmann::ordered_json::array();
  for (const auto& f : all)
    result["findings"].push_back({{"topic", f.topic},
                                  {"grade", word(f.how)},
                                  {"what", f.what},
                                  {"remedy", f.remedy}});
  // What others have sent may be no UTF-8.
  return result.dump(2, ' ', false,
                     nlohmann::ordered_json::error_handler_t::replace)
         + "\n";
}

std::vector<finding> of_peers(const std::vector<peer_facts>& peers) {
  if (peers.empty())
    return {{"peer", grade::unknown, "none was named",
             "name one that the run has with --peer HOST:PORT"}};
  std::vector<finding> result;
  for (const auto& x : peers)
    result.push_back(of_peer(x));
  const bool any = std::any_of(peers.begin(), peers.end(),
                               [](auto& x) { return x.welcomed && x.said; });
  for (auto& f : result)
    if (any && f.how == grade::fatal)
      f.how = grade::degraded;
  return result;
}

std::vector<finding> of_reach(const reach_facts& x) {
  std::vector<finding> result;
  finding how{"reach", grade::unknown, "nobody was there to try", ""};
  const auto at = to_string(x.where);
  const std::string remedy = "forward TCP port " + std::to_string(x.where.port)
                             + " in the router, and start peers with --listen "
                               "[::]:"
                             + std::to_string(x.where.port);
  if (x.asked && !x.reachable) {
    how.how = grade::degraded;
    how.what = "others cannot connect to " + at;
    how.remedy = remedy;
  } else if (is_open(x.kind)) {
    how.how = grade::good;
    how.what = "others can connect to " + at;
  } else if (x.asked) {
    how.what = "nobody has shown that others can connect to " + at;
    how.remedy = "name several peers with --peer";
  }
  result.push_back(how);
  if (x.asked && !x.reachable) {
    finding router{"router", grade::unknown,
                   "its kind is unknown, since it takes two peers of different "
                   "hosts to see it",
                   "name two with --peer"};
    if (x.two_hosts) {
      router.what = "its kind is unknown, since no two peers have said which "
                    "port they see";
      router.remedy = "";
    }
    if (x.kind == reach::cone) {
      router = {"router", grade::good,
                "it shows everybody the same port (cone): peers can meet "
                "halfway",
                ""};
    } else if (x.kind == reach::symmetric) {
      router = {"router", grade::degraded,
                "it shows everybody another port (symmetric): peers cannot "
                "meet halfway",
                remedy};
    }
    result.push_back(router);
  }
  if (!x.mapping) {
    result.push_back(
        {"port mapping", grade::unknown,
         x.asked && x.reachable ? "not needed" : "no router was asked", ""});
  } else if (x.mapping->outside.port == 0) {
    result.push_back({"port mapping", grade::unknown, x.mapping->problem,
                      "switch UPnP or NAT-PMP on in the router"});
  } else if (x.kind == reach::mapped || !x.asked) {
    result.push_back({"port mapping", grade::good,
                      "the router opens ports by " + x.mapping->how, ""});
  } else {
    const auto opened = "the router says by " + x.mapping->how
                        + " that it opened " + to_string(x.mapping->outside);
    // Peers go to one address once a minute.
    result.push_back(
        x.reachable
            ? finding{"port mapping", grade::unknown,
                      opened + ", and nobody has tried it yet",
                      "ask the doctor again in a minute"}
            : finding{"port mapping", grade::degraded,
                      opened + ", but nobody gets through",
                      "another router or the provider's may stand before it: "
                      "ask for a public address"});
  }
  return result;
}

finding of_route(const std::string& family, const std::string& source) {
  if (source.empty())
    return {family, grade::unknown, "no route to the internet", ""};
  if (family == "IPv6" && !is_public(source))
    return {family, grade::unknown,
            "no address of the internet, only " + source, ""};
  return {family, grade::good, "dials from " + source, ""};
}

finding of_upload(double bytes_per_second) {
  if (bytes_per_second <= 0)
    return {"line", grade::unknown, "not measured: no peer has taken anything",
            ""};
  finding f{"line", grade::good,
            "up " + readable(bytes_per_second * 8 / 1e6, 2)
                + " Mbit/s to the first peer; down not measured",
            ""};
  if (bytes_per_second < enough_upload) {
    f.how = grade::degraded;
    f.remedy = "use a cable, or close what else sends";
  }
  return f;
}

finding of_memory(std::uint64_t total, std::uint64_t available) {
  const auto free = static_cast<double>(available);
  finding f{"memory", grade::good,
            gibibytes(free) + " of " + gibibytes(static_cast<double>(total))
                + " available",
            ""};
  if (free < enough_memory) {
    f.how = grade::degraded;
    f.remedy = "close other programs, or train a small model";
  }
  return f;
}

finding of_disk(const std::string& directory, std::uint64_t available) {
  const auto free = static_cast<double>(available);
  finding f{"disk", grade::good,
            gibibytes(free) + " available for " + directory, ""};
  if (free < enough_disk) {
    f.how = grade::degraded;
    f.remedy = "make room, or name another folder with --identity-dir";
  }
  return f;
}

finding of_gpu(const std::vector<std::string>& devices,
               const std::string& problem) {
  if (devices.empty())
    return {"GPU", grade::unknown, "none; the processor computes", ""};
  if (problem.empty())
    return {"GPU", grade::good, "trainers compute on it", ""};
  return {"GPU", grade::degraded,
          joined(devices) + " exists, and trainers cannot use it", problem};
}

finding of_blas(const std::string& in_use, const std::string& slow) {
  return {"BLAS", slow.empty() ? grade::good : grade::degraded,
          "matrices are multiplied by " + in_use, slow};
}

finding of_cores(unsigned cores) {
  return {"cores", grade::good,
          std::to_string(cores) + ", of which trainers use half", ""};
}

finding of_identity(const std::string& directory, bool exists,
                    const std::string& problem) {
  if (directory.empty())
    return {"identity", grade::degraded,
            "there is no folder for it, so every start is a new peer",
            "name one with --identity-dir"};
  if (!problem.empty())
    return {"identity", grade::degraded, problem, "do as it says"};
  if (!exists)
    return {"identity", grade::good,
            "the first start makes one in " + directory, ""};
  return {"identity", grade::good, "kept in " + directory, ""};
}

finding of_settings(const std::string& run, const std::vector<setting>& theirs,
                    const std::string& digest,
                    const std::vector<setting>& demanded) {
  const auto topic = "run " + run;
  if (theirs.empty())
    return {topic, grade::unknown, "nobody here has told its settings",
            "name a peer that trains in it"};
  std::string other;
  for (const auto& mine : demanded)
    for (const auto& x : theirs)
      if (x.name == mine.name && x.value != mine.value)
        other += (other.empty() ? "" : ", ") + x.name + " is " + x.value
                 + ", not " + mine.value;
  if (!other.empty())
    return {topic, grade::fatal, "its settings differ from the flags: " + other,
            "leave these flags out, or start another run with --run NAME"};
  return {topic, grade::good,
          "its settings fit (charter " + digest.substr(0, 16) + ")", ""};
}

} // namespace potluck::tools
