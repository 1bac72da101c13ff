// Manners of strangers that lie in the DHT, and in reports: of peers that do
// not exist, in the names of those that do, and about where somebody is.

#include <algorithm>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/identity/sealing.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

/// Records of one letter, as in the attack that ended runs.
constexpr std::size_t records_a_letter = 50;
constexpr std::uint64_t absurd_history = 1'000'000'000'000;
/// Every so many tries it asks again what there is.
constexpr unsigned tries_a_question = 16;

/// Passes for a bootstrap: others look records up at it from the beginning, and
/// invite it into no group. Asks for the run's records when a line opens.
class false_node : public manner {
public:
  potluck::role role() const override {
    return role::bootstrap;
  }

  void opened(stranger& me, line& on) override {
    ask(me, on);
    auto x = me.report_of(me.id_of(on.self), me.where(on.self));
    x.phase = phase::waiting;
    x.samples = 0;
    me.say(on, x);
  }

protected:
  static void ask(stranger& me, const line& on) {
    find_records x;
    x.token = me.chance().next();
    x.key = me.run_key();
    me.say(on, x);
  }
};

/// Invents peers and says it wherever the DHT lets it: it stores them, and
/// answers look-ups with them.
class inventor : public false_node {
public:
  void tries(stranger& me) override {
    if (auto on = me.any_line())
      me.say(*on, store_records{me.chance().next(), some(me, batch())});
  }

  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto ping = std::get_if<routing_ping>(&what)) {
      me.say(on, routing_pong{ping->token});
    } else if (auto nodes = std::get_if<find_nodes>(&what)) {
      me.say(on, nodes_found{nodes->token, contacts(me)});
    } else if (auto records = std::get_if<find_records>(&what)) {
      records_found answer;
      answer.token = records->token;
      answer.nodes = contacts(me);
      if (records->key == me.run_key())
        answer.records = some(me, std::max<std::size_t>(batch(), 8));
      answer.stored = static_cast<std::uint32_t>(answer.records.size());
      me.say(on, answer);
    }
  }

protected:
  /// Where the invented peer of a number is said to be.
  virtual address place(stranger& me) = 0;
  virtual void colour(progress_report&) {
  }
  virtual std::size_t batch() const {
    return 1;
  }

  dht_record invented(stranger& me) {
    const auto key = me.config().new_key(me.chance());
    auto x = me.report_of(key->owner_of(key->key()), place(me));
    x.role = role::trainer;
    colour(x);
    return me.record_of(x, key);
  }

private:
  std::vector<dht_record> some(stranger& me, std::size_t count) {
    std::vector<dht_record> result;
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(invented(me));
    return result;
  }
  std::vector<contact> contacts(stranger& me) {
    std::vector<contact> result;
    while (result.size() < max_contacts / 2)
      result.push_back({me.chance().draw<peer_id>(), place(me)});
    return result;
  }
};

class finishers : public inventor {
public:
  potluck::role role() const override {
    return role::trainer;
  }
  void opened(stranger& me, line& on) override {
    ask(me, on);
  }

  void tries(stranger& me) override {
    inventor::tries(me);
    auto on = me.any_line();
    if (!on)
      return;
    // Of itself, whose own word it is; and of somebody who does not exist.
    auto own = me.report_of(me.id_of(on->self), me.where(on->self));
    own.phase = phase::finished;
    me.say(*on, own);
    auto other = me.report_of(me.chance().draw<peer_id>(), me.silent());
    colour(other);
    me.say(*on, other);
  }

private:
  address place(stranger& me) override {
    return me.silent();
  }
  void colour(progress_report& x) override {
    x.phase = phase::finished;
    x.step = absurd_step;
    x.history_samples = absurd_history;
  }
  std::size_t batch() const override {
    return records_a_letter;
  }
};

class phantoms : public inventor {
  address place(stranger& me) override {
    return me.silent();
  }
};

/// Has others dial whom it wants: peers of the run, and machines in houses.
class names_others : public inventor {
  address place(stranger& me) override {
    const auto& peers = me.config().targets;
    if (peers.empty() || me.chance().below(4) == 0)
      return {"192.168.1." + std::to_string(1 + me.chance().below(254)), 80};
    return peers[me.chance().below(peers.size())];
  }
};

class impersonator : public false_node {
public:
  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    collect(me, what);
    if (auto ping = std::get_if<routing_ping>(&what)) {
      me.say(on, routing_pong{ping->token});
    } else if (auto nodes = std::get_if<find_nodes>(&what)) {
      me.say(on, nodes_found{nodes->token, members(me)});
    } else if (auto records = std::get_if<find_records>(&what)) {
      records_found answer;
      answer.token = records->token;
      answer.nodes = members(me);
      if (records->key == me.run_key())
        answer.records = lies(me);
      answer.stored = static_cast<std::uint32_t>(answer.records.size());
      me.say(on, answer);
    }
  }

  void tries(stranger& me) override {
    auto on = me.any_line();
    if (!on)
      return;
    if (++tries_ % tries_a_question == 1)
      ask(me, *on);
    me.say(*on, store_records{me.chance().next(), lies(me)});
    // In a member's name, on a line that is not that member's.
    for (const auto& [id, report] : me.heard().reports()) {
      auto lie = report;
      lie.phase = phase::finished;
      if (me.chance().below(4) == 0)
        me.say(*on, lie);
    }
  }

private:
  void collect(stranger& me, const message& what) {
    if (auto found = std::get_if<records_found>(&what))
      for (const auto& x : found->records)
        if (old_.size() < max_records)
          old_.push_back(x);
    (void)me;
  }

  static std::vector<contact> members(stranger& me) {
    std::vector<contact> result;
    for (const auto& [id, report] : me.heard().reports())
      if (result.size() < max_contacts)
        result.push_back({id, me.silent()});
    return result;
  }

  /// What members said long ago; the same, changed; the same, changed and
  /// sealed by a key that is not the member's.
  std::vector<dht_record> lies(stranger& me) {
    std::vector<dht_record> result;
    if (!old_.empty())
      result.push_back(old_[me.chance().below(old_.size())]);
    for (const auto& [id, record] : me.heard().records()) {
      if (result.size() + 2 > records_a_letter)
        break;
      auto lie = record;
      if (auto said = decode_progress(record.value)) {
        said->phase = phase::finished;
        said->where = me.silent();
        lie.value = encode_progress(*said);
      }
      lie.seal.number = me.config().wall_clock();
      result.push_back(lie);
      lie.seal = seal_of(
          {"potluck record",
           static_cast<std::uint8_t>(lie.kind),
           {reinterpret_cast<const char*>(lie.key.bytes.data()), lie.key.size},
           lie.value},
          lie.seal.number, lie.lives_ms, *me.key_of(0));
      result.push_back(lie);
    }
    return result;
  }

  std::vector<dht_record> old_; ///< What members said, when it came.
  unsigned tries_ = 0;
};

/// Nodes of the DHT that take what they are given and know nobody but each
/// other.
class sybils : public false_node {
public:
  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto ping = std::get_if<routing_ping>(&what))
      me.say(on, routing_pong{ping->token});
    else if (auto nodes = std::get_if<find_nodes>(&what))
      me.say(on, nodes_found{nodes->token, each_other(me)});
    else if (auto store = std::get_if<store_records>(&what))
      me.say(on, records_stored{store->token, static_cast<std::uint32_t>(
                                                  store->records.size())});
    else if (auto records = std::get_if<find_records>(&what))
      me.say(on, records_found{records->token, {}, each_other(me), 0});
  }

private:
  static std::vector<contact> each_other(stranger& me) {
    std::vector<contact> result;
    const auto all = me.config().identities;
    const auto first = me.chance().below(all);
    for (std::size_t i = 0; i < all && result.size() < max_contacts; ++i) {
      const auto self = (first + i) % all;
      result.push_back({me.id_of(self), me.where(self)});
    }
    return result;
  }
};

} // namespace

manner_makers lying_records() {
  return {{"finishers", make<finishers>},
          {"phantoms", make<phantoms>},
          {"names_others", make<names_others>},
          {"impersonator", make<impersonator>},
          {"sybils", make<sybils>}};
}

} // namespace potluck::simulation
