/// Several peers of one process behind the same ports: *faces* of a transport.
///
/// Each has a key, a listener and connections of its own; event loop, listening
/// sockets, caps and limits are shared. Who dials and asks for a face's id gets
/// that face; who asks for nobody, or for somebody else, gets the one whose key
/// the shared transport was made with.
#pragma once

#include <memory>
#include <optional>

#include "runtime/uv/face_list.hpp"
#include "runtime/uv/uv_transport.hpp"

namespace potluck {

/// A transport that faces share, which is started. Of its own listener it has
/// none: it is there as long as the faces are, or anybody holds it.
class shared_transport : public transport {
public:
  /// A face takes part from now on, until `leave` has returned.
  virtual void enter(const shared_face& who) = 0;
  virtual void leave(const shared_face& who) = 0;
  virtual connection_id dial_as(const shared_face& who, const address& where,
                                const peer_id& expected)
      = 0;
  virtual connection_id punch_as(const shared_face& who, const address& at,
                                 bool begins)
      = 0;
  /// Where it listened first; nothing before.
  virtual std::optional<address> bound() const = 0;
  /// The face of the shared transport's key listens there; the others where
  /// that one does, and fail while it never has.
  virtual expected<address> listen_as(const shared_face& who,
                                      const address& where)
      = 0;
};

/// Throws what `make_uv_transport` does, and `std::invalid_argument` when
/// insecure: nobody could tell the faces apart.
std::shared_ptr<shared_transport>
make_shared_transport(uv_transport_options options);

/// A stopped face, which keeps `house` alive. One at a time of a key. Its
/// `traffic` is that of all faces together.
std::unique_ptr<transport> make_face(std::shared_ptr<shared_transport> house,
                                     const key_pair& key);

} // namespace potluck
