/// Frames on a stream as they are, each with its checksum: for transports that
/// encrypt nothing.
#pragma once

#include <deque>

#include "runtime/ports/frame_stream.hpp"

namespace potluck {

class plain_stream final : public frame_stream {
public:
  plain_stream(bool begins, frame_stream_listener& to)
      : begins_(begins), to_(to) {
  }

  void begin() override;
  std::size_t push(outgoing_frame frame) override;
  std::vector<std::uint8_t> next(std::size_t most) override;
  std::string take(const std::uint8_t* data, std::size_t size) override;
  std::size_t begun() const override {
    return in_.size();
  }
  void finish() override {
  }

private:
  const bool begins_;
  frame_stream_listener& to_;
  bool open_ = false;
  std::deque<std::uint8_t> out_;
  std::vector<std::uint8_t> in_; ///< The frame in progress.
};

} // namespace potluck
