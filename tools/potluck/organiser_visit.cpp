#include "tools/potluck/organiser_visit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/dialable.hpp"
#include "tools/potluck/transport_news.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// For a connection, its proof and its hello.
constexpr auto greeting_patience = 8s;
/// Once somebody has answered, for the others.
constexpr auto others_patience = 2s;
constexpr auto answer_patience = 4s;
/// For trainers' reports, and then for more of them, to see how fast it goes.
constexpr auto report_patience = 6s;
constexpr auto pace_patience = 2s;
constexpr auto delivery_patience = 15s;
constexpr auto again = 300ms;
/// Members that are dialled besides the contacts, and that have to show it.
constexpr std::size_t most_members = 8;
constexpr std::size_t enough_holders = 3;

} // namespace

class organiser_visit::line {
public:
  explicit line(organiser_plan plan) : plan_(std::move(plan)) {
    net_ = make_uv_transport(plan_.how);
    net_->start(box_);
  }
  ~line() {
    for (auto& [id, p] : peers_) {
      if (p.welcomed)
        say(id, goodbye{"has said what the organiser wants"});
      net_->close(id);
    }
    net_->stop();
  }

  expected<bool> begin() {
    if (auto bound = net_->listen(plan_.listen); !bound)
      return failure{bound.error()};
    for (const auto& who : plan_.contacts)
      dial(who);
    wait(greeting_patience, [&] { return count() > 0 || dials_ == 0; });
    if (count() == 0)
      return failure{refusal_.empty()
                         ? "Nobody of run " + shown_run(plan_.run)
                               + " answers at the addresses given; name a peer "
                                 "of it with --peer HOST:PORT."
                         : "The peers refuse this visit: " + refusal_};
    wait(others_patience, [&] { return dials_ == 0; });
    for (auto& [id, p] : peers_)
      if (p.welcomed)
        say(id,
            find_records{1, key_of("run/" + plan_.run), {}, {}, most_members});
    wait(others_patience, [&] { return found_ >= count(); });
    for (const auto& who : members_)
      dial(who);
    wait(others_patience, [&] { return dials_ == 0; });
    return true;
  }

  std::optional<manifest> ask_for_manifest() {
    for (auto& [id, p] : peers_)
      if (p.welcomed)
        say(id, charter_request{1, plan_.run});
    wait(answer_patience, [&] { return manifest_.has_value(); });
    return manifest_;
  }

  std::size_t read_amendments(amendment_book& book) {
    for (bool more = true; more;) {
      const auto before = book.latest();
      ask(before);
      wait(answer_patience, [&] { return answered() >= count(); });
      for (const auto& [id, p] : peers_)
        for (const auto& x : p.shown)
          book.take(x.bytes);
      more = book.latest() > before;
    }
    return answered();
  }

  std::optional<progress> look_at_progress() {
    if (!wait(report_patience, [&] { return step().has_value(); }))
      return std::nullopt;
    wait(300ms, [] { return false; }); // More of them.
    const auto first = *step();
    const auto begin = clock::now();
    wait(pace_patience, [] { return false; });
    const std::chrono::duration<double> took = clock::now() - begin;
    progress result;
    result.step = step().value_or(first);
    result.steps_per_second
        = static_cast<double>(result.step - std::min(first, result.step))
          / took.count();
    result.trainers = reports_.size();
    return result;
  }

  delivery deliver(const amendment_book& book) {
    const auto latest = book.latest();
    const auto newest = book.after(latest - 1);
    // They may lack others before it.
    const auto all
        = book.after(latest - std::min<std::uint64_t>(latest, max_amendments));
    for (auto& [id, p] : peers_)
      if (p.welcomed)
        say(id, amendments_reply{0, plan_.run, all});
    delivery result;
    result.asked = count();
    const auto wanted = std::min(enough_holders, result.asked);
    const auto end = clock::now() + delivery_patience;
    while (result.holders < wanted && clock::now() < end) {
      ask(latest - 1);
      wait(answer_patience, [&] { return answered() >= count(); });
      std::size_t holders = 0;
      for (const auto& [id, p] : peers_)
        holders += std::any_of(p.shown.begin(), p.shown.end(), [&](auto& x) {
          return x.bytes == newest.at(0).bytes;
        });
      result.holders = std::max(result.holders, holders);
      if (holders < wanted)
        wait(again, [] { return false; });
    }
    return result;
  }

private:
  struct peer {
    peer_id who;
    bool welcomed = false;
    bool answered = false;
    std::vector<signed_amendment> shown;
  };

  void say(connection_id id, const message& x) {
    net_->send(id, {encode(x), {}});
  }

  void dial(const contact& who) {
    if (!dialable(who.where) || !dialled_.insert(who.where).second)
      return;
    ++dials_;
    peers_[net_->dial(who.where)].who = who.id;
  }

  std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(peers_.begin(), peers_.end(),
                      [](auto& x) { return x.second.welcomed; }));
  }
  std::size_t answered() const {
    return static_cast<std::size_t>(
        std::count_if(peers_.begin(), peers_.end(), [](auto& x) {
          return x.second.welcomed && x.second.answered;
        }));
  }

  void ask(std::uint64_t after) {
    ++question_;
    for (auto& [id, p] : peers_)
      if (p.welcomed) {
        p.answered = false;
        p.shown.clear();
        say(id, amendments_request{question_, plan_.run, after});
      }
  }

  /// Where most trainers are, or ahead of: one that lies does not matter.
  std::optional<std::uint64_t> step() const {
    std::vector<std::uint64_t> all;
    for (const auto& [id, x] : reports_)
      if (x.role == role::trainer && x.phase != phase::joining)
        all.push_back(x.step);
    if (all.empty())
      return std::nullopt;
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

  /// Handles what happens until `done`, or the time is over.
  template <class Done>
  bool wait(clock::duration patience, Done done) {
    const auto end = clock::now() + patience;
    while (!done()) {
      if (clock::now() >= end)
        return false;
      if (auto x = box_->next(20ms))
        handle(*x);
    }
    return true;
  }

  void handle(const transport_news::item& x) {
    auto at = peers_.find(x.id);
    if (at == peers_.end()) // Somebody who tries whether we can be dialled.
      return;
    auto& p = at->second;
    if (x.happened == transport_news::what::closed) {
      dials_ -= !p.welcomed;
      peers_.erase(at);
    } else if (x.happened == transport_news::what::connected) {
      if (!p.who.empty() && !x.proven.empty() && x.proven != p.who)
        return net_->close(x.id, 0);
      if (!x.proven.empty())
        p.who = x.proven;
      hello ours;
      ours.id = plan_.how.key->id();
      ours.role = role::auxiliary;
      ours.run = plan_.run;
      ours.seen_host = x.remote.host;
      ours.seen_port = x.remote.port;
      say(x.id, ours);
      say(x.id, heartbeat{1}); // Whoever answers it has let us in.
    } else if (auto content = decode(x.frame.head.data(), x.frame.head.size(),
                                     x.frame.body.size)) {
      read(x.id, p, *content, x.frame.body);
    }
  }

  void read(connection_id id, peer& p, const message& content,
            const shared_bytes& body) {
    if (auto theirs = std::get_if<hello>(&content)) {
      if (p.who.empty()) // Insecure.
        p.who = theirs->id;
    } else if (auto no = std::get_if<refusal>(&content)) {
      refusal_ = no->sentence;
    } else if (auto beat = std::get_if<heartbeat>(&content)) {
      say(id, heartbeat_reply{beat->token});
    } else if (std::holds_alternative<heartbeat_reply>(content)) {
      dials_ -= !p.welcomed;
      p.welcomed = true;
    } else if (auto report = std::get_if<progress_report>(&content)) {
      if (report->id == p.who)
        reports_[p.who] = *report;
    } else if (auto found = std::get_if<records_found>(&content)) {
      ++found_;
      for (const auto& x : found->records)
        if (auto said = x.kind == record_kind::progress
                            ? decode_progress(x.value)
                            : expected<progress_report>{failure{}};
            said && members_.size() < most_members)
          members_.push_back({said->id, said->where});
    } else if (auto request = std::get_if<amendments_request>(&content)) {
      say(id, amendments_reply{request->token, request->run, {}});
    } else if (auto reply = std::get_if<amendments_reply>(&content)) {
      if (reply->token == question_ && reply->run == plan_.run) {
        p.answered = true;
        p.shown = reply->amendments;
      }
    } else if (std::holds_alternative<charter_reply>(content)) {
      auto theirs = manifest::read(
          {reinterpret_cast<const char*>(body.data), body.size},
          id_in(plan_.run));
      if (theirs)
        manifest_ = std::move(*theirs);
    }
  }

  organiser_plan plan_;
  std::shared_ptr<transport_news> box_ = std::make_shared<transport_news>();
  std::unique_ptr<transport> net_;
  std::map<connection_id, peer> peers_;
  std::set<address> dialled_;
  std::size_t dials_ = 0; ///< Under way.
  std::size_t found_ = 0; ///< Answers with records.
  std::vector<contact> members_;
  std::map<peer_id, progress_report> reports_;
  std::optional<manifest> manifest_;
  std::string refusal_;
  std::uint64_t question_ = 1;
};

organiser_visit::organiser_visit(organiser_plan plan)
    : line_(std::make_unique<line>(std::move(plan))) {
}

organiser_visit::~organiser_visit() = default;

expected<bool> organiser_visit::begin() {
  return line_->begin();
}

std::optional<manifest> organiser_visit::ask_for_manifest() {
  return line_->ask_for_manifest();
}

std::size_t organiser_visit::read_amendments(amendment_book& book) {
  return line_->read_amendments(book);
}

std::optional<organiser_visit::progress> organiser_visit::look_at_progress() {
  return line_->look_at_progress();
}

organiser_visit::delivery organiser_visit::deliver(const amendment_book& book) {
  return line_->deliver(book);
}

} // namespace potluck::tools
