"""A stand-in for libpotluck: a run of one peer with plain gradient descent.

It lives in this process, takes the arguments as ctypes would hand them over,
and checks what the package gives it.
"""
import ctypes
import itertools
import json


class FakeLibrary:
    """Has the functions of tools/library/potluck.h that the package calls."""

    def __init__(self):
        self.runs = {}
        self.handles = 0
        self.sentence = b""
        self.left = []

    # Names and results are those of the header, so no more is said of them.

    def potluck_version(self):
        return b"0.0.0"

    def potluck_interface(self):
        return 2

    def potluck_new(self):
        self.handles += 1
        self.runs[self.handles] = {
            "settings": {}, "peers": [], "names": [], "shapes": [],
            "decays": [], "values": [], "open": False, "step": 0, "samples": 0,
            "fresh": False, "events": [], "sums": [], "own": 0, "stuck": 0,
            "alive": None, "failing": 0, "taught": []}
        return self.handles

    def _mistake(self, sentence, result=-1):
        self.sentence = sentence.encode()
        return result

    def potluck_set(self, handle, name, value):
        run = self.runs[handle]
        name, value = name.decode(), value.decode()
        if name == "peer":
            run["peers"].append(value)
        elif name not in ("run", "lr", "learning-rate", "target-batch",
                          "steps", "optimizer", "listen", "weight-decay",
                          "checkpoint", "invitation", "beta1", "beta2",
                          "momentum", "schedule", "warmup-steps", "artifact",
                          "clip-norm", "rates", "experts", "expert-grid",
                          "experts-per-sample", "expert-values",
                          "call-packing"):
            return self._mistake(f"'{name}' is not a setting.")
        run["settings"][name] = value
        return 0

    def potluck_get(self, handle, name, text, size):
        value = self.runs[handle]["settings"][name.decode()].encode()
        if text is not None:
            ctypes.memmove(text, value + b"\0", min(size, len(value) + 1))
        return len(value)

    def potluck_tensor(self, handle, name, shape, dimensions, decays, values):
        run = self.runs[handle]
        extents = [shape[i] for i in range(dimensions)]
        count = 1
        for extent in extents:
            count *= extent
        run["names"].append(name.decode())
        run["shapes"].append(extents)
        run["decays"].append(bool(decays))
        run["values"].append(self._read(values, count) if values
                             else [0.0] * count)
        return 0

    def _read(self, address, count):
        return list((ctypes.c_float * count).from_address(address))

    def _write(self, address, values):
        (ctypes.c_float * len(values)).from_address(address)[:] = values

    def potluck_open(self, handle):
        run = self.runs[handle]
        run["open"] = run["fresh"] = True
        run["sums"] = [[0.0] * len(each) for each in run["values"]]
        return 0

    def potluck_add(self, handle, gradients, samples, loss, _):
        run = self.runs[handle]
        for place, values in enumerate(run["values"]):
            if not gradients[place]:
                continue
            given = self._read(gradients[place], len(values))
            if any(each != each or abs(each) == float("inf")
                   for each in given):
                return self._mistake(
                    f"{run['names'][place]} has a gradient that is not "
                    "finite.", -3)
            total = run["sums"][place]
            for i, each in enumerate(given):
                total[i] += samples * each
        run["samples"] += samples
        run["own"] += samples
        if run["samples"] >= int(run["settings"].get("target-batch", 1)):
            self._make_step(run, loss)
        return 0

    def _make_step(self, run, loss):
        rate = float(run["settings"].get("learning-rate", 0.1))
        for values, total in zip(run["values"], run["sums"]):
            for i, each in enumerate(total):
                values[i] -= rate * each / run["samples"]
                total[i] = 0.0
        run["step"] += 1
        run["fresh"] = True
        run["events"].append({"event": "step", "step": run["step"],
                              "loss": loss, "samples": run["samples"],
                              "peers": 1})
        run["samples"] = 0
        if run["step"] == int(run["settings"].get("steps", 1000)):
            run["events"].append({"event": "finished", "step": run["step"]})

    def potluck_take(self, handle, parameters, _):
        run = self.runs[handle]
        if not run["open"]:
            return self._mistake("The run is not open.")
        if run["stuck"]:
            run["stuck"] -= 1
            return 2
        over = run["step"] >= int(run["settings"].get("steps", 1000))
        if run["fresh"] or over:
            run["fresh"] = False
            for place, values in enumerate(run["values"]):
                if parameters[place]:
                    self._write(parameters[place], values)
            return 3 if over else 0
        return 1

    def potluck_status(self, handle, pointer):
        run = self.runs[handle]
        fields = pointer._obj
        assert fields.size == ctypes.sizeof(fields)
        fields.step = fields.taken = run["step"]
        fields.steps = int(run["settings"].get("steps", 1000))
        fields.own = run["own"]
        fields.peers = 1
        fields.samples = run["samples"]
        fields.target = int(run["settings"].get("target-batch", 1))
        fields.learning_rate = float(run["settings"].get("learning-rate", 0.1))
        fields.phase = b"accumulating"
        return 0

    def potluck_event(self, handle, text, size, _):
        events = self.runs[handle]["events"]
        if not events:
            return 0
        line = json.dumps(events[0]).encode()
        if len(line) < size:
            events.pop(0)
            ctypes.memmove(text, line + b"\0", len(line) + 1)
        return len(line)

    def potluck_digest(self, handle, text):
        ctypes.memmove(text, b"%032x\0" % self.runs[handle]["step"], 33)
        return 0

    def potluck_moments(self, handle, step, first, second):
        run = self.runs[handle]
        step._obj.value = run["step"]
        for place, values in enumerate(run["values"]):
            self._write(first[place], [1.0] * len(values))
            self._write(second[place], [2.0] * len(values))
        return 0

    def potluck_set_moments(self, handle, step, first, second):
        run = self.runs[handle]
        assert not run["open"]
        run["step"] = step
        count = len(run["values"][0])
        run["first"] = self._read(first[0], count)
        run["second"] = self._read(second[0], count)
        return 0

    # Expert (i, j, ...) gives its inputs times 1 + i / 2 + j / 4 ...; all are
    # alive, or those that a test has put into "alive".

    def _experts(self, handle):
        settings = self.runs[handle]["settings"]
        return ([int(each) for each in settings["expert-grid"].split("x")],
                int(settings["experts-per-sample"]),
                int(settings["expert-values"]))

    def potluck_find_experts(self, handle, layer, samples, scores, places,
                             alive, _):
        run = self.runs[handle]
        grid, k, _ = self._experts(handle)
        run["layer"] = layer
        everybody = list(itertools.product(*map(range, grid)))
        living = everybody if run["alive"] is None else run["alive"]
        if not living or run["failing"]:
            run["failing"] -= 1 if run["failing"] else 0
            return self._mistake("Nobody announces an expert.", -6)
        rows = self._read(scores, samples * sum(grid))
        offsets = [sum(grid[:d]) for d in range(len(grid))]
        found, seen = [], [0] * sum(grid)
        for sample in range(samples):
            row = rows[sample * sum(grid):(sample + 1) * sum(grid)]
            best = sorted(living, key=lambda place: -sum(
                row[offset + each] for offset, each in zip(offsets, place)))
            best = [each for place in best[:k] for each in place]
            found += best + [-1] * (k * len(grid) - len(best))
        for place in living:
            for offset, each in zip(offsets, place):
                seen[offset + each] = 1
        (ctypes.c_int * len(found)).from_address(places)[:] = found
        (ctypes.c_ubyte * len(seen)).from_address(alive)[:] = seen
        return 0

    def _factors(self, handle, samples, places):
        """Of each seat; none where nobody sits."""
        grid, k, _ = self._experts(handle)
        read = (ctypes.c_int * (samples * k * len(grid))).from_address(places)
        for seat in range(samples * k):
            place = read[seat * len(grid):(seat + 1) * len(grid)]
            yield None if place[0] < 0 else 1.0 + sum(
                each / 2**(d + 1) for d, each in enumerate(place))

    def potluck_forward(self, handle, _, samples, places, inputs, outputs,
                        answered, __):
        grid, k, width = self._experts(handle)
        rows = self._read(inputs, samples * width)
        given, told = [], []
        for seat, factor in enumerate(self._factors(handle, samples, places)):
            row = rows[seat // k * width:(seat // k + 1) * width]
            told.append(0 if factor is None else 1)
            given += [each * (factor or 0.0) for each in row]
        self._write(outputs, given)
        (ctypes.c_ubyte * len(told)).from_address(answered)[:] = told
        return 0

    def potluck_backward(self, handle, _, samples, places, inputs, gradients,
                         input_gradients, answered, __):
        grid, k, width = self._experts(handle)
        rows = self._read(gradients, samples * k * width)
        told = (ctypes.c_ubyte * (samples * k)).from_address(answered)
        total = [0.0] * (samples * width)
        for seat, factor in enumerate(self._factors(handle, samples, places)):
            if not told[seat]:
                continue
            self.runs[handle]["taught"].append(factor)
            for i in range(width):
                total[seat // k * width + i] += factor * rows[seat * width + i]
        if input_gradients:
            self._write(input_gradients, total)
        return 0

    def potluck_leave(self, handle, _):
        self.left.append(handle)
        return 0

    def potluck_free(self, handle):
        del self.runs[handle]
        return 0

    def potluck_error(self, _):
        return self.sentence
