#include "tools/lab/network/network_description.hpp"

namespace potluck {

std::string network_help() {
  return R"(A description is a JSON object; comments are allowed. Rates are texts such as
"20mbit" or "500kB", times such as "30ms", shares such as "1%".

  about     Text for people.
  seed      Of loss and jitter (default: 1).
  lasts     The run is ended then; without it when all commands have ended.
  hosts     A list of
    name      Needed.
    count     So many alike, name-1, name-2, ...; the name stands for all.
    upload    Rate of its line; 0 or nothing for no limit. Likewise
    download
    delay     One way, from the host to the middle of the network.
    jitter    At most so much more, for every packet.
    loss      Share of the packets that it sends.
    queue     Longest wait for the line; then packets are dropped
              (default: 100ms).
    router    Before each of them: none (default), open-cone,
              address-restricted, port-restricted, symmetric, double, upnp,
              only-443 or ipv6-only. Needs namespaces and nftables. Hosts with
              none speak IPv4 and IPv6, those with ipv6-only IPv6 alone.
  links     What is special about pairs, a list of
    from, to  Hosts. Needed.
    both      true: the way back, too.
    blocked   true: nothing passes.
    limit     Rate of this pair.
    delay     Beyond the hosts' own.
  changes   A list of
    at, host  When, and whose line. Needed.
    upload, download, delay, jitter, loss, queue
  commands  A list of
    host      Where. Needed; on every host of a group.
    name      Of its output files (default: the host's).
    words     The program and its arguments. Needed. In them stand
              {name}          the command's name
              {log}           a file for its JSON log
              {dir}           a folder of its own, for what it keeps
              {address}       its host's address; IPv6 behind ipv6-only
              {address:HOST}  another's
              {address6}      its host's IPv6 address; {address6:HOST} another's.
                              Before a colon it stands in brackets
              {network:PORT}  as a word alone: --listen with its host's address
                              and what else potluck needs here
    starts_at When (default: 0s).
    ends_at   It is sent `signal` then.
    signal    term (default), int or kill.
    serve     true: it is ended when all others have ended.

  {"hosts": [{"name": "seed", "upload": "100mbit", "delay": "10ms"},
             {"name": "home", "count": 2, "upload": "10mbit", "delay": "20ms"}],
   "links": [{"from": "home-1", "to": "home-2", "both": true, "blocked": true}],
   "changes": [{"at": "30s", "host": "home-1", "upload": "5mbit"}],
   "commands": [
     {"host": "seed", "serve": true,
      "words": ["potluck", "bootstrap", "{network:7000}", "--log-json={log}"]},
     {"host": "home", "starts_at": "1s",
      "words": ["potluck", "join", "--data=text/", "{network:7000}",
                "--peer={address:seed}:7000", "--identity-dir={dir}",
                "--log-json={log}"]}]}
)";
}

} // namespace potluck
