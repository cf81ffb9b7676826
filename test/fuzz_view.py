#!/usr/bin/env python3
"""Hammers firn view and firn run --live with made-up requests and messages, over loopback.

    test/fuzz_view.py FIRN SECONDS [SEED]

FIRN should be built with sanitizers, so that a mistake ends it: `make fuzz-view` does both. Clients know the
token, because what strangers can do is less. The fuzzer starts a server of a scene, one of caches and
one of a run, sends random and changed requests, frames and commands to each, sometimes reads nothing,
sometimes hangs up, and looks whether a well-behaved client is still served. It fails when a server ends by
itself or does not answer. Python's own library is all it needs."""
import base64
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

SCENE = """firn: 1
name: fuzz
resolution: 0.08
frames: {end: 6}
materials:
  jelly: {preset: jelly_soft}
objects:
  - {name: ball, shape: {sphere: {center: [0, 0.4, 0], radius: 0.3}}, velocity: [1, -3, 0]}
colliders:
  - {name: ground, shape: {plane: {}}}
"""
FLAT = SCENE.replace("name: fuzz", "name: flat\ndimension: 2").replace(
    "sphere: {center: [0, 0.4, 0]", "disc: {center: [0, 0.4]").replace("[1, -3, 0]", "[1, -3]")
HEATED = SCENE.replace("preset: jelly_soft", "preset: chocolate").replace(
    "frames:", "heat: {temperature: 20 C}\nframes:")

COMMANDS = [
    {"do": "open", "text": SCENE}, {"do": "open", "text": FLAT}, {"do": "open", "text": HEATED},
    {"do": "edit", "text": SCENE.replace("jelly_soft", "jelly_hard")},
    {"do": "edit", "text": SCENE.replace("plane: {}", "plane: {point: [0, -0.1, 0]}")},
    {"do": "restart"}, {"do": "play", "speed": 0}, {"do": "play", "speed": 1}, {"do": "pause"},
    {"do": "step", "unit": "frame"}, {"do": "step", "unit": "substep"}, {"do": "seek", "frame": 1},
    {"do": "seek", "frame": 3},
    {"do": "want", "color": "speed", "velocity": True, "grid": True, "totals": True},
    {"do": "want", "color": "temperature"}, {"do": "want", "color": ""},
    {"do": "tool", "tool": "grab", "at": [0, 0.3, 0], "radius": 0.2, "velocity": [1, 0, 0]},
    {"do": "tool", "tool": "push", "at": [0, 0.3, 0], "radius": 0.2, "velocity": [0, 1, 0],
     "strength": 10},
    {"do": "tool", "tool": "cut", "at": [0, 0.3, 0], "radius": 0.05},
    {"do": "tool", "tool": "emit", "at": [0, 0.8, 0], "radius": 0.1, "material": "jelly",
     "velocity": [0, 0, 0]},
    {"do": "tool", "tool": "heat", "at": [0, 0.3, 0], "radius": 0.2, "strength": 100},
    {"do": "tool", "tool": None}, {"do": "probe", "id": 3}, {"do": "probe", "id": None},
    {"do": "points", "token": 1}, {"do": "points", "token": 2, "attributes": ["P", "v"]},
    {"do": "hash", "token": 4}, {"do": "shown", "picture": 1}, {"do": "shown", "picture": 2},
]
ODD = [None, True, -1, 0, 1e308, -1e308, 2**53, 2**63, "", "x" * 300, "\u0000", "\ud7ff", [], {}, [0, 0, 0],
       [1e30] * 3, "P", "speed"]


class Server:
    """A firn that serves, and what lets us in."""

    def __init__(self, words, folder, lasting):
        self.words, self.folder, self.lasting = words, folder, lasting
        self.log = open(os.path.join(folder, "log"), "ab+")
        self.process = None
        self.starts = 0

    def start(self):
        begin = self.log.seek(0, 2)
        self.process = subprocess.Popen(self.words, cwd=self.folder, stdout=self.log, stderr=self.log)
        self.starts += 1
        self.secret = None
        self.find_address(begin)

    def find_address(self, begin=0):
        for _ in range(600):
            self.log.seek(begin)
            found = re.findall(rb"http://127.0.0.1:(\d+)/#live=([0-9a-f]{32})", self.log.read())
            if found:
                self.port, self.token = int(found[-1][0]), found[-1][1].decode()
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.fail("printed no address")

    def check(self):
        """A run may have ended; nothing else may."""
        code = self.process.poll()
        if code is None:
            return
        if not self.lasting and code in (0, 130):
            self.start()
        else:
            self.fail(f"ended with {code}")

    def fail(self, why):
        self.log.seek(0)
        sys.exit(f"{' '.join(self.words)}: {why}\n{self.log.read()[-6000:].decode(errors='replace')}")

    def stop(self):
        if self.process.poll() is not None:
            return self.process.returncode
        self.process.send_signal(2)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.fail("did not end on Ctrl-C")


def connect(server, patience=5):
    s = socket.create_connection(("127.0.0.1", server.port), timeout=patience)
    return s


def upgrade(server, extra="", **changes):
    key = base64.b64encode(os.urandom(16)).decode()
    host = f"127.0.0.1:{server.port}"
    query = f"secret={server.secret}" if server.secret else f"token={server.token}"
    headers = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key,
               "Sec-WebSocket-Version": "13", "Origin": f"http://{host}"}
    headers.update(changes)
    lines = "".join(f"{k}: {v}\r\n" for k, v in headers.items())
    return f"GET /live?{query}{extra} HTTP/1.1\r\n{lines}\r\n".encode()


def get(s, size):
    data = b""
    while len(data) < size:
        more = s.recv(size - len(data))
        if not more:
            raise ConnectionError("closed")
        data += more
    return data


def hear(s):
    """A message: whether it is text, and its bytes; None when the other side closes."""
    whole, text = b"", False
    while True:
        a, b = get(s, 2)
        size = b & 127
        if size == 126:
            size = struct.unpack(">H", get(s, 2))[0]
        elif size == 127:
            size = struct.unpack(">Q", get(s, 8))[0]
        data = get(s, size)
        if a & 15 == 8:
            return None
        if a & 15 > 8:
            continue
        text = text or a & 15 == 1
        whole += data
        if a & 128:
            return text, whole


def frame(data, op=1, last=True, masked=True, size=None):
    size = len(data) if size is None else size
    head = bytes([(128 if last else 0) | op & 127])
    flag = 128 if masked else 0
    if size < 126:
        head += bytes([flag | size])
    elif size < 65536:
        head += bytes([flag | 126]) + struct.pack(">H", size)
    else:
        head += bytes([flag | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + data
    mask = os.urandom(4)
    whole = int.from_bytes(data, "big") ^ int.from_bytes((mask * (len(data) // 4 + 1))[:len(data)], "big")
    return head + mask + whole.to_bytes(len(data), "big")


def enter(server, extra=""):
    s = connect(server)
    s.sendall(upgrade(server, extra))
    head = b""
    while b"\r\n\r\n" not in head and len(head) < 4000:
        more = s.recv(1)
        if not more:
            break
        head += more
    if b" 101 " not in head:
        s.close()
        return None
    message = hear(s)
    if not message:  # too many sessions
        s.close()
        return None
    server.secret = json.loads(message[1])["secret"]
    return s


def change(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        kind = rng.randrange(5)
        at = rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 2, 8, 200])))
        elif kind == 2:
            del data[at:at + rng.choice([1, 3, 50])]
        elif kind == 3 and data:
            data[at % len(data)] = rng.choice(b"\x00\xff\r\n{}[]\":,\\0-e")
        else:
            data[at:at] = data[at:at + rng.choice([1, 10, 100])]
    return bytes(data)


def odd_command(rng):
    command = dict(rng.choice(COMMANDS))
    kind = rng.randrange(4)
    if kind == 0:
        return json.dumps(command).encode()
    if kind == 1:
        command[rng.choice(list(command) + ["frame", "radius", "id", "token"])] = rng.choice(ODD)
        return json.dumps(command).encode()
    if kind == 2 and "text" in command:
        command["text"] = change(command["text"].encode(), rng).decode(errors="ignore")
        return json.dumps(command).encode()
    return change(json.dumps(command).encode(), rng).decode(errors="ignore").encode()


def odd_frame(rng):
    kind = rng.randrange(10)
    if kind < 6:
        return frame(odd_command(rng))
    if kind == 6:
        data = odd_command(rng)
        cut = rng.randrange(len(data) + 1)
        return frame(data[:cut], 1, False) + frame(data[cut:], 0, rng.random() < 0.9)
    if kind == 7:
        return frame(os.urandom(rng.choice([0, 1, 125, 126, 5000])), rng.randrange(16), rng.random() < 0.5,
                     rng.random() < 0.8)
    if kind == 8:
        return frame(b"abc", 1, True, True, rng.choice([4, 200, 70000, 2**31, 2**40, 2**63 - 1]))
    return change(frame(odd_command(rng)), rng)


def hammer_frames(server, rng, counts):
    s = enter(server, rng.choice(["", "", "&session=1", "&session=9999999999999", "&session=-1"]))
    if not s:
        counts["refused"] += 1
        return
    s.settimeout(0.2)
    try:
        for _ in range(rng.choice([1, 5, 30])):
            s.sendall(odd_frame(rng))
            counts["frames"] += 1
            if rng.random() < 0.5:
                s.recv(rng.choice([10, 1000, 100000]))
    except OSError:
        pass
    if rng.random() < 0.3:  # without a word
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def hammer_http(server, rng, counts):
    good = rng.choice([
        f"GET /{rng.choice(['', 'index.html', '../log', '%2e%2e/log', 'live', 'x' * 5000])} HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{server.port}\r\nConnection: {rng.choice(['close', 'keep-alive'])}\r\n\r\n".encode(),
        f"POST / HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Length: {rng.choice([0, 5, 10**12, -1])}"
        f"\r\n\r\nhello".encode(),
        upgrade(server, rng.choice(["", "&token=", "&secret=%00", "&" + "a=1&" * 300])),
        upgrade(server, Upgrade="h2c"), upgrade(server, Host="x" * 300),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(100), os.urandom(300)])
    s = connect(server, 0.2)
    try:
        data = change(good, rng) if rng.random() < 0.7 else good
        if server.secret is None and server.token.encode() in data:
            data = data.replace(server.token.encode(), b"0" * 32)  # it is good for one use
        s.sendall(data)
        counts["requests"] += 1
        if rng.random() < 0.7:
            s.recv(100000)
    except OSError:
        pass
    s.close()


def is_well(server, counts):
    """A page that behaves is let in and greeted."""
    for _ in range(40):
        try:
            s = enter(server)
        except OSError:
            s = None
        if s:
            break
        server.check()
        if not server.lasting:
            return
        time.sleep(0.5)  # all sessions may be taken by clients that have just gone
    else:
        server.fail("lets nobody in")
    s.settimeout(30)
    try:
        while True:
            message = hear(s)
            if message is None:
                server.fail("hangs up on a page that behaves")
            if message[0] and json.loads(message[1])["event"] == "hello":
                break
    except (OSError, ConnectionError) as why:
        server.check()
        if server.lasting:
            server.fail(f"does not greet: {why}")
    s.close()
    counts["greetings"] += 1


def main():
    program, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    rng = random.Random(seed)
    print(f"seed {seed}, {seconds:g} s", flush=True)
    top = tempfile.mkdtemp(prefix="firn_fuzz.")
    page = os.path.join(top, "page")
    os.mkdir(page)
    with open(os.path.join(page, "index.html"), "w", encoding="utf-8") as file:
        file.write("<p>page</p>\n")
    folders = []
    for name in ("scene", "caches", "run"):
        folders.append(os.path.join(top, name))
        os.mkdir(folders[-1])
        with open(os.path.join(folders[-1], "fuzz.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENE + "output:\n  - {file: out/fuzz.$F4.prt}\n")
    subprocess.run([program, "run", "fuzz.yaml", "--quiet"], cwd=folders[1], check=True)
    servers = [
        Server([program, "view", "fuzz.yaml", "--page", page, "--threads", "1"], folders[0], True),
        Server([program, "view", "out", "--page", page], folders[1], True),
        Server([program, "run", "fuzz.yaml", "--live", "--page", page, "--threads", "1", "--quiet", "--set",
                "frames.end=100"], folders[2], False)]
    counts = {"frames": 0, "requests": 0, "greetings": 0, "refused": 0}
    try:
        for server in servers:
            server.start()
        end = time.time() + seconds
        turn = 0
        while time.time() < end:
            server = rng.choice(servers)
            server.check()
            try:
                (hammer_frames if rng.random() < 0.7 else hammer_http)(server, rng, counts)
                turn += 1
                if turn % 50 == 0:
                    is_well(server, counts)
            except OSError:
                server.check()
        for server in servers:
            code = server.stop()
            if code not in (0, 130):
                server.fail(f"ended with {code} after Ctrl-C")
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.process.kill()
        shutil.rmtree(top)
    print(", ".join(f"{n} {what}" for what, n in counts.items()), f"{servers[2].starts} runs", sep=", ")


if __name__ == "__main__":
    main()
