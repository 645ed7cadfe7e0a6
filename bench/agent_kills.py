# SPDX-License-Identifier: MIT
"""What bench/agent measures with for its rows of the default policy: services that are killed
every few seconds.

Each side (the agent with a spec that says nothing of its policy but auto_type, the variants of the
floor, the others by their own defaults) has as many services.  All sides are there at the same time
and take turns, service by service, at equal distances: no two kills coincide, and what else
the machine does meanwhile meets all of them."""
import contextlib
import time

import agent_rig

SERVICES, EVERY_S, RETURN_S = 20, 5, 20
POLICY, START_CHECK_S = {"auto_type": 1}, 5  # start_check_secs, as the agent has it by default


class Side:
    """The services of one supervisor, and what became of them."""

    def __init__(self, name, board, note):
        self.name, self.board, self.note = name, board, note
        self.killed = {}  # service: (pid, when), until its successor was seen
        self.took_ms, self.kills, self.left_out, self.lost = [], 0, 0, 0

    def is_running(self, i):
        """Notes how long it was away, too, when it is back."""
        pid, (old, since_ns) = self.board.slots[2 * i + 1], self.killed.get(i, (0, 0))
        if pid == old:
            return False
        if self.killed.pop(i, None):
            self.took_ms.append((self.board.slots[2 * i] - since_ns) / 1e6)
        return self.board.is_ours(pid)

    def kill(self, i):
        if not self.is_running(i):
            self.left_out += 1
            return
        pid = self.board.slots[2 * i + 1]
        self.killed[i] = pid, time.monotonic_ns()
        agent_rig.kill(pid)
        self.kills += 1

    def are_running(self):
        return all(self.is_running(i) for i in range(SERVICES))

    def end(self):
        """Those that have not come back were away until now."""
        self.lost = sum(not self.is_running(i) for i in range(SERVICES))
        self.took_ms += [(time.monotonic_ns() - since_ns) / 1e6 for _, since_ns in self.killed.values()]

    def p50(self):
        return agent_rig.percentile(self.took_ms, 0.5)


class Kills:
    """The first of them is due when every start check is over."""

    def __init__(self, sides, rounds):
        self.sides = sides
        self.turns = [(side, i) for _ in range(rounds) for i in range(SERVICES) for side in sides.values()]
        self.gap_s = EVERY_S / SERVICES / len(sides)
        self.due = time.monotonic() + START_CHECK_S + 1
        self.turns.reverse()

    def sleep(self, seconds):
        """As time.sleep(); meanwhile kills the services whose turn has come."""
        end = time.monotonic() + seconds
        while self.turns and self.due <= end:
            time.sleep(max(0, self.due - time.monotonic()))
            side, i = self.turns.pop()
            side.kill(i)
            late = time.monotonic() - self.due > self.gap_s
            self.due = (time.monotonic() if late else self.due) + self.gap_s
        time.sleep(max(0, end - time.monotonic()))

    def finish(self, progress):
        """The rest of the kills; a service that is not back 20 s after the last one is lost."""
        while self.turns:
            progress(f"default policy, all sides at the same time: {len(self.turns):,} kills to come")
            self.sleep(min(30, self.due - time.monotonic() + len(self.turns) * self.gap_s))
        end = time.monotonic() + RETURN_S
        while time.monotonic() < end and not all(side.are_running() for side in self.sides.values()):
            time.sleep(0.1)
        for side in self.sides.values():
            side.end()


@contextlib.contextmanager
def kills(folder, rounds, peers):
    """Starts all sides: "agent", the floor's variants, the peers by their packages' names."""
    with contextlib.ExitStack() as stack:
        def new_side(name, note=""):
            board = agent_rig.Board(f"{folder}/killed-{name}", SERVICES)
            stack.callback(board.sweep)
            sides[name] = Side(name, board, note)
            return board
        sides = {}
        for peer in peers:
            stack.enter_context(peer.by_default(SERVICES).running(new_side(peer.package, peer.default_note)))
        for variant in agent_rig.Floor.QUICKEST:
            stack.enter_context(agent_rig.Floor(new_side(variant), variant, SERVICES)).start()
        home = stack.enter_context(agent_rig.Home(new_side("agent")))
        home.policy, home.extra = POLICY, {}
        task, _ = home.begin(SERVICES)
        yield Kills(sides, rounds)
        home.wait_task(task)
