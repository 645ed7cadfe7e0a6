# SPDX-License-Identifier: MIT
"""Links between real programs when the network or the server goes away."""
import pytest
from installation import Installation
from relay import Relay

CONNECTED, DOWN = "an agent is connected", "no server; hosted processes are kept alive"


@pytest.fixture(name="home")
def fixture_home(holdfast, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_SERVER_LINK_PING_SECONDS", "1")
    return Installation(holdfast, tmp_path)


@pytest.fixture(name="relay")
def fixture_relay(home):
    relay = Relay(home.link_port)
    yield relay
    relay.close()


def add_behind(home, relay):
    """An agent that knows the server by the relay's port."""
    server_port, home.link_port = home.link_port, relay.port
    agent = home.add_agent()
    home.link_port = server_port
    return agent


def handshakes(home):
    return [row["handshake"] for row in home.server.logs(text=CONNECTED)]


def test_a_dead_peer_is_found_on_both_sides(home, relay):
    agent = add_behind(home, relay)

    relay.stall()  # neither side notices; four pings are 4 s here, and 20 s by default
    home.server.wait_log(text="an agent is silent and taken for gone", agent=agent.id)
    agent.program.wait_until(lambda: [r for r in agent.program.logs(text=DOWN) if "silent for 3000 ms" in r["error"]],
                             "the agent has given the server up")
    relay.reset()
    relay.resume()
    agent.wait_online()

    ups = len(handshakes(home))
    relay.reset()
    home.server.wait_until(lambda: len(handshakes(home)) > ups, "it is back")
    gone = home.server.logs(text="an agent is gone", agent=agent.id)[-1]
    assert "reset" in gone["why"]
    down = agent.program.logs(text=DOWN)[-1]
    assert "reset" in down["error"]
    assert down["again_ms"] <= 1000, down  # its own wait, which is short after a good session
    assert len(home.server.logs(text="an agent is silent and taken for gone")) == 1


def test_sessions_of_tls_outlive_the_server(home):
    agents = [home.add_agent(f"127.0.0.{i + 1}") for i in range(3)]
    assert handshakes(home) == ["full"] * 3

    home.server.stop()
    for agent in agents:
        down = agent.program.wait_log(text=DOWN)
        assert "the server stops" in down["error"]
        assert 100 <= down["again_ms"] <= 130, down  # when it was told to come back, and a bit
    home.start()
    for agent in agents:
        agent.wait_online()
    assert handshakes(home) == ["resumed"] * 3

    home.kill()
    home.start()
    for agent in agents:
        agent.wait_online()
    assert handshakes(home) == ["resumed"] * 3
