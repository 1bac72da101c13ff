"""The networks that tools/bench/homes builds, and what their peers' logs say."""

import json
import os
import shutil
import statistics
import subprocess

# Names of the kinds, and of tools/netlab's routers.
KINDS = {"public": "none", "cone": "open-cone",
         "port-restricted": "port-restricted", "symmetric": "symmetric",
         "double": "double", "upnp": "upnp", "only-443": "only-443",
         "ipv6-only": "ipv6-only"}
# Behind these everybody sees one port of a home (RFC 4787), so that a hole can
# be punched.
INDEPENDENT = ("cone", "port-restricted", "double", "upnp")
HOME = {"upload": "20mbit", "download": "80mbit", "delay": "15ms"}
HUB = {"name": "hub", "upload": "100mbit", "download": "100mbit",
       "delay": "5ms"}
RUN = "--run=homes"
OWN = ["--identity-dir={dir}", "--log-json={log}"]
SEEDS = ["--peer={address:hub}:7000", "--peer={address:hub}:443"]
IPV6_SEEDS = ["--peer={address6:hub}:7000"]


def bootstrap(*more):
    return {"host": "hub", "serve": True, "words":
            ["potluck", "bootstrap", "--config-file=/dev/null",
             "{network:7000}", "--listen={address}:443", *OWN, *more]}


def seeds_of(router):
    return IPV6_SEEDS if router == "ipv6-only" else SEEDS


def trainer(host, starts_at, *more, at="{network:7000}", router="none",
            **keys):
    return {"host": host, "starts_at": "%gs" % starts_at, **keys, "words":
            ["potluck", "join", "--config-file=/dev/null", at,
             *seeds_of(router), *OWN, RUN, "--threads=1", *more]}


def pairs_network(kinds, each, seconds, starts_at):
    """Auxiliary peers, which want a line with everybody, and keep no core busy;
    a trainer beside the hub founds their run, and takes no step."""
    hosts = [HUB] + [{"name": "%s-%d" % (kind, i + 1), "router": KINDS[kind],
                      **HOME} for kind in kinds for i in range(each)]
    founder = trainer("hub", 1, "--model=mnist-ffn", "--data=digits",
                      "--target-batch=100000000", at="--listen={address}:7001",
                      name="founder")
    commands = [bootstrap(), founder]
    for x in hosts[1:]:
        commands.append({"host": x["name"], "starts_at": "%gs" % starts_at,
                         "serve": True, "words":
                         ["potluck", "join", "--config-file=/dev/null",
                          "--role=auxiliary", "{network:7000}",
                          *seeds_of(x["router"]), *OWN, RUN]})
    return {"lasts": "%gs" % seconds, "hosts": hosts, "commands": commands}


def speed_network(one, other):
    """A trainer founds a run; another one fetches its state."""
    hosts = [HUB, {"name": "first", "router": KINDS[one], **HOME},
             {"name": "second", "router": KINDS[other], **HOME}]
    words = ["--data=/usr/share/common-licenses", "--target-batch=32",
             "--micro-batch=4", "--vocabulary=1000", "--hidden-size=128"]
    return {"lasts": "34s", "hosts": hosts,
            "commands": [bootstrap(),
                         trainer("first", 1, *words, router=KINDS[one]),
                         trainer("second", 10, *words, router=KINDS[other])]}


def averaging_network(homes, rate, router, steps):
    """Trainers, and a bootstrap that averages for them, with a line four times
    as fast."""
    line = "%gmbit" % (rate * 8 / 1e6)
    fast = "%gmbit" % (4 * rate * 8 / 1e6)
    hosts = [{"name": "hub", "upload": fast, "download": fast, "delay": "5ms",
              "queue": "250ms"}]
    commands = [bootstrap(RUN)]
    for i in range(homes):
        name = "home-%d" % (i + 1)
        hosts.append({"name": name, "upload": line, "download": line,
                      "delay": "10ms", "queue": "250ms", "router": router})
        commands.append(trainer(
            name, 1 + i, "--data=/usr/share/common-licenses",
            "--target-batch=128", "--micro-batch=4", "--chunk-values=8192",
            "--packing=float32", "--always-compute", "--steps=%d" % steps,
            "--upload=%g" % (rate * 8 / 1e6),
            "--download=%g" % (rate * 8 / 1e6)))
    return {"lasts": "8min", "hosts": hosts, "commands": commands}


def relay_network():
    """Names of the homes, and the network: a bootstrap that averages for
    nobody, two homes in the open, and four that only a hub brings together."""
    names = ["open-1", "open-2"] + ["closed-%d" % (i + 1) for i in range(4)]
    hosts = [HUB] + [{"name": x, **HOME, "router":
                      "none" if x.startswith("open") else "symmetric"}
                     for x in names]
    return names, {"lasts": "100s", "hosts": hosts, "commands": [bootstrap()] + [
        trainer(x, 1 + i, "--data=/usr/share/common-licenses", "--packing=float32",
                "--target-batch=96", "--micro-batch=4")
        for i, x in enumerate(names)]}


# What is true of a home, by kind: grades of findings, any one of which will do.
# (No emulated host has a route to the internet itself.)
FITTING = {
    "public": [{"reach": "good"}],
    "cone": [{"reach": "good"}, {"reach": "degraded", "router": "good"}],
    "port-restricted": [{"reach": "degraded", "router": "good"}],
    "symmetric": [{"reach": "degraded", "router": "degraded"}],
    "double": [{"reach": "degraded", "router": "good"}],
    "upnp": [{"reach": "good", "port mapping": "good"}],
    "only-443": [{"hub on 7000": "degraded", "hub on 443": "good"}],
    "ipv6-only": [{"IPv4": "unknown", "hub on 7000": "good"}],
}


def doctor_network(kinds):
    """Bootstraps, of which each home's doctor visits two, since it takes two to
    see a router's kind. The others dial back: they were never dialled from
    there."""
    others = ["other"] + ["far-%d" % (i + 1) for i in range(6)]
    hosts = [HUB] + [{**HUB, "name": x} for x in others]
    joined = bootstrap("--peer={address:hub}:7000")
    commands = [bootstrap()] + [{**joined, "host": x, "starts_at": "1s"}
                                for x in others]
    for kind in kinds:
        hosts.append({"name": kind, "router": KINDS[kind], **HOME})
        address = "address6" if kind == "ipv6-only" else "address"
        ports = (7000, 443) if kind == "only-443" else (7000,)
        commands.append({
            "host": kind, "starts_at": "4s", "words":
            ["potluck", "doctor", "--json", "--config-file=/dev/null",
             "{network:7000}", "--identity-dir={dir}",
             *("--peer={%s:%s}:%d" % (address, x, port)
               for x in ("hub", "other") for port in ports)]})
    return {"lasts": "90s", "hosts": hosts, "commands": commands}


def doctor_says(folder, kind):
    """Grades by topic, those of the first peer's ports under names of theirs;
    None if it said nothing."""
    said = (folder / "out" / (kind + ".txt")).read_text()
    try:
        findings = json.loads(said[said.index("{"):])["findings"]
    except ValueError:
        return None
    peers = iter(("hub on 7000", "hub on 443", "other on 7000", "other on 443")
                 if kind == "only-443" else ("hub on 7000", "other on 7000"))
    return {next(peers) if x["topic"].startswith("peer ") else x["topic"]:
            x["grade"] for x in findings}


def missing_for(kind):
    """Why this machine cannot emulate a home of that kind; None if it can."""
    if kind == "ipv6-only" and not os.path.exists("/proc/net/if_inet6"):
        return "this machine's kernel has no IPv6"
    if kind == "upnp" and not shutil.which("miniupnpd",
                                           path=os.environ["PATH"]
                                           + ":/usr/sbin:/sbin"):
        return "there is no miniupnpd: tools/setup --bench installs it"
    return None


def run_lab(binaries, what, folder):
    """netlab's exit status, and what it said."""
    folder.mkdir(parents=True)
    file = folder / "network.json"
    file.write_text(json.dumps(what, indent=1))
    done = subprocess.run([binaries / "potluck-netlab",
                           "--out=%s" % (folder / "out"), file],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.strip()


def events_of(folder, name):
    """None of a peer that wrote nothing."""
    log = folder / "out" / (name + ".jsonl")
    if not log.exists():
        return []
    return [json.loads(x) for x in log.read_text().splitlines()]


def way_of(event):
    """What a `join` or a `way` says of the line that there is from now on."""
    relayed = event.get("relayed", event.get("address") == "by way of a hub")
    return "circuit" if relayed else "direct"


def lines_between(folder, names):
    """By two names: the way of the last line before the run's end, and after
    how many seconds the first one was there, since both peers were."""
    logs = {x: events_of(folder, x) for x in names}
    began, who = {}, {}
    for name, events in logs.items():
        for x in events:
            if x["event"] == "listening" and name not in began:
                began[name] = x["time"]
                who[x["peer"]] = name
    end = min((x["time"] for log in logs.values() for x in log
               if x["event"] == "departure" and x["orderly"]),
              default=float("inf"))
    result = {}
    for one, events in logs.items():
        for x in events:
            other = who.get(x.get("peer"))
            if other is None or other == one or x["time"] >= end:
                continue
            pair = tuple(sorted((one, other)))
            if x["event"] in ("join", "way"):
                since = x["time"] - max(began[one], began[other])
                seen = result.setdefault(pair, {"seconds": since})
                seen["seconds"] = min(seen["seconds"], since)
                seen["way"] = way_of(x)
            elif x["event"] == "departure" and pair in result:
                result[pair]["way"] = "nothing"
    return result


def rate_at_end(folder, host, seconds):
    """Bytes a second that a host sent, in the last `seconds` but two."""
    seen = [x for x in events_of(folder, "netlab")
            if x["event"] == "traffic" and x["host"] == host]
    last = seen[-1]["time"] - 2
    within = [x for x in seen if last - seconds <= x["time"] <= last]
    return ((within[-1]["sent"] - within[0]["sent"])
            / (within[-1]["time"] - within[0]["time"]))


def gradient_of(folder, homes):
    """Bytes of a gradient, and of what goes with it: a home that cannot be
    dialled sends it once a round. Never more than a hundredth above the
    parameters' own."""
    sent = [x["bytes_sent"] for i in range(homes)
            for x in events_of(folder, "home-%d" % (i + 1))
            if x["event"] == "round" and x["outcome"] == "committed"
            and x["bytes_sent"]]  # Nothing is sent while a state is fetched.
    return min(sent, default=0)


def download(folder):
    """Bytes a second, and the way, of the state that "second" got; None when it
    got none."""
    events = events_of(folder, "second")
    got = [x for x in events if x["event"] == "state_download" and x["bytes"]
           and x.get("donor")]
    if not got:
        return None
    before = [x for x in events if x["time"] <= got[0]["time"]]
    donor = [x for x in before if x["event"] in ("join", "way")
             and x["peer"] == got[0]["donor"]]
    return {"bytes_per_second": got[0]["bytes"] / got[0]["seconds"],
            "way": way_of(donor[-1]) if donor else "nothing"}


def rounds(folder, homes, first):
    """Seconds of averaging of each committed round from step `first` on in
    which all homes took part: the slowest one's."""
    slowest = {}
    for i in range(homes):
        for x in events_of(folder, "home-%d" % (i + 1)):
            if (x["event"] == "round" and x["outcome"] == "committed"
                    and x["step"] >= first and x["members"] >= homes):
                slowest[x["step"]] = max(slowest.get(x["step"], 0),
                                         x["seconds"])
    return list(slowest.values())


def median(values):
    return statistics.median(values) if values else None
