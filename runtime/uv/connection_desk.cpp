#include "runtime/uv/connection_desk.hpp"

#include <algorithm>

#include "runtime/lines/upload_turns.hpp"

namespace potluck {

connection_desk::connection_desk(uv_transport_options options,
                                 std::shared_ptr<event_loop> loop)
    : options_(std::move(options)), loop_(std::move(loop)),
      shared_(
          loop_->uv(), options_.insecure ? nullptr : &*options_.key,
          options_.max_upload, options_.max_download,
          [this](connection_id id) {
            if (auto* x = find(id))
              x->flush();
          },
          [this](connection_id id) {
            if (auto* x = socket_of(id))
              x->read_on();
          },
          [this] { return under_way(); }),
      listening_(loop_->uv(), options_.insecure,
                 [this](tcp_socket x) { accept(std::move(x)); }),
      strangers_(
          std::min(limits::strangers_connected, options_.max_connections),
          options_.max_unproven),
      faces_(std::make_shared<transport_face>(
          transport_face{options_.key ? options_.key->id() : peer_id{},
                         shared_.tls, nullptr})) {
}

connection_desk::~connection_desk() = default;

// ---- beginning and end ------------------------------------------------------

void connection_desk::begin() {
  if (faces_.main()->listener)
    faces_.add(faces_.main());
  last_look_ = std::chrono::steady_clock::now();
  look_later();
}

void connection_desk::stop() {
  while (!connections_.empty())
    ended(connections_.begin()->first, "the transport was stopped");
  look_.reset();
  shared_.uploads.stop();
  shared_.downloads.stop();
  listening_.stop();
}

void connection_desk::leave(const shared_face& who) {
  std::vector<connection_id> gone;
  for (auto& [id, x] : connections_)
    if (x->face() == who)
      gone.push_back(id);
  for (auto id : gone)
    ended(id, "the transport was stopped");
  if (!faces_.has(who)) // Another one with its key has come already.
    return;
  faces_.remove(who);
  if (faces_.is_main(who))
    listening_.stop();
}

// ---- connections ------------------------------------------------------------

connection* connection_desk::find(connection_id id) {
  auto i = connections_.find(id);
  return i == connections_.end() ? nullptr : i->second.get();
}

framed_socket* connection_desk::socket_of(connection_id id) {
  auto* x = find(id);
  return x == nullptr ? nullptr : x->socket();
}

connection& connection_desk::add(connection_id id) {
  auto& x = connections_[id];
  x = std::make_unique<connection>(id, *this);
  return *x;
}

void connection_desk::forget(connection_id id) {
  connections_.erase(id);
  strangers_.ended(id, std::chrono::steady_clock::now());
  read_large();
  forget_punch(id);
  shared_.uploads.turns().forget(id);
}

void connection_desk::dial(connection_id id, const shared_face& who,
                           const address& where, const peer_id& expected) {
  if (!faces_.has(who))
    return;
  if (connections_.size() >= options_.max_connections)
    who->listener->on_closed(id, "cannot connect to " + to_string(where)
                                     + ": there are too many connections");
  else
    add(id).dial(where, expected, who);
}

void connection_desk::accept(tcp_socket socket) {
  auto remote = remote_of(*socket);
  if (!remote) // Gone already.
    return;
  if (auto i = punches_.find(*remote); i != punches_.end())
    return find(i->second)->met(std::move(socket));
  if (!strangers_.may_knock(remote->host, std::chrono::steady_clock::now()))
    return;
  if (connections_.size() >= room_for_knocks()) {
    const auto other = strangers_.gives_way();
    if (other)
      ended(other->id, other->reason);
    else if (connections_.size() >= options_.max_connections)
      return;
  }
  auto id = new_id();
  strangers_.came(id, remote->host);
  part_with_too_many();
  add(id).accept(std::move(socket), *remote);
}

std::size_t connection_desk::room_for_knocks() const {
  const auto most = options_.max_connections;
  return most - std::min(limits::connections_kept, most / 8);
}

void connection_desk::close(connection_id id,
                            std::chrono::milliseconds linger) {
  if (auto* x = find(id))
    x->close(linger);
}

void connection_desk::plan_window(connection_id id, const planned_window& x) {
  auto* which = find(id);
  if (which == nullptr)
    return;
  auto& turns = shared_.uploads.turns();
  turns.plan(id, x);
  if (x.queue > 0 && !turns.left_alone() && which->socket() != nullptr)
    which->socket()->mind_our_windows();
}

void connection_desk::hold(connection_id id, bool yes) {
  if (auto* x = socket_of(id))
    x->hold(yes);
}

std::function<void()> connection_desk::resumer(connection_id id) {
  // A body may outlive the transport: the loop's queue then refuses.
  return [this, loop = loop_, id] {
    loop->post([this, id] {
      if (auto* x = socket_of(id))
        x->resume();
    });
  };
}

void connection_desk::opened(connection_id id, const address& remote,
                             const peer_id& proven, bool dialled) {
  forget_punch(id);
  auto& x = *find(id);
  if (dialled)
    return x.face()->listener->on_connected(id, remote, proven);
  strangers_.proved(id, remote.host, std::chrono::steady_clock::now());
  x.belongs_to(faces_.that_shows(x.socket()->shows()));
  if (x.face())
    x.face()->listener->on_accepted(id, remote, proven);
  else // Its face has left.
    loop_->post([this, id] { close(id, std::chrono::milliseconds{0}); });
  part_with_too_many();
}

void connection_desk::ended(connection_id id, std::string reason) {
  auto face = find(id)->face();
  if (!face)
    face = faces_.named(faces_.main()->id);
  forget(id);
  if (face)
    face->listener->on_closed(id, reason);
}

void connection_desk::on_posted_frame(connection_id id, outgoing_frame frame) {
  auto* x = find(id);
  if (x == nullptr)
    return;
  if (unflushed_.empty() || unflushed_.back() != id)
    unflushed_.push_back(id);
  x->enqueue(std::move(frame));
  count_unread(id);
}

void connection_desk::on_all_handled() {
  // Twice the same is harmless: the second flush finds nothing.
  for (auto id : unflushed_)
    if (auto* x = find(id)) {
      x->flush();
      count_unread(id);
    }
  unflushed_.clear();
}

// ---- holes ------------------------------------------------------------------

void connection_desk::punch(connection_id id, const shared_face& who,
                            const address& where, bool begins) {
  if (!faces_.has(who))
    return;
  auto fail = [&](const std::string& why) {
    who->listener->on_closed(id, "cannot punch to " + to_string(where) + ": "
                                     + why);
  };
  const auto numeric = read_numeric(where);
  const auto listened = listening_.first();
  if (!numeric || where.host.empty() || where.port == 0
      || (options_.insecure && !is_loopback(*numeric)))
    return fail("that is no numeric address to connect to");
  if (!listened)
    return fail("this peer listens nowhere");
  if (connections_.size() >= options_.max_connections)
    return fail("there are too many connections");
  const auto at = to_address(*numeric); // As `accept` sees it.
  if (punches_.count(at) > 0)
    return fail("that is being tried already");
  tcp_socket came;
  for (auto& [other, x] : connections_)
    if (x->came_from(at)) {
      came = x->take_back();
      if (!came)
        return fail("it has connected to this peer by itself");
      forget(other); // The listener has not been told of it.
      break;
    }
  punches_[at] = id;
  auto from = *listened;
  if (!options_.dial_from.empty())
    from.host = options_.dial_from;
  add(id).punch(*numeric, from, begins, std::move(came), who);
}

void connection_desk::forget_punch(connection_id id) {
  for (auto i = punches_.begin(); i != punches_.end();)
    i = i->second == id ? punches_.erase(i) : std::next(i);
}

// ---- strangers (runtime/strangers) ------------------------------------------

bool connection_desk::large_frame(connection_id id, std::size_t bytes) {
  return strangers_.begins_large(id, find(id)->remote().host, bytes,
                                 std::chrono::steady_clock::now());
}

void connection_desk::large_frame_over(connection_id id) {
  strangers_.large_is_over(id);
  read_large();
}

void connection_desk::no_stranger(connection_id id) {
  auto* x = socket_of(id);
  if (x == nullptr)
    return;
  x->trust();
  strangers_.trusts(id);
  read_large();
}

void connection_desk::note_unread(const connection& x, connection_id id) {
  const auto [own, all] = x.unread();
  strangers_.unread(id, x.remote().host, own, all);
}

void connection_desk::count_unread(connection_id id) {
  const auto* x = find(id);
  if (x == nullptr || !x->is_stranger())
    return;
  note_unread(*x, id);
  part_with_deaf();
}

void connection_desk::part_with_deaf() {
  while (auto x = strangers_.reads_too_little())
    ended(x->id, x->reason);
}

void connection_desk::read_large() {
  for (auto id : strangers_.next_large(std::chrono::steady_clock::now()))
    if (auto* x = socket_of(id))
      x->has_room();
}

void connection_desk::part_with_too_many() {
  while (auto x = strangers_.one_too_many())
    ended(x->id, x->reason);
}

// ---- what passes ------------------------------------------------------------

void connection_desk::look_later() {
  look_.emplace(loop(),
                std::chrono::duration_cast<std::chrono::milliseconds>(
                    limits::line_interval),
                [this] { look(); });
}

void connection_desk::look() {
  const auto now = std::chrono::steady_clock::now();
  const auto interval = now - last_look_;
  last_look_ = now;
  std::map<transport_face*, std::vector<connection_traffic>> seen;
  std::vector<upload_turns::flow> flows;
  const auto come = [this](connection_id id) {
    const auto* x = socket_of(id);
    return x == nullptr ? 0 : x->come();
  };
  while (auto x = strangers_.too_slow(now, come))
    ended(x->id, x->reason);
  for (auto& [id, x] : connections_) {
    if (x->is_stranger())
      note_unread(*x, id);
    auto* socket = x->socket();
    const auto traffic = socket ? socket->look(interval) : std::nullopt;
    if (!traffic)
      continue;
    seen[x->face().get()].push_back(*traffic);
    flows.push_back({id,
                     static_cast<double>(traffic->sent)
                         / std::chrono::duration<double>(interval).count(),
                     traffic->backlogged, socket->least_round_trip(),
                     traffic->round_trip});
  }
  shared_.uploads.turns().observe(flows);
  for (auto& [id, face] : faces_.all()) {
    const auto& news = seen[face.get()];
    if (!news.empty() || !face->quiet)
      face->listener->on_traffic(interval, news);
    face->quiet = news.empty();
  }
  part_with_deaf();
  look_later();
}

upload_gate::bytes_of_each connection_desk::under_way() {
  upload_gate::bytes_of_each result;
  for (auto& [id, x] : connections_)
    if (const auto bytes = x->socket() ? x->socket()->under_way() : 0)
      result[id] = bytes;
  return result;
}

} // namespace potluck
