# SPDX-License-Identifier: MIT
"""How BlueKing's own programs call, each as small as it can be and as strict as they are.

A twin sends what its original sends (paths, slashes, headers, credentials, fields that leak into
the body), builds the result's keys itself, polls by its rule, and reads answers as its language
does: those in Go fail on an integer written as 1.0 and on a number where a text should be, those in
Python on a key that is not there.

    operate(op)    the one result, when it has ended
    is_running(), is_hosted()    by what its original looks at
"""
import http.client
import json
import re
import time
import urllib.parse

from installation import exchange

START, STOP, QUERY, HOST, UNHOST, RESTART = 0, 1, 2, 3, 4, 7
RUNNING, WAITING = 828, 115


class Fault(AssertionError):
    """What would have been an error of the original."""


def need(condition, what):
    if not condition:
        raise Fault(what)


# --- strict reading, as of Go's encoding/json into a struct

def go(kind, value, where):
    """The value, if a field of this type would take it; "x" of an object may be absent, as in Go."""
    if isinstance(kind, dict):
        if value is None:
            return {}
        need(isinstance(value, dict), f"{where}: not an object: {value!r}")
        return {k: go(v, value[k], f"{where}.{k}") for k, v in kind.items() if k in value}
    if isinstance(kind, list):
        if value is None:
            return []
        need(isinstance(value, list), f"{where}: not a list: {value!r}")
        return [go(kind[0], v, f"{where}[]") for v in value]
    if isinstance(kind, tuple):  # a map
        if value is None:
            return {}
        need(isinstance(value, dict), f"{where}: not a map: {value!r}")
        return {k: go(kind[0], v, f"{where}[{k}]") for k, v in value.items()}
    if kind is float:
        need(isinstance(value, (int, float)) and not isinstance(value, bool), f"{where}: not a number: {value!r}")
    else:
        need(type(value) is kind, f"{where}: not of type {kind.__name__}: {value!r}")
    return value


INSTANCE = {"cmdline": str, "processName": str, "version": str, "health": str, "isAuto": bool, "cpuUsage": float,
            "cpuUsageAve": float, "phyMemUsage": float, "usePhyMem": int, "diskSize": int, "freeVMem": str, "pid": int,
            "startTime": str, "stat": str, "utime": str, "stime": str, "threadCount": int, "elapsedTime": int,
            "register_time": int, "last_start_time": int, "report_time": int}
STATUS = {"ip": str, "bk_agent_id": str, "utctime": str, "utctime2": str, "timezone": int,
          "process": [{"procname": str, "instance": [INSTANCE]}]}
VALUE = {"value": [{"procName": str, "setupPath": str, "funcID": str, "instanceID": str, "bk_agent_id": str,
                    "result": str, "isAuto": bool}]}
RESULTS = ({"error_code": int, "error_msg": str, "content": str},)
ENVELOPE = {"code": int, "message": str, "result": bool, "request_id": str}


class Client:
    """What they share: the server, the process, and one request."""

    def __init__(self, home, agent, daemon, space, name="proc-test"):
        self.home, self.agent, self.daemon, self.space, self.name = home, agent, daemon, space, name
        self.pause = 0.05  # theirs are seconds

    def send(self, path, body, headers=None, method="POST"):
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=60)
        return exchange(connection, method, path, data, headers or {})

    def header(self, **more):
        return json.dumps({"bk_app_code": self.home.code, "bk_app_secret": self.home.secret, **more})

    def credentials(self):
        return {"bk_app_code": self.home.code, "bk_app_secret": self.home.secret, "bk_username": "admin"}

    def identity(self):
        return {"index_key": "", "proc_name": "proc-test", "setup_path": str(self.daemon.folder),
                "pid_path": str(self.daemon.pid_file), "user": "root"}

    def poll(self, ask, tries):
        """Until `ask` gives something that has ended."""
        for _ in range(tries):
            found = ask()
            if found is not None:
                return found
            time.sleep(self.pause)
        raise Fault(f"{type(self).__name__}: gave up after {tries} polls")


class Sdk(Client):
    """ESB's SDK for Python: the body is JSON without a word about its type, credentials in it; a GET
    has all of it in the query.  `version` "" is what old apps have."""

    version = "/v2"

    def call(self, name, body, method="POST"):
        path = f"/api/c/compapi{self.version}/gse/{name}/"
        params = {**self.credentials(), **body}
        if method == "GET":
            path, params = path + "?" + urllib.parse.urlencode(params), None
        status, _, answer = self.send(path, params, {"Blueking-Language": "en"}, method)
        need(status == 200, f"{status} {answer}")
        need(isinstance(answer["result"], bool) and isinstance(answer["message"], str), answer)
        return answer

    def body(self, op):
        return {"meta": {"namespace": self.space, "name": self.name}, "op_type": op,
                "hosts": [{"ip": self.agent.ip, "bk_cloud_id": 0}],
                "spec": {"identity": self.identity(), "control": {"start_cmd": "./start.sh", "stop_cmd": "./stop.sh"},
                         "alive_monitor_policy": {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1}}}

    def operate(self, op):
        answer = self.call("operate_proc_v2", self.body(op))
        need(answer["result"], answer)
        key = f"0:{self.agent.ip}:{self.space}:{self.name}"

        def ended():
            got = self.call("get_proc_operate_result_v2", {"task_id": answer["data"]["task_id"]}, "GET")
            need(got["result"] and list(got["data"]) == [key], got)
            return None if got["data"][key]["error_code"] == WAITING else got["data"][key]
        return self.poll(ended, 2000)

    def instance(self):
        return json.loads(self.operate(QUERY)["content"])["process"][0]["instance"][0]

    def is_running(self):
        return self.instance()["pid"] > 0

    def is_hosted(self):
        return self.instance()["isAuto"]


class Kit(Client):
    """GSEKit, its gateway not configured: the gateway's paths below ESB's.  Labels are numbers, a
    switch of its own leaks into the body, what it does not know is null."""

    base = "/api/c/compapi/v2/gse/api/v2/proc/"

    def call(self, name, body):
        headers = {"X-Bkapi-Authorization": self.header(bk_username="admin"), "X-Bkapi-App-Code": self.home.code,
                   "X-Bkapi-App-Secret": self.home.secret, "X-Bkapi-User-Name": "admin",
                   "Content-Type": "application/json"}
        status, _, answer = self.send(f"{self.base}{name}/", {**body, "no_request": True}, headers)
        need(status == 200, f"{status} {answer}")
        if "result" not in answer:
            answer["result"] = answer["code"] == 0
        return answer

    def element(self, op):
        commands = {c + "_cmd": f"./{c}.sh" for c in ("start", "stop", "restart", "reload", "kill")}
        policy = {"auto_type": 1, "start_check_secs": 1, "op_timeout": 20}
        identity = self.identity()
        if op == QUERY:  # of its status sync
            commands, policy = dict.fromkeys(commands, ""), {"auto_type": 1, "start_check_secs": None, "op_timeout": None}
            identity.update(setup_path="", pid_path="", user=None)
        return {"meta": {"namespace": self.space, "name": self.name,
                         "labels": {"bk_process_name": "proc-test", "bk_process_id": 4711}},
                "op_type": op, "agent_id_list": [self.agent.id], "bk_host_id": 1, "bk_biz_id": 2,
                "hosts": [{"ip": self.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 0}],
                "spec": {"identity": identity, "control": commands, "alive_monitor_policy": policy}}

    def operate(self, op):
        answer = self.call("operate_proc_multi", {"proc_operate_req": [self.element(op)]})
        need(answer["result"], answer)
        key = f"{self.agent.id}:{self.space}:{self.name}"

        def ended():
            got = self.call("get_proc_operate_result_v2", {"task_id": answer["data"]["task_id"]})
            if got["code"] == 1000115:
                raise Fault("1000115, which others can not bear")
            need(got["result"], got)
            need(set(got["data"]) == {key}, f"its status sync fails on other keys: {got['data']}")
            return None if got["data"][key]["error_code"] == WAITING else got["data"][key]
        return self.poll(ended, 2000)

    def instance(self):
        result = self.operate(QUERY)
        need(result["error_code"] == 0, result)
        return json.loads(result["content"])["process"][0]["instance"][0]

    def is_running(self):
        return not self.instance()["pid"] < 0

    def is_hosted(self):
        return self.instance()["isAuto"]


class NodeMan(Client):
    """NodeMan's second generation, by addresses through ESB: hosts and a specification of its own leak,
    resources are always there; a poll without the key fails at once; 828 and 829 are fine."""

    fine = {0, 828, 829}

    def call(self, name, body, system="gse/"):
        headers = {"X-Bkapi-Authorization": self.header(bk_username="admin")}
        status, _, answer = self.send(f"/api/c/compapi/v2/{system}{name}/", {**body, "no_request": True}, headers)
        need(status == 200, f"{status} {answer}")
        need(answer["code"] == 0 and answer["result"] is True, answer)
        return answer["data"]

    def host(self):
        return {"ip": self.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 0}

    def operate(self, op):
        commands = {c + "_cmd": f"./{c}.sh" for c in ("start", "stop", "restart", "reload", "kill", "version", "health")}
        element = {"nodeman_spec": {"process_status_id": 5, "subscription_instance_id": 7},
                   "meta": {"namespace": self.space, "name": self.name}, "op_type": op, "hosts": [self.host()],
                   "spec": {"identity": self.identity(), "control": commands, "resource": {"cpu": 10, "mem": 10},
                            "alive_monitor_policy": {"auto_type": 1, "start_check_secs": 1}}}
        task = self.call("operate_proc_multi", {"proc_operate_req": [element]})["task_id"]
        key = f"0:{self.agent.ip}:{self.space}:{self.name}"

        def ended():
            result = self.call("get_proc_operate_result_v2", {"task_id": task}).get(key)
            need(result, "no result for the task")
            return None if result["error_code"] == WAITING else result
        result = self.poll(ended, 2000)
        return {**result, "error_code": 0} if result["error_code"] in self.fine else result

    def status(self):
        """As its helper does, of both generations; what is absent it calls unregistered."""
        states = {0: "UNREGISTER", 1: "RUNNING", 2: "TERMINATED"}
        meta = {"namespace": self.space, "name": self.name, "labels": {"proc_name": self.name}}
        found = []
        for api in ("get_proc_status", "get_proc_status_v2"):
            for info in self.call(api, {"meta": meta, "hosts": [self.host()]})["proc_infos"]:
                info["host"]["bk_agent_id"] = info["bk_agent_id"]
                version = "".join(info["version"].split())
                found.append({"state": states[info["status"]], "auto": info["isauto"], "host": info["host"],
                              "version": version if re.match("^[a-zA-Z0-9.-]+$", version) else ""})
        need(len({json.dumps([f["state"], f["auto"]]) for f in found}) <= 1, found)
        return found[0] if found else {"state": "UNREGISTER", "auto": False}

    def sync(self):
        """All of its namespace: first how many, then by pages."""
        ask = {"meta": {"namespace": self.space, "labels": {"proc_name": self.name}}}
        page = {"start": 0, "limit": 1, "return_total": True}
        count = self.call("sync_proc_status", {**ask, "page": page})["count"]
        rows = []
        for start in range(0, count, 500):
            data = self.call("sync_proc_status", {**ask, "page": {"start": start, "limit": 500}})
            rows += data["proc_infos"]
        need(len(rows) == count, f"{len(rows)} of {count}")
        return {(r["host"]["ip"], r["meta"]["name"]): (r["status"], r["isauto"], r["version"]) for r in rows}

    def is_running(self):
        return self.status()["state"] == "RUNNING"

    def is_hosted(self):
        return self.status()["auto"]

    # Its first generation: registration is an update, and all else goes by what is registered.

    def register(self):
        body = {"meta": {"namespace": self.space, "name": self.name, "labels": {"proc_name": self.name}},
                "hosts": [self.host()],
                "spec": {"identity": self.identity(), "resource": {"mem": 10, "cpu": 10},
                         "control": {"start_cmd": "./start.sh", "stop_cmd": "./stop.sh"},
                         "monitor_policy": {"auto_type": 1, "start_check_secs": 1}}}
        return self.split(self.call("update_proc_info", body))

    def unregister(self):
        return self.split(self.call("unregister_proc_info", {"meta": {"namespace": self.space, "name": self.name},
                                                             "hosts": [self.host()]}))

    def split(self, data):
        """(failed, succeeded), by the first three parts of each key."""
        failed, fine = [], []
        for key, result in data.items():
            cloud, supplier, ip = key.split(":")[:3]
            need((int(cloud), int(supplier), ip) == (0, 0, self.agent.ip), key)
            (fine if result["error_code"] in (0, 850, 829) else failed).append(ip)
        return failed, fine

    def operate_registered(self, op):
        task = self.call("operate_proc", {"meta": {"namespace": self.space, "name": self.name}, "op_type": op,
                                          "hosts": [self.host()]})["task_id"]
        key = f"0:0:{self.agent.ip}:{self.space}:{self.name}"

        def ended():
            result = self.call("get_proc_operate_result", {"task_id": task})[key]
            return None if result["error_code"] == WAITING else result
        return self.poll(ended, 2000)

    def agent_alive(self):
        host = {"ip": self.agent.ip, "bk_cloud_id": 0}
        data = self.call("get_agent_status", {"bk_supplier_account": "0", "hosts": [host]})
        info = self.call("get_agent_info", {"hosts": [host]})
        key = f"0:{self.agent.ip}"
        return data[key]["bk_agent_alive"] == 1 and isinstance(info[key]["version"], str)


class Bscp(Client):
    """BSCP, in Go: the gateway without a last slash, agent ids, the policy's other name, commands that are
    empty left out, a user in the header; any code but 0 is the end."""

    base = "/api/bk-gse/prod/api/v2/"
    proc = base + "proc/"

    def call(self, path, body, data):
        headers = {"X-Bkapi-Authorization": self.header(bk_username="admin"), "X-Bk-Tenant-Id": "default",
                   "Content-Type": "application/json"}
        status, got, answer = self.send(path, body, headers)
        need(status == 200 and got["X-Bkapi-Request-Id"], f"{status} {answer}")
        go(ENVELOPE, answer, "answer")
        need(answer["code"] == 0, answer)
        return go(data, answer["data"], "data")

    def spec(self, op):
        return {"identity": self.identity(), "control": {"start_cmd": "./start.sh", "stop_cmd": "./stop.sh"},
                "monitor_policy": {"auto_type": 1, "start_check_secs": 1, "op_timeout": 20}}

    def operate(self, op):
        element = {"meta": {"namespace": self.space, "name": self.name}, "agent_id_list": [self.agent.id],
                   "op_type": op, "spec": self.spec(op)}
        task = self.call(self.proc + "operate_proc_multi", {"proc_operate_req": [element]}, {"task_id": str})["task_id"]
        key = f"{self.agent.id}:{self.space}:{self.name}"

        def ended():
            results = self.call(self.proc + "get_proc_operate_result_v2", {"task_id": task}, RESULTS)
            need(key in results, f"no {key} in {list(results)}")
            return None if results[key]["error_code"] == WAITING else results[key]
        result = self.poll(ended, 2000)
        if op != QUERY:
            need(len(go(VALUE, json.loads(result["content"]), "content")["value"]) == 1, result)
        return result

    def instance(self):
        process = go(STATUS, json.loads(self.operate(QUERY)["content"]), "content")["process"]
        need(process and process[0]["instance"], "not found in gse")
        return process[0]["instance"][0]

    def is_running(self):
        pid = self.instance()["pid"]
        need(pid != 0, "starting, for ever")
        return pid > 0

    def is_hosted(self):
        return self.instance()["isAuto"]

    def agent_state(self, *ids):
        state = {"bk_agent_id": str, "bk_cloud_id": int, "version": str, "run_mode": int, "status_code": int}
        rows = self.call(self.base + "cluster/list_agent_state", {"agent_id_list": list(ids)}, [state])
        return {row["bk_agent_id"]: row["status_code"] for row in rows}


class NodeMgr(Bscp):
    """bk-nodemgr, in Go: its root has /api/v2 in it, no user; to ask for a state it sends a name and else
    nothing but empty texts, and there must be exactly one of everything."""

    proc = "/api/bk-gse/stage/api/v2/proc/"

    def header(self, **more):
        return super().header()

    def spec(self, op):
        if op != QUERY:
            return {**super().spec(op), "resource": {"cpu": 10.0, "mem": 10.0, "fd": 0, "disk": 0, "net": 0}}
        empty = dict.fromkeys(["index_key", "setup_path", "pid_path", "config_path", "log_path", "user"], "")
        commands = dict.fromkeys([c + "_cmd" for c in ("start", "stop", "restart", "reload", "kill")], "")
        return {"identity": {**empty, "proc_name": "proc-test"}, "control": commands, "monitor_policy": {"auto_type": 1}}

    def operate(self, op):
        body = {"meta": {"namespace": self.space, "name": self.name, "labels": {"proc_name": "proc-test"}},
                "agent_id_list": [self.agent.id], "op_type": op, "spec": self.spec(op)}
        task = self.call(self.proc + "operate_proc_v2", body, {"task_id": str})["task_id"]
        key = f"{self.agent.id}:{self.space}:{self.name}"

        def ended():
            results = self.call(self.proc + "get_proc_operate_result_v2", {"task_id": task}, RESULTS)
            need(set(results) == {key}, results)
            return None if results[key]["error_code"] == WAITING else results[key]
        result = self.poll(ended, 2000)
        content = json.loads(result["content"])  # whatever the code is
        if op == QUERY:
            need(len(go(STATUS, content, "content")["process"]) == 1, content)
        else:
            need(len(go(VALUE, content, "content")["value"]) == 1, content)
        return {**result, "error_code": 0} if result["error_code"] in (828, 829) else result

    def is_running(self):
        instance = self.instance()
        need(instance["processName"] == self.name, instance)
        need(instance["pid"] == -1 or instance["pid"] > 1, instance)
        return instance["pid"] > 1


class Cmdb(Client):
    """CMDB 3.2, in Go: GSE's first generation; a start has no op_type, for 0 is left out."""

    def call(self, name, body, data, code=0):
        headers = {"Content-Type": "application/json", "HTTP_BLUEKING_SUPPLIER_ID": "0"}
        status, _, answer = self.send(f"/api/c/compapi/v2/gse/{name}/", {**self.credentials(), **body}, headers)
        need(status == 200, f"{status} {answer}")
        go(ENVELOPE, answer, "answer")
        need(answer["code"] == code, answer)
        need(code == 0 or answer["data"] is None, answer)
        return go(data, answer["data"], "data")

    def body(self):
        return {"meta": {"namespace": self.space, "name": self.name, "labels": {"bk_process_name": "proc-test"}},
                "hosts": [{"ip": self.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 0, "bk_host_id": 31}]}

    def key(self):
        return f"0:0:{self.agent.ip}:{self.space}:{self.name}"

    def register(self):
        spec = {"identity": self.identity(), "control": {"start_cmd": "./start.sh", "stop_cmd": "./stop.sh"},
                "resource": {"cpu": 0.0, "mem": 0.0, "fd": 0, "disk": 0, "net": 0},
                "monitor_policy": {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1}}
        results = self.call("register_proc_info", {**self.body(), "spec": spec}, RESULTS)
        need(list(results) == [self.key()], results)
        return results[self.key()]

    def unregister(self):
        return self.call("unregister_proc_info", self.body(), RESULTS)[self.key()]

    def operate(self, op):
        body = {**self.body(), "spec": {}, "op_type": op}
        if not op:
            del body["op_type"]
        task = self.call("operate_proc", body, {"task_id": str})["task_id"]

        def ended():
            result = self.call("get_proc_operate_result", {"task_id": task}, RESULTS)[self.key()]
            return None if result["error_code"] == WAITING else result
        return self.poll(ended, 2000)

    def info(self):
        info = {"meta": {"namespace": str, "name": str}, "host": {"ip": str, "bk_cloud_id": int, "bk_supplier_id": int},
                "status": int, "flag": int, "isauto": bool, "version": str, "pid": int, "cpu_usage": float,
                "mem_usage": float, "register_time": int, "last_start_time": int, "report_time": int}
        rows = self.call("get_proc_status", self.body(), {"proc_infos": [info]})["proc_infos"]
        need(len(rows) == 1, rows)
        return rows[0]

    def is_running(self):
        return self.info()["status"] == 1

    def is_hosted(self):
        return self.info()["isauto"]


class Esb(Client):
    """A real ESB in front of us: other paths, a method for each thing to do, and GET with a body."""

    def call(self, method, path, body):
        headers = {"X-Bkapi-Authorization": self.header(bk_username="admin"), "Content-Type": "application/json",
                   "X-Bkapi-Request-Id": "0" * 32, "Traceparent": "00-0-0-00"}
        status, _, answer = self.send(path, body, headers, method)
        need(status == 200 and isinstance(answer["code"], int) and isinstance(answer["message"], str), answer)
        need(answer["code"] == 0, answer)
        return answer["data"]

    def body(self, **more):
        return {"meta": {"namespace": self.space, "name": self.name},
                "hosts": [{"ip": self.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 0}], **more}

    def spec(self, policy):
        return {"identity": self.identity(), "control": {"start_cmd": "./start.sh", "stop_cmd": "./stop.sh"},
                "resource": {"cpu": 0, "mem": 0}, policy: {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1}}

    def result(self, version, task):
        def ended():
            results = self.call("GET", "/procapi/v1/proc/operate" if version == 1 else "/procapi/v2/proc/operate", task)
            need(len(results) == 1, results)
            result, = results.values()
            return None if result["error_code"] == WAITING else result
        return self.poll(ended, 2000)

    def operate(self, op):
        body = {**self.body(op_type=op, spec=self.spec("alive_monitor_policy"))}
        return self.result(2, self.call("POST", "/procapi/v2/proc/operate", body))

    def operate_registered(self, op):
        return self.result(1, self.call("POST", "/procapi/v1/proc/operate", self.body(op_type=op)))

    def info(self):
        rows = [self.call("GET", f"/procapi/{version}/proc/status", self.body())["proc_infos"] for version in ("v1", "v2")]
        need(len(rows[0]) == len(rows[1]) == 1, rows)
        return rows[0][0]

    def is_running(self):
        return self.info()["status"] == 1

    def is_hosted(self):
        return self.info()["isauto"]


class Sops(Client):
    """bk-sops picks hosts: the gateway, credentials in the body, no header at all."""

    def states(self, *ids):
        body = {"bk_app_code": self.home.code, "bk_app_secret": self.home.secret, "agent_id_list": list(ids),
                "no_request": True}
        status, _, answer = self.send("/api/bk-gse/prod/api/v2/cluster/list_agent_state", body)
        need(status == 200 and answer["code"] == 0, answer)
        known = {-1: "unknown", 2: "online"}
        return {row["bk_agent_id"]: known.get(row["status_code"], "offline") for row in answer["data"]}
