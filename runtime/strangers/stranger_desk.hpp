/// A transport's limits on strangers, together: told of every connection that
/// is not trusted, it says which has to end, and which waits. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/strangers/crowd.hpp"
#include "runtime/strangers/home_allowance.hpp"
#include "runtime/strangers/large_frames.hpp"
#include "runtime/strangers/unread_answers.hpp"

namespace potluck {

class stranger_desk {
public:
  /// A connection that has to end, and why: a sentence about the other side.
  struct departure {
    connection_id id = 0;
    std::string reason;
  };

  /// @param connections Of strangers, in all. @param unproven Of these, such
  ///     that have proven nothing yet.
  stranger_desk(std::size_t connections, std::size_t unproven)
      : unproven_({std::min(unproven, limits::unproven_of_a_home),
                   std::min(unproven, limits::unproven_of_a_prefix), unproven}),
        proven_({limits::strangers_of_a_home, limits::strangers_of_a_prefix,
                 connections}) {
  }

  // ---- connections

  /// Whether a handshake with somebody there may begin now.
  bool may_knock(const std::string& host, time_point now) {
    return handshakes_.spend(host, 1, now);
  }
  /// It came in, and has proven nothing yet.
  void came(connection_id id, const std::string& host) {
    unproven_.add(id, host);
  }
  /// It has.
  void proved(connection_id id, const std::string& host, time_point now) {
    unproven_.remove(id);
    proven_.add(id, host);
    arrivals_[id] = {host, now};
  }
  /// It is no stranger's.
  void trusts(connection_id id);
  void ended(connection_id id, time_point now);

  /// Who has to go since somebody came, if anybody has: never the newest. To be
  /// asked again once it has ended.
  std::optional<departure> one_too_many() const;
  /// Who goes to make room for one more of anybody's, if anybody does.
  std::optional<departure> gives_way() const;

  // ---- memory

  /// See `large_frames`: there is room for medium ones that no larger one
  /// takes.
  bool begins_large(connection_id id, const std::string& host,
                    std::size_t bytes, time_point now) {
    auto& room = bytes > limits::medium_frame_bytes ? large_ : medium_;
    return room.begin(id, host, bytes, now);
  }
  void large_is_over(connection_id id) {
    large_.over(id);
    medium_.over(id);
  }
  std::vector<connection_id> next_large(time_point now);
  std::optional<departure> too_slow(time_point now,
                                    const large_frames::progress& come) const;
  /// So many bytes of its own wait for it, and with bodies.
  void unread(connection_id id, const std::string& host, std::size_t own,
              std::size_t all) {
    unread_.wait(id, host, own);
    with_bodies_.wait(id, host, all);
  }
  /// Who has to go since too many wait in all, if anybody has. Likewise.
  std::optional<departure> reads_too_little() const;

private:
  home_allowance handshakes_{
      {limits::handshakes_of_a_home, limits::handshakes_of_a_home_at_once,
       limits::handshakes_of_all, limits::handshakes_of_all_at_once,
       limits::handshakes_of_a_prefix, limits::handshakes_of_a_prefix_at_once}};
  crowd unproven_, proven_;
  struct arrival {
    std::string host;
    time_point at;
  };
  std::map<connection_id, arrival> arrivals_; ///< Of those that are proven.
  large_frames large_{
      {limits::large_frames_bytes, limits::large_frames_of_a_home}};
  large_frames medium_{
      {limits::medium_frames_bytes, limits::medium_frames_of_a_home}};
  unread_answers unread_;
  unread_answers with_bodies_{limits::unread_with_bodies};
};

} // namespace potluck
