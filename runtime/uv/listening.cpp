#include "runtime/uv/listening.hpp"

#include <utility>

#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

constexpr int most_waiting_in_the_kernel = 512;

failure cannot_listen(const address& where, const std::string& why,
                      const char* mend) {
  return {"cannot listen on " + to_string(where) + ": " + why + "; " + mend};
}

failure cannot_listen(const address& where, int error) {
  auto* mend = "give another address with --listen";
  if (error == UV_EADDRINUSE)
    mend = "stop the other program or choose another port with --listen";
  else if (error == UV_EACCES)
    mend = "choose a port above 1023 with --listen";
  else if (error == UV_EADDRNOTAVAIL)
    mend = "choose an address of this machine with --listen";
  return cannot_listen(where, uv_strerror(error), mend);
}

} // namespace

listening::listening(uv_loop_t* loop, bool only_loopback,
                     std::function<void(tcp_socket)> came)
    : loop_(loop), only_loopback_(only_loopback), came_(std::move(came)) {
}

failure listening::stopped(const address& where) {
  return cannot_listen(where, "the transport is stopped", "start it first");
}

void listening::listen(const address& where, answer done) {
  if (auto numeric = read_numeric(where))
    return done(bind(where, *numeric));
  auto i = pending_.insert(pending_.end(), {where, std::move(done), nullptr});
  auto found = [this, i](const std::vector<sockaddr_storage>& all,
                         const std::string& why) {
    if (all.empty())
      i->done(cannot_listen(i->where, why,
                            "give an address of this machine with --listen"));
    else
      i->done(bind(i->where, all.front()));
    pending_.erase(i);
  };
  i->look_up = std::make_unique<resolution>(loop_, where, found);
  if (!i->look_up->error().empty())
    found({}, std::string{i->look_up->error()});
}

expected<address> listening::bind(const address& where,
                                  const sockaddr_storage& to) {
  if (only_loopback_ && !is_loopback(to))
    return cannot_listen(where, "with --insecure only this machine may connect",
                         "leave --insecure out, or add --listen 127.0.0.1:0");
  auto socket = make_tcp_socket(loop_, this);
  auto error
      = uv_tcp_bind(&socket->tcp, reinterpret_cast<const sockaddr*>(&to), 0);
  if (error == 0 && is_loopback(to))
    avoid_bbr(descriptor_of(*socket));
  if (error == 0)
    error = uv_listen(socket->stream(), most_waiting_in_the_kernel,
                      [](uv_stream_t* x, int status) {
                        auto* self = static_cast<listening*>(
                            static_cast<tcp_handle*>(x->data)->owner);
                        if (status != 0 || self == nullptr)
                          return;
                        auto come = make_tcp_socket(self->loop_, nullptr);
                        if (uv_accept(x, come->stream()) == 0)
                          self->came_(std::move(come));
                      });
  sockaddr_storage bound{};
  int size = sizeof(bound);
  if (error == 0)
    error = uv_tcp_getsockname(&socket->tcp,
                               reinterpret_cast<sockaddr*>(&bound), &size);
  if (error != 0)
    return cannot_listen(where, error);
  sockets_.push_back(std::move(socket));
  return to_address(bound);
}

void listening::stop() {
  sockets_.clear();
  for (auto& x : pending_)
    x.done(stopped(x.where));
  pending_.clear();
}

} // namespace potluck
