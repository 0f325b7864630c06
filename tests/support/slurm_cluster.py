"""A Slurm cluster on this machine: munged, slurmctld and slurmd -N for each node, in a separate folder, as root."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])

# Slurm notices a lost node within ten seconds, and restarts its tasks five seconds later. Before that, a credential
# must expire (cred_expire, which must be at least 5).
CONFIGURATION = """\
ClusterName=zerotax
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2,batch_sched_delay=0
JobRequeue=1
ReturnToService=2
SlurmdTimeout=2
SlurmctldTimeout=5
MessageTimeout=5
TCPTimeout=2
KillWait=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Returns the reason why this machine cannot run a cluster, or None."""
    if os.geteuid() != 0:
        return "slurmd must be started by root"
    absent = [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]
    return f"{', '.join(absent)} not installed (packages slurm-wlm and munge)" if absent else None


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def processes_of(folder, node=None):
    """Returns all processes in tasks of this cluster, and the processes that started them, as {pid: whether it is
    slurmstepd}.
    """
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
            parent = int((entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[1])
            if f"SLURM_CONF={folder}/slurm.conf" not in words:
                continue
            if not any(word == f"SLURMD_NODENAME={node}" if node else word.startswith("SLURMD_NODENAME=")
                       for word in words):
                continue
            found[int(entry.name)] = False
            if pathlib.Path(f"/proc/{parent}/cmdline").read_bytes().startswith(b"slurmstepd"):
                found[parent] = True
        except OSError:
            continue
    return found


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Cluster:
    """Used as `with Cluster(folder) as cluster`. Commands that use the cluster need `cluster.environment`. Each node
    has one CPU. For each node, `bound_to` has the CPU on which the node's tasks run.
    """

    def __init__(self, folder, nodes=("n1", "n2"), bound_to=()):
        self.folder = pathlib.Path(folder)
        self.nodes = nodes
        self.bound_to = dict(zip(nodes, bound_to))
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}

    def __enter__(self):
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        os.chmod(self.folder, 0o755)
        ports = free_ports(1 + len(self.nodes))
        host = socket.gethostname()
        lines = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 "
                          "RealMemory=60000 State=UNKNOWN" for node, port in zip(self.nodes, ports[1:]))
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, port=ports[0], folder=self.folder, nodes=lines, names=",".join(self.nodes)))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        try:
            self.run("munged", "--force", *(f"--{what}={self.folder}/munge{end}" for what, end in (
                ("socket", ".sock"), ("key-file", ".key"), ("pid-file", ".pid"), ("log-file", ".log"),
                ("seed-file", ".seed"))))
            self.run("slurmctld", "-f", self.folder / "slurm.conf")
            for node in self.nodes:
                self.start(node)
            self.wait_until_idle()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def run(self, *command, prefix=()):
        return subprocess.run([*prefix, *map(str, command)], env={**os.environ, **self.environment}, check=True,
                              capture_output=True, text=True, timeout=60).stdout

    def start(self, node, prefix=()):
        """Starts a node. `prefix` is a program that starts slurmd, such as unshare(1)."""
        bound = ["taskset", "--cpu-list", str(self.bound_to[node])] if node in self.bound_to else []
        self.run("slurmd", "-f", self.folder / "slurm.conf", "-N", node, prefix=[*bound, *prefix])

    def wait_until_idle(self, seconds=30):
        end = time.monotonic() + seconds
        while set(self.run("sinfo", "--noheader", "--Node", "--format=%T").split()) != {"idle"}:
            if time.monotonic() > end:
                raise TimeoutError("the nodes of the cluster do not become idle: " + self.run("sinfo"))
            time.sleep(0.1)

    def pid(self, what):
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / f"{what}.pid").read_text())
        return None

    def kill_node(self, node):
        """Stops a node as if its power had failed: kills slurmd, and everything that runs in the node's tasks."""
        if (pid := self.pid(f"slurmd-{node}")) is not None:
            kill(pid)
            (self.folder / f"slurmd-{node}.pid").unlink()  # by now, another process may have this process ID
        while found := processes_of(self.folder, node):
            # The step is killed before its task, so that the step cannot report to the controller how the task ended.
            for pid in sorted(found, key=lambda each: not found[each]):
                kill(pid)

    @contextlib.contextmanager
    def blind(self, node, folder):
        """Restarts a node. After the restart, the node does not see the contents of a folder."""
        script = 'mount -t tmpfs none "$0" && exec "$@"'
        self.kill_node(node)
        try:
            self.start(node, prefix=["unshare", "--mount", "sh", "-c", script, str(folder)])
            self.wait_until_idle()
            yield
        finally:
            self.kill_node(node)
            self.start(node)
            self.wait_until_idle()

    def stop_a_task(self, node):
        """Suspends the zerotax of a task of this node. Returns false if no task is running."""
        for pid in processes_of(self.folder, node):
            with contextlib.suppress(OSError):
                if b"\0shard\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGSTOP)
                    return pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0] == "T"
        return False

    def queue(self, form):
        """Returns a line in squeue's format for each task that Slurm knows."""
        return self.run("squeue", "--noheader", "--array", "--states=all", f"--format={form}").splitlines()

    def jobs(self):
        return set(self.queue("%F"))

    def unfinished(self, job):
        """Returns the states of a job's tasks that have not ended."""
        lines = [line.split() for line in self.queue("%F %T")]
        return [state for number, state in lines if number == job and state in ("PENDING", "RUNNING")]

    def held(self):
        """Returns the number of a job that its user holds, or None."""
        return next((line.split()[0] for line in self.queue("%F %r") if line.endswith("JobHeldUser")), None)

    def stop(self):
        """Ends all processes of the cluster, whatever their state."""
        for node in self.nodes:
            self.kill_node(node)
        for what in ("slurmctld", "munge"):
            if (pid := self.pid(what)) is not None:
                kill(pid)
