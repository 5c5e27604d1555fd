"""Hosts on a network of their own, on this machine: a network namespace each, joined by a switch
in another, every link limited to a rate both ways. Needs root and `ip` and `tc` of iproute2.

    with namespaces.Network(4) as network:
        network.limit(1.0)                      # Gbit/s
        network.run(2, ["ping", "-c1", network.address(3)])

Nothing here touches the machine's own network: all devices are made inside the namespaces, and go
with them.
"""

import os
import shutil
import signal
import subprocess

# Of a limited link: as much as the kernel lets through at once, and how long a packet may queue.
BURST_BYTES = 256 * 1024
QUEUE_MS = 10


def missing():
    """Why there can be no namespaces here; None: there can."""
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            return f"no program {program} (Debian's package iproute2)"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    name = f"vicinity-try-{os.getpid()}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"network namespaces are not permitted here: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return None


class Network:
    """`num_hosts` hosts 0, 1, ... with unlimited links. Ends what runs there when it is left."""

    def __init__(self, num_hosts):
        self.num_hosts = num_hosts
        self._prefix = f"vicinity-{os.getpid()}"
        self._processes = []

    def __enter__(self):
        # What is interrupted must leave no namespaces: the default action would not unwind.
        self._handlers = {number: signal.signal(number, self._interrupted)
                          for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def address(self, host):
        return f"10.91.0.{host + 1}"

    def limit(self, gbps):
        """The rate of every link, each way; None: unlimited."""
        for host in range(self.num_hosts):
            for namespace, device in ((self._host(host), "eth0"), (self._switch(), f"port{host}")):
                _tc(namespace, "qdisc", "del", "dev", device, "root", check=False)
                if gbps is None:
                    continue
                _tc(namespace, "qdisc", "add", "dev", device, "root", "tbf",
                    "rate", f"{round(gbps * 1e6)}kbit", "burst", str(BURST_BYTES),
                    "latency", f"{QUEUE_MS}ms")

    def start(self, host, command, **options):
        """A subprocess.Popen on the host."""
        process = subprocess.Popen(["ip", "netns", "exec", self._host(host)] + command, **options)
        self._processes.append(process)
        return process

    def run(self, host, command, **options):
        """A subprocess.run on the host."""
        return subprocess.run(["ip", "netns", "exec", self._host(host)] + command, **options)

    def received_bytes(self, host):
        """All that the host's link has carried to it."""
        path = "/sys/class/net/eth0/statistics/rx_bytes"
        return int(self.run(host, ["cat", path], capture_output=True, check=True).stdout)

    def _host(self, host):
        return f"{self._prefix}-{host}"

    def _switch(self):
        return f"{self._prefix}-switch"

    def _make(self):
        _ip("netns", "add", self._switch())
        _ip("-n", self._switch(), "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._switch(), "link", "set", "bridge", "up")
        for host in range(self.num_hosts):
            name, port = self._host(host), f"port{host}"
            _ip("netns", "add", name)
            _ip("-n", self._switch(), "link", "add", port, "type", "veth",
                "peer", "name", "eth0", "netns", name)
            _ip("-n", self._switch(), "link", "set", port, "master", "bridge", "up")
            _ip("-n", name, "address", "add", self.address(host) + "/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")

    def _remove(self):
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        names = [self._host(host) for host in range(self.num_hosts)] + [self._switch()]
        for name in names:
            _ip("netns", "delete", name, check=False)

    @staticmethod
    def _interrupted(number, _):
        raise SystemExit(128 + number)


def _ip(*arguments, check=True):
    _call(["ip", *arguments], check)


def _tc(namespace, *arguments, check=True):
    _call(["tc", "-n", namespace, *arguments], check)


def _call(command, check):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
