#include "tools/lab/network/forgery.hpp"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/dht/notary.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

namespace potluck {

namespace {

using frames = std::vector<outgoing_frame>;

/// How many times a flooding machine sends each frame.
constexpr int flood_factor = 20;
/// Bodies that a replaying machine keeps.
constexpr std::size_t kept_bodies = 64;
/// Beyond any run, but within what a report may say and readers believe.
constexpr std::uint64_t absurd_history = std::uint64_t{1} << 48;
constexpr double absurd_speed = 1e8;
constexpr double absurd_bandwidth = 1e13;

/// A changed copy of a body of floats.
template <class Change>
shared_bytes changed(const shared_bytes& body, Change change) {
  auto values = std::make_shared<std::vector<float>>(body.size / sizeof(float));
  std::memcpy(values->data(), body.data, values->size() * sizeof(float));
  for (std::size_t i = 0; i < values->size(); ++i)
    (*values)[i] = change(i, (*values)[i]);
  return {values, reinterpret_cast<const std::uint8_t*>(values->data()),
          values->size() * sizeof(float)};
}

/// A machine that looks into what it sends.
class forger_base {
public:
  explicit forger_base(std::uint64_t seed) : chance_{seed} {
  }
  virtual ~forger_base() = default;

  frames operator()(const std::string& to, outgoing_frame x) {
    auto content = decode(x.head.data(), x.head.size(), x.body.size);
    if (!content)
      return {std::move(x)};
    return forge(to, *content, std::move(x));
  }

protected:
  virtual frames forge(const std::string& to, message& content,
                       outgoing_frame x)
      = 0;

  random_stream chance_;
};

/// Multiplies its parts, and shifts the means that it computes.
class wrong_sums : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (std::holds_alternative<chunk_part>(content))
      x.body = changed(x.body, [](std::size_t, float v) { return -3 * v; });
    else if (std::holds_alternative<chunk_mean>(content))
      x.body = changed(x.body, [](std::size_t, float v) { return v + 1; });
    return {std::move(x)};
  }
};

class spoiled_values : public forger_base {
public:
  spoiled_values(std::uint64_t seed, float value)
      : forger_base{seed}, value_{value} {
  }

private:
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (std::holds_alternative<chunk_part>(content)
        || std::holds_alternative<chunk_mean>(content))
      x.body = changed(x.body, [&](std::size_t i, float v) {
        return i == 0 ? value_ : v * (value_ > 1 ? value_ : 1);
      });
    return {std::move(x)};
  }
  float value_;
};

/// Sends the parts of rounds long past.
class stale : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (!std::holds_alternative<chunk_part>(content))
      return {std::move(x)};
    bodies_.push_back(changed(x.body, [](std::size_t, float v) { return v; }));
    if (bodies_.size() > kept_bodies)
      bodies_.pop_front();
    for (auto& old : bodies_)
      if (old.size == x.body.size) {
        x.body = old;
        break;
      }
    return {std::move(x)};
  }
  std::deque<shared_bytes> bodies_;
};

/// Tells everybody something else.
class equivocate : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string& to, message& content,
               outgoing_frame x) override {
    if (std::holds_alternative<chunk_mean>(content)) {
      auto shift
          = static_cast<float>(lies_.emplace(to, lies_.size()).first->second)
            * 0.01f;
      x.body = changed(x.body, [&](std::size_t, float v) { return v + shift; });
    }
    return {std::move(x)};
  }
  std::map<std::string, std::size_t> lies_;
};

class flood : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message&, outgoing_frame x) override {
    return frames(flood_factor, x);
  }
};

/// Takes part in forming groups and then says nothing more.
class silent : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (std::holds_alternative<chunk_part>(content)
        || std::holds_alternative<chunk_mean>(content)
        || std::holds_alternative<round_prepared>(content)
        || std::holds_alternative<round_standing>(content))
      return {};
    return {std::move(x)};
  }
};

/// Claims a history that nobody has, in reports and in records.
class forged_records : public forger_base {
  using forger_base::forger_base;

  static void inflate(progress_report& x) {
    x.history_samples += absurd_history;
    x.samples_per_second = absurd_speed;
    x.upload_bytes_per_second = absurd_bandwidth;
    x.state.bytes[0] ^= 1;
  }
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (auto report = std::get_if<progress_report>(&content)) {
      inflate(*report);
      x.head = encode(content);
    } else if (auto store = std::get_if<store_records>(&content)) {
      for (auto& record : store->records)
        if (auto said = decode_progress(record.value)) {
          inflate(*said);
          record.value = encode_progress(*said);
          // It lies about itself, and signs that.
          notary its{made_up(said->id)};
          its.clocks(record.seal.number, record.seal.number);
          its.seal(record);
        }
      x.head = encode(content);
    }
    return {std::move(x)};
  }
};

/// Claims more samples than all others together could compute, in reports and
/// to those who invite it; and its parts count as many.
class boast : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (auto report = std::get_if<progress_report>(&content)) {
      if (report->phase != phase::joining)
        report->samples = max_samples;
    } else if (auto answer = std::get_if<group_answer>(&content)) {
      if (!answer->accepted)
        return {}; // It would object to what its contracts say of it.
      answer->samples = max_samples;
    } else if (auto part = std::get_if<chunk_part>(&content)) {
      part->samples = max_samples;
    } else {
      return {std::move(x)};
    }
    x.head = encode(content);
    return {std::move(x)};
  }
};

/// Says after every other step not to have made it, until the others have gone
/// on.
class lag : public forger_base {
public:
  explicit lag(std::uint64_t seed) : forger_base{seed}, turn_{seed % 2} {
  }

private:
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (std::holds_alternative<store_records>(content))
      return {}; // Others would read the truth there.
    auto report = std::get_if<progress_report>(&content);
    if (!report)
      return {std::move(x)};
    if (report->state != now_.state)
      before_ = std::exchange(now_, *report);
    if (report->step % 2 == turn_ && report->step == before_.step + 1
        && !before_.state.empty() && report->phase != phase::finished) {
      *report = before_;
      x.head = encode(content);
    }
    return {std::move(x)};
  }

  std::uint64_t turn_;
  progress_report before_, now_;
};

/// Serves a training state and means that are not the announced ones.
class wrong_state : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (std::holds_alternative<state_piece>(content) && x.body.size > 0)
      x.body = changed_bytes(x.body);
    return {std::move(x)};
  }

  /// The state's header stays: the values behind it are what is spoilt.
  static shared_bytes changed_bytes(const shared_bytes& body) {
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(
        body.data, body.data + body.size);
    for (auto i = bytes->size() / 2; i < bytes->size(); i += sizeof(float))
      (*bytes)[i] ^= 1;
    return {bytes, bytes->data(), bytes->size()};
  }
};

/// Tells everybody, in the name of others, that they have finished, in reports
/// and in records, so that each would train on alone; and claims every other
/// time to be one of them.
class impostor : public forger_base {
  using forger_base::forger_base;
  frames forge(const std::string&, message& content,
               outgoing_frame x) override {
    if (auto known = std::get_if<nodes_found>(&content)) {
      for (auto& node : known->nodes)
        others_.insert(node.id);
    } else if (auto start = std::get_if<group_start>(&content)) {
      for (auto& member : start->contract.members)
        others_.insert(member.who.id);
    } else if (auto report = std::get_if<progress_report>(&content)) {
      frames result{x};
      report->phase = phase::finished;
      others_.erase(report->id);
      for (auto& id : others_) {
        report->id = id;
        x.head = encode(content);
        result.push_back(x);
      }
      return result;
    } else if (auto store = std::get_if<store_records>(&content)) {
      add_lies(store->records);
      x.head = encode(content);
    } else if (auto found = std::get_if<records_found>(&content)) {
      add_lies(found->records);
      x.head = encode(content);
    } else if (auto greeting = std::get_if<hello>(&content)) {
      others_.erase(greeting->id);
      if (!others_.empty() && chance_.below(2) == 0) {
        greeting->id = *others_.begin();
        x.head = encode(content);
      }
    }
    return {std::move(x)};
  }
  /// Nobody but the others themselves could sign them.
  void add_lies(std::vector<dht_record>& records) {
    if (records.empty())
      return;
    auto lie = records.front();
    auto said = decode_progress(lie.value);
    if (!said)
      return;
    for (auto& id : others_) {
      if (records.size() >= max_records)
        return;
      said->id = id;
      said->phase = phase::finished;
      lie.value = encode_progress(*said);
      lie.seal.signer.bytes = id.bytes;
      ++lie.seal.number;
      records.push_back(lie);
    }
  }
  std::set<peer_id> others_;
};

template <class Forger, class... Args>
sim_network::forger made(Args... args) {
  auto it = std::make_shared<Forger>(args...);
  return [it](const std::string& to, outgoing_frame x) {
    return (*it)(to, std::move(x));
  };
}

} // namespace

sim_network::forger make_forger(const std::string& manner, std::uint64_t seed) {
  if (manner == "wrong_sums")
    return made<wrong_sums>(seed);
  if (manner == "nan")
    return made<spoiled_values>(seed, std::numeric_limits<float>::quiet_NaN());
  if (manner == "huge")
    return made<spoiled_values>(seed, 1e30f);
  if (manner == "stale")
    return made<stale>(seed);
  if (manner == "equivocate")
    return made<equivocate>(seed);
  if (manner == "flood")
    return made<flood>(seed);
  if (manner == "silent")
    return made<silent>(seed);
  if (manner == "forged_records")
    return made<forged_records>(seed);
  if (manner == "boast")
    return made<boast>(seed);
  if (manner == "lag")
    return made<lag>(seed);
  if (manner == "wrong_state")
    return made<wrong_state>(seed);
  if (manner == "impostor")
    return made<impostor>(seed);
  if (manner == "wrong_means" || manner == "greedy") // See its owner.
    return [](const std::string&, outgoing_frame x) {
      return frames{std::move(x)};
    };
  throw std::invalid_argument{"There is no misbehaviour " + manner + "."};
}

} // namespace potluck
