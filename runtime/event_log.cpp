#include "runtime/event_log.hpp"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "runtime/state/atomic_file.hpp"

namespace potluck {

event fault_news(const std::string& what, const std::string& detail) {
  return {"fault", {{"what", what}, {"detail", detail}}};
}

event fault_news(const peer_id& who, const std::string& what,
                 const std::string& detail) {
  return {"fault",
          {{"peer", short_name(who)}, {"what", what}, {"detail", detail}}};
}

std::string to_json(const event& x, double time) {
  // Numbers that are not finite become null in the library's output.
  nlohmann::ordered_json line = {{"event", x.name}, {"time", time}};
  for (const auto& field : x.fields)
    std::visit([&](const auto& value) { line[field.first] = value; },
               field.second);
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

expected<event_log> event_log::open(const std::string& path) {
  file_descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file)
    return file_failure("open the event log", path);
  return event_log(path, std::move(file));
}

expected<bool> event_log::write(const event& x, double time) {
  std::string line = to_json(x, time) + "\n";
  if (torn_)
    line.insert(0, "\n");
  ssize_t written;
  do
    written = ::write(file_.get(), line.data(), line.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) {
    torn_ = false;
    return true;
  }
  if (written > 0) {
    torn_ = true;
    errno = ENOSPC;
  }
  return file_failure("write the event log", path_);
}

} // namespace potluck
