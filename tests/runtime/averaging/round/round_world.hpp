/// A group in one round without network or time: members, FIFO channels, and
/// every step that can happen next. Copyable, so that a search can branch.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/averaging/round/round_agreement.hpp"

namespace potluck::testing {

inline peer_id peer(std::size_t i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  return x;
}

inline digest mean_number(std::size_t i) {
  digest x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  return x;
}

struct round_setting {
  std::size_t trainers = 2;
  std::size_t auxiliaries = 0;
  /// Chunks that each member averages; missing ones are 0. When all are, the
  /// first member averages one.
  std::vector<std::uint32_t> chunks = {};
  /// A trainer that reads different means than the others, if below `trainers`.
  std::size_t odd = SIZE_MAX;
  /// Of each trainer; missing ones are 1.
  std::vector<std::uint64_t> samples = {};
  std::uint64_t least_samples = 1;
  bool keeps_majority = false;
  /// Members may be taken for lost that are not: then a holder may have gone on
  /// to another ruling.
  bool suspicious = false;

  std::size_t size() const {
    return trainers + auxiliaries;
  }
  std::uint64_t samples_of(std::size_t i) const {
    return i >= trainers ? 0 : i < samples.size() ? samples[i] : 1;
  }
  chunk_map map() const {
    auto all = chunks;
    all.resize(size());
    std::uint32_t total = 0;
    for (auto x : all)
      total += x;
    if (total == 0)
      all[0] = total = 1;
    return {total, 1, all};
  }
};

inline group_contract contract_of(const round_setting& x) {
  group_contract result;
  result.group.bytes[0] = 7;
  result.gradient_values = x.map().gradient_values();
  result.chunk_values = 1;
  result.least_samples = x.least_samples;
  for (std::size_t i = 0; i < x.size(); ++i) {
    group_member member;
    member.who.id = peer(i);
    member.role = i < x.trainers ? role::trainer : role::auxiliary;
    member.samples = x.samples_of(i);
    result.members.push_back(member);
  }
  return result;
}

/// What a mean is made of, instead of its values: equal contents, equal bits.
struct mean_content {
  static constexpr std::uint8_t misread = 0x80; ///< Flag in `reducer`.

  std::uint8_t version = 0; ///< 0: there is none.
  std::uint8_t reducer = 0;
  std::uint16_t counted = 0; ///< A bit for each member whose part is in it.

  friend bool operator==(const mean_content& a, const mean_content& b) {
    return a.version == b.version && a.reducer == b.reducer
           && a.counted == b.counted;
  }
};

struct part_parcel {
  std::uint32_t chunk;
};
struct mean_parcel {
  chunk_mean head;
  mean_content content;
};
using parcel
    = std::variant<round_message, part_parcel, mean_parcel, mean_request>;

struct step {
  enum kind {
    deliver,
    crash,
    hang,
    wake,
    notice,
    expire,
    sever,
    reunite,
    quit
  } what;
  std::size_t a = 0; ///< Sender, or the member that it happens to (but expire).
  /// Receiver, the member that is noticed to be lost, or a line's other end.
  std::size_t b = 0;
};

class round_world {
public:
  explicit round_world(const round_setting& setting)
      : setting_{&setting}, map_{std::make_shared<chunk_map>(setting.map())},
        n_{setting.size()}, channels_(n_ * n_), severed_(n_ * n_) {
    auto contract = contract_of(setting);
    for (std::size_t i = 0; i < n_; ++i) {
      member x{
          round_agreement{contract, *map_, peer(i), setting.keeps_majority},
          {},
          {}};
      x.reads_badly = i == setting.odd;
      x.noticed.assign(n_, false);
      x.chunks.resize(map_->chunk_count());
      members_.push_back(std::make_shared<member>(std::move(x)));
    }
    for (std::size_t i = 0; i < setting.trainers; ++i) {
      if (setting.samples_of(i) == 0)
        continue;
      for (std::uint32_t chunk = 0; chunk < map_->chunk_count(); ++chunk) {
        auto owner = map_->owner(chunk);
        if (owner == i)
          part_here(change(i), i, i, chunk);
        else
          post(i, owner, part_parcel{chunk});
      }
    }
  }

  bool alive(std::size_t i) const {
    return members_[i]->is == member::running;
  }
  bool hung(std::size_t i) const {
    return members_[i]->is == member::hung;
  }
  const round_agreement& of(std::size_t i) const {
    return members_[i]->agreement;
  }
  bool decided(std::size_t i) const {
    return members_[i]->decisions == 1;
  }
  const round_decision& outcome(std::size_t i) const {
    return members_[i]->outcome;
  }
  /// Whether the line between the two has broken and both know.
  bool out_of_touch(std::size_t i, std::size_t j) const {
    return severed_[i * n_ + j] && members_[i]->noticed[j]
           && members_[j]->noticed[i];
  }
  bool severed(std::size_t i, std::size_t j) const {
    return severed_[i * n_ + j];
  }
  /// A line that broke is up again.
  bool returned() const {
    return returned_.has_value();
  }
  /// Members that have crashed or fallen silent at some time, and lines that
  /// have broken.
  std::size_t losses() const {
    return losses_;
  }
  /// Members that have fallen silent and come back: their group may have gone
  /// on without them.
  bool was_away(std::size_t i) const {
    return members_[i]->away;
  }

  /// Deliveries and notices: what happens by itself, without deadlines.
  std::vector<step> inevitable() const {
    std::vector<step> result;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        if (i == j || !alive(j))
          continue;
        if (channels_[i * n_ + j])
          result.push_back({step::deliver, i, j});
        if ((members_[i]->is == member::crashed || severed_[i * n_ + j])
            && !members_[j]->noticed[i])
          result.push_back({step::notice, j, i});
      }
    return result;
  }

  void take(const step& x) {
    switch (x.what) {
      case step::deliver: {
        auto& channel = channels_[x.a * n_ + x.b];
        auto first = channel;
        channel = first->next;
        arrive(x.a, x.b, first->what);
        break;
      }
      case step::crash:
        ++losses_;
        change(x.a).is = member::crashed;
        for (std::size_t i = 0; i < n_; ++i)
          channels_[i * n_ + x.a].reset();
        break;
      case step::hang:
        ++losses_;
        change(x.a).is = member::hung;
        break;
      case step::wake:
        change(x.a).is = member::running;
        change(x.a).away = true;
        break;
      case step::quit: {
        ++losses_;
        auto& m = change(x.a);
        m.away = true;
        act(m, x.a, m.agreement.call_off(peer(0)));
        break;
      }
      case step::notice: {
        // What had not arrived by then never will.
        auto& m = change(x.a);
        m.noticed[x.b] = true;
        channels_[x.b * n_ + x.a].reset();
        act(m, x.a, m.agreement.member_lost(peer(x.b)));
        break;
      }
      case step::sever:
        ++losses_;
        severed_[x.a * n_ + x.b] = severed_[x.b * n_ + x.a] = true;
        break;
      case step::reunite: {
        returned_ = std::pair{std::max(x.a, x.b), std::min(x.a, x.b)};
        for (auto [i, j] : {std::pair{x.a, x.b}, std::pair{x.b, x.a}}) {
          auto& m = change(i);
          act(m, i, m.agreement.member_returned(peer(j)));
        }
        break;
      }
      case step::expire:
        // The patience of everybody who lives ends, before anything they do
        // about it arrives: nobody's deadline is much longer than another's.
        ++expiries_;
        for (std::size_t i = 0; i < n_; ++i)
          if (alive(i) && members_[i]->agreement.waiting())
            expire_only(i);
        break;
    }
  }

  /// One member's deadline alone, as on a machine that runs late.
  void expire_only(std::size_t i) {
    auto& m = change(i);
    act(m, i, m.agreement.expired());
  }

  /// The group falls apart: everybody loses those of the other part at once,
  /// and what is on its way between them.
  /// @param part Whose bit is set is in one, the others are in the other.
  void cut(std::size_t part) {
    auto apart = [&](std::size_t i, std::size_t j) {
      return ((part >> i ^ part >> j) & 1) != 0;
    };
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j)
        if (apart(i, j))
          take({step::notice, i, j});
    // What somebody said to one that it had not lost yet goes nowhere, too.
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j)
        if (apart(i, j))
          channels_[i * n_ + j].reset();
  }

  /// It hears that others have done the step.
  void overtake(std::size_t i) {
    change(i).agreement.overtaken();
  }

  std::size_t expiries() const {
    return expiries_;
  }
  /// Messages of the agreement sent so far, means and parts not counted.
  std::size_t posted() const {
    return posted_;
  }

  /// A sentence when two members that live have decided differently.
  std::string disagreement() const {
    for (std::size_t i = 0; i < setting_->trainers; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        // An auxiliary that cannot hear a verdict goes its way without one.
        if (i == j || !settled(i) || !settled(j)
            || (severed_[i * n_ + j] && j >= setting_->trainers))
          continue;
        auto& a = members_[i]->outcome;
        auto& b = members_[j]->outcome;
        auto who = "members " + std::to_string(i) + " and " + std::to_string(j);
        if (a.commit != b.commit)
          return who + " decided differently";
        if (a.mean != b.mean)
          return who + " committed different means";
        if (a.samples != b.samples)
          return who + " count different samples";
      }
    return {};
  }

  /// Samples of the members that live.
  std::uint64_t samples_alive() const {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < n_; ++i)
      if (alive(i))
        result += setting_->samples_of(i);
    return result;
  }

  /// Equal keys, equal futures.
  std::string key() const {
    std::string result{static_cast<char>(expiries_),
                       static_cast<char>(losses_)};
    auto add = [&](const digest& x) {
      result.append(x.bytes.begin(), x.bytes.end());
    };
    result.push_back(static_cast<char>(
        returned_ ? 1 + returned_->first * n_ + returned_->second : 0));
    for (bool x : severed_)
      result.push_back(static_cast<char>(x));
    for (auto& x : members_)
      add(x->key(n_));
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      if (!channels_[c] || members_[c % n_]->is == member::crashed)
        result.push_back(0);
      else
        add(channels_[c]->key());
    }
    return result;
  }

private:
  struct chunk_state {
    std::uint16_t counted = 0; ///< Parts in the sum.
    std::uint16_t without = 0; ///< Parts that it need not wait for.
    bool averaged = false;
    mean_content made; ///< Its own average; a version only in `held`.
    mean_content held;
  };

  struct member {
    member(round_agreement a, std::vector<bool> b, std::vector<chunk_state> c)
        : agreement{std::move(a)}, noticed{std::move(b)}, chunks{std::move(c)} {
    }
    round_agreement agreement;
    std::vector<bool> noticed;
    std::vector<chunk_state> chunks;
    enum { running, hung, crashed } is = running;
    bool away = false;
    bool reads_badly = false; ///< Until it has to fetch everything again.
    int decisions = 0;
    round_decision outcome = {};
    mutable digest key_ = {};

    const digest& key(std::size_t n) const {
      if (!key_.empty())
        return key_;
      std::string text;
      text.push_back(static_cast<char>(is | away << 2 | decisions << 3
                                       | reads_badly << 5));
      if (is != crashed) {
        text += agreement.fingerprint();
        for (std::size_t i = 0; i < n; ++i)
          text.push_back(noticed[i]);
        for (auto& x : chunks) {
          for (auto word : {x.counted, x.without, x.made.counted})
            text.append(
                {static_cast<char>(word), static_cast<char>(word >> 8)});
          text.push_back(x.averaged);
          add(x.held, text);
        }
      }
      return key_ = digest_of(text.data(), text.size());
    }
  };

  /// A channel is a list, so that copies share it.
  struct link {
    parcel what;
    std::shared_ptr<const link> next;
    mutable digest key_ = {};

    const digest& key() const {
      if (key_.empty()) {
        std::string text;
        describe(what, text);
        if (next)
          text.append(next->key().bytes.begin(), next->key().bytes.end());
        key_ = digest_of(text.data(), text.size());
      }
      return key_;
    }
  };
  using channel = std::shared_ptr<const link>;

  static void add(const mean_content& x, std::string& out) {
    out.append({static_cast<char>(x.version), static_cast<char>(x.reducer),
                static_cast<char>(x.counted),
                static_cast<char>(x.counted >> 8)});
  }

  static void describe(const parcel& x, std::string& out) {
    out.push_back(static_cast<char>(x.index()));
    auto add_digest
        = [&](const digest& y) { out.append(y.bytes.begin(), y.bytes.end()); };
    auto number = [&](std::uint64_t y) { out.push_back(static_cast<char>(y)); };
    if (auto* p = std::get_if<part_parcel>(&x))
      number(p->chunk);
    if (auto* p = std::get_if<mean_parcel>(&x)) {
      number(p->head.chunk);
      add(p->content, out);
    }
    if (auto* p = std::get_if<mean_request>(&x)) {
      number(p->chunk);
      number(p->version);
    }
    auto* what = std::get_if<round_message>(&x);
    if (!what)
      return;
    number(what->index());
    if (auto* p = std::get_if<round_prepared>(what)) {
      add_digest(p->mean);
      for (auto y :
           {std::uint64_t{p->epoch}, p->least_samples, p->most_samples})
        number(y);
    }
    if (auto* p = std::get_if<round_settle>(what))
      number(p->epoch);
    if (auto* p = std::get_if<round_standing>(what)) {
      add_digest(p->mean);
      for (auto y : {std::uint64_t{p->epoch}, p->least_samples, p->most_samples,
                     static_cast<std::uint64_t>(p->standing)})
        number(y);
      for (auto& y : p->chunks) {
        number(y.version);
        number(y.samples);
      }
    }
    if (auto* p = std::get_if<round_verdict>(what)) {
      add_digest(p->mean);
      for (auto y :
           {std::uint64_t{p->epoch}, p->least_samples, p->most_samples,
            std::uint64_t{p->commit}, std::uint64_t{p->holder.bytes[0]}})
        number(y);
    }
    if (auto* p = std::get_if<round_heal>(what)) {
      number(p->epoch);
      for (auto y : p->alive)
        number(y);
      for (auto& y : p->chunks) {
        number(y.member);
        number(y.version);
      }
    }
  }

  bool settled(std::size_t i) const {
    return alive(i) && decided(i) && !members_[i]->away;
  }

  member& change(std::size_t i) {
    auto copy = std::make_shared<member>(*members_[i]);
    copy->key_ = {};
    auto& result = *copy;
    members_[i] = std::move(copy);
    return result;
  }

  void arrive(std::size_t from, std::size_t to, const parcel& what) {
    auto& m = change(to);
    if (auto* x = std::get_if<round_message>(&what)) {
      act(m, to, m.agreement.receive(peer(from), *x));
    } else if (auto* part = std::get_if<part_parcel>(&what)) {
      part_here(m, to, from, part->chunk);
    } else if (auto* request = std::get_if<mean_request>(&what)) {
      if (request->version == 0 && !m.agreement.holds_means()
          && !setting_->suspicious)
        throw std::logic_error{"a member without means is asked for them"};
      act(m, to, m.agreement.asked(peer(from), *request));
    } else {
      auto& mean = std::get<mean_parcel>(what);
      if (!m.agreement.wants(peer(from), mean.head))
        return;
      if (!m.agreement.ledger().adds_up(mean.head))
        throw std::logic_error{"a mean counts other samples than it says"};
      auto content = mean.content;
      if (m.reads_badly)
        content.reducer |= mean_content::misread;
      m.chunks[mean.head.chunk].held = content;
      m.agreement.mean_here(mean.head);
      act(m, to, {});
    }
  }

  void part_here(member& m, std::size_t self, std::size_t from,
                 std::uint32_t chunk) {
    auto& x = m.chunks[chunk];
    auto bit = static_cast<std::uint16_t>(1u << from);
    if (((x.counted | x.without) & bit) != 0 || x.averaged)
      return;
    x.counted = x.counted | bit;
    m.agreement.part_here(chunk, setting_->samples_of(from));
    average_if_complete(m, self, chunk);
  }

  void average_if_complete(member& m, std::size_t self, std::uint32_t chunk) {
    auto& x = m.chunks[chunk];
    std::vector<std::uint8_t> left_out;
    for (std::size_t i = 0; i < setting_->trainers; ++i) {
      if (setting_->samples_of(i) == 0 || (x.counted >> i & 1) != 0)
        continue;
      if ((x.without >> i & 1) == 0)
        return;
      left_out.push_back(static_cast<std::uint8_t>(i));
    }
    if (x.averaged || x.counted == 0)
      return;
    x.averaged = true;
    x.made = {0, static_cast<std::uint8_t>(self), x.counted};
    act(m, self, m.agreement.averaged(chunk, left_out));
  }

  /// Of everything that the member holds.
  static digest whole(const member& m) {
    std::string text;
    for (auto& x : m.chunks)
      add(x.held, text);
    return digest_of(text.data(), text.size());
  }

  void act(member& m, std::size_t self, round_agreement::actions actions) {
    for (auto& x : actions)
      std::visit([&](auto& y) { carry_out(m, self, y); }, x);
    // A mean that was averaged here counts as soon as it has got a version.
    for (std::uint32_t i = 0; i < m.chunks.size(); ++i) {
      auto version = m.agreement.ledger().version(i);
      auto& x = m.chunks[i];
      if (version == 0)
        x.held = {};
      else if (x.averaged && version != x.held.version
               && m.agreement.ledger().source(i).member == self)
        hold_own(m, i);
    }
    if (m.agreement.digest_wanted())
      act(m, self, m.agreement.whole_vector_here(whole(m)));
  }

  static void hold_own(member& m, std::uint32_t chunk) {
    auto& x = m.chunks[chunk];
    x.held = x.made;
    x.held.version
        = static_cast<std::uint8_t>(m.agreement.ledger().version(chunk));
  }

  void carry_out(member&, std::size_t self, const send_to_member& x) {
    ++posted_;
    post(self, x.to, x.what);
  }
  void carry_out(member&, std::size_t self, const send_part& x) {
    post(self, x.to, part_parcel{x.chunk});
  }
  void carry_out(member& m, std::size_t self, const send_mean& x) {
    auto head = m.agreement.ledger().describe(x.chunk);
    auto& chunk = m.chunks[x.chunk];
    if (head.version == 0)
      throw std::logic_error{"a mean is sent that is not here"};
    if (chunk.held.version != head.version)
      hold_own(m, x.chunk);
    post(self, x.to, mean_parcel{head, chunk.held});
  }
  void carry_out(member& m, std::size_t self, const ask_mean& x) {
    // It asks again for what it has read.
    if (x.version == 0 && m.chunks[x.chunk].held.version != 0)
      m.reads_badly = false;
    post(self, x.from, mean_request{{}, x.chunk, x.version});
  }
  void carry_out(member& m, std::size_t self, const average_chunk& x) {
    auto& chunk = m.chunks[x.chunk];
    for (auto i : x.leave_out)
      if ((chunk.counted >> i & 1) == 0)
        chunk.without = static_cast<std::uint16_t>(chunk.without | 1u << i);
    if (setting_->samples_of(self) != 0)
      part_here(m, self, self, x.chunk);
    average_if_complete(m, self, x.chunk);
  }
  void carry_out(member& m, std::size_t self, const round_decision& x) {
    m.outcome = x;
    if (++m.decisions > 1)
      throw std::logic_error{"a member decided twice"};
    if (!x.commit || self >= setting_->trainers)
      return;
    if (x.mean.empty() || whole(m) != x.mean)
      throw std::logic_error{"a trainer committed what it does not hold"};
    std::uint64_t least = UINT64_MAX;
    for (auto& chunk : m.chunks) {
      std::uint64_t samples = 0;
      for (std::size_t i = 0; i < setting_->trainers; ++i)
        if ((chunk.held.counted >> i & 1) != 0)
          samples += setting_->samples_of(i);
      least = std::min(least, samples);
    }
    if (least != x.samples)
      throw std::logic_error{"a trainer counts other samples than it holds"};
    if (least < setting_->least_samples)
      throw std::logic_error{"a step counts too few samples"};
  }

  bool reunited(std::size_t i, std::size_t j) const {
    return returned_ == std::pair{std::max(i, j), std::min(i, j)};
  }

  void post(std::size_t from, std::size_t to, parcel what) {
    if (members_[to]->is == member::crashed)
      return;
    // The agreement never speaks over a line that was down; parts and means do.
    if (members_[to]->noticed[from]
        && (!reunited(from, to) || std::holds_alternative<round_message>(what)))
      return;
    auto& x = channels_[from * n_ + to];
    x = append(x, std::move(what));
  }

  static channel append(const channel& at, parcel what) {
    if (!at)
      return std::make_shared<link>(link{std::move(what), nullptr});
    return std::make_shared<link>(
        link{at->what, append(at->next, std::move(what))});
  }

  const round_setting* setting_;
  std::shared_ptr<const chunk_map> map_;
  std::size_t n_;
  std::vector<std::shared_ptr<const member>> members_;
  std::vector<channel> channels_;
  /// Lines that broke between two members that live: what is on its way may
  /// still arrive, until the receiver notices.
  std::vector<bool> severed_;
  std::optional<std::pair<std::size_t, std::size_t>> returned_;
  std::size_t losses_ = 0;
  std::size_t expiries_ = 0;
  std::size_t posted_ = 0;
};

inline std::string to_string(const std::vector<step>& path) {
  static const char* names[] = {"deliver", "crash", "hang",    "wake", "notice",
                                "expire",  "sever", "reunite", "quit"};
  std::ostringstream out;
  for (const auto& x : path) {
    out << names[x.what] << ' ' << x.a;
    if (x.what == step::deliver || x.what == step::notice
        || x.what == step::sever || x.what == step::reunite)
      out << '>' << x.b;
    out << "; ";
  }
  return out.str();
}

} // namespace potluck::testing
