#include "tools/potluck/visit.hpp"

#include <algorithm>
#include <utility>

#include "messages/codec.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/uv/wall_clock.hpp"

namespace potluck::tools {

namespace {

/// Of the heartbeat that says who has let us in.
constexpr std::uint64_t first_sign = 1;

} // namespace

std::string visit::line::why() const {
  return !refusal.empty()  ? refusal
         : !closed.empty() ? closed
                           : "no answer in time";
}

visit::visit(plan how) : plan_(std::move(how)), self_(plan_.how.key->id()) {
  net_ = make_uv_transport(plan_.how);
  net_->start(box_);
}

visit::~visit() {
  for (auto& [id, l] : lines_) {
    if (l.here())
      net_->send(id, {encode(goodbye{plan_.goodbye}), {}});
    if (!l.over)
      net_->close(id);
  }
  net_->stop();
}

visit::line& visit::dial(const contact& who) {
  const auto id = net_->dial(who.where, who.id);
  auto& l = lines_[id];
  l.id = id;
  l.who = who;
  l.since = clock::now();
  return l;
}

void visit::say(line& to, const message& x, shared_bytes body) {
  if (to.here())
    net_->send(to.id, {encode(x), std::move(body)});
  else if (!to.over)
    to.waiting.push_back(x);
}

std::vector<visit::line*> visit::guests() {
  std::vector<line*> result;
  for (auto& [id, l] : lines_)
    if (l.here())
      result.push_back(&l);
  return result;
}

std::size_t visit::count() {
  return guests().size();
}

bool visit::anything_pending() const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [](auto& x) { return x.second.pending(); });
}

void visit::handle(const transport_news::item& x) {
  using what = transport_news::what;
  const auto at = lines_.find(x.id);
  if (at == lines_.end())
    return other(x);
  auto& l = at->second;
  if (l.over)
    return;
  if (x.happened == what::closed)
    return end(l, x.reason);
  if (x.happened == what::connected)
    return opened(l, x);
  if (x.happened != what::frame)
    return;
  if (auto content
      = decode(x.frame.head.data(), x.frame.head.size(), x.frame.body.size))
    read(l, *content, x.frame.body);
}

void visit::opened(line& l, const transport_news::item& x) {
  if (!l.who.id.empty() && !x.proven.empty() && x.proven != l.who.id) {
    net_->close(l.id, 0);
    return end(l, "another peer answers there");
  }
  if (!x.proven.empty())
    l.who.id = x.proven;
  l.who.where = x.remote;
  l.connected = true;
  auto ours = plan_.as;
  ours.id = self_;
  ours.seen_host = x.remote.host;
  ours.seen_port = x.remote.port;
  ours.clock_ms = wall_clock_ms();
  net_->send(l.id, {encode(ours), {}});
  l.since = clock::now();
  net_->send(l.id, {encode(heartbeat{first_sign}), {}});
}

void visit::read(line& l, const message& content, const shared_bytes& body) {
  if (auto theirs = std::get_if<hello>(&content)) {
    if (auto lie = false_claim(l.who.id, theirs->id); !lie.empty()) {
      net_->close(l.id, 0);
      return end(l, lie);
    }
    l.who.id = theirs->id;
    l.said = *theirs;
  } else if (auto no = std::get_if<refusal>(&content)) {
    l.refusal = no->sentence;
  } else if (auto beat = std::get_if<heartbeat>(&content)) {
    net_->send(l.id, {encode(heartbeat_reply{beat->token}), {}});
    return;
  } else if (auto reply = std::get_if<heartbeat_reply>(&content);
             reply && reply->token == first_sign && l.said && !l.welcomed) {
    l.welcomed = true;
    l.round_trip = clock::now() - l.since;
    welcomed(l);
    for (auto& x : std::exchange(l.waiting, {}))
      say(l, x);
    return;
  } else if (auto wish = std::get_if<charter_request>(&content)) {
    net_->send(l.id, {encode(charter_reply{wish->token}), {}});
    return;
  } else if (auto asked = std::get_if<amendments_request>(&content)) {
    net_->send(l.id,
               {encode(amendments_reply{asked->token, asked->run, {}}), {}});
    return;
  }
  heard(l, content, body);
}

void visit::end(line& l, const std::string& reason) {
  l.over = true;
  l.closed = reason;
  ended(l);
}

} // namespace potluck::tools
