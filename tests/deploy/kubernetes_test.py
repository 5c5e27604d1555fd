#!/usr/bin/python3
"""deploy/kubernetes: base and overlays are built as kustomize builds them, checked against the schemas
of Kubernetes, and checked for what schemas cannot know."""

import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import yaml

# Bazel runs a link to this file: what it points to lies in the source tree.
HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE.parent.parent / "deploy" / "kubernetes"
GENERATOR = MANIFESTS / "cluster_file.sh"
DAEMON = pathlib.Path("server/vicinityd").resolve()  # Bazel's, below the folder that tests begin in
SCHEMAS = json.loads((HERE / "data" / "kubernetes_1_30.json").read_text("ascii"))["definitions"]
OVERLAYS = ["base"] + sorted(f"overlays/{path.name}" for path in (MANIFESTS / "overlays").iterdir())
NAME = "app.kubernetes.io/name"


# --- A small kustomize: what the files here use, and an error for anything else. -----------------

KNOWN_FIELDS = {"apiVersion", "kind", "resources", "configMapGenerator", "generatorOptions", "replicas",
                "patches"}


def build(folder):
    """The objects of a folder with a kustomization.yaml."""
    plan = yaml.safe_load((folder / "kustomization.yaml").read_text("ascii"))
    unknown = set(plan) - KNOWN_FIELDS
    if unknown:
        raise ValueError(f"{folder}: {unknown}: teach the test what that does")
    objects = []
    for resource in plan["resources"]:
        path = (folder / resource).resolve()
        objects += build(path) if path.is_dir() else list(yaml.safe_load_all(path.read_text("ascii")))
    objects = copy.deepcopy(objects)
    for generated in plan.get("configMapGenerator", []):
        assert plan["generatorOptions"] == {"disableNameSuffixHash": True}
        data = {name: (folder / name).read_text("ascii") for name in generated["files"]}
        add_config_map(objects, generated["name"], generated.get("behavior", "create"), data)
    for count in plan.get("replicas", []):
        found(objects, "StatefulSet", count["name"])["spec"]["replicas"] = count["count"]
    for patch in plan.get("patches", []):
        target = found(objects, patch["target"]["kind"], patch["target"]["name"])
        for step in yaml.safe_load(patch["patch"]):
            apply_step(target, step)
    return objects


def add_config_map(objects, name, behavior, data):
    there = [one for one in objects if one["kind"] == "ConfigMap" and one["metadata"]["name"] == name]
    if (behavior == "create") == bool(there):
        raise ValueError(f"configMapGenerator: {behavior} {name}, of which there are {len(there)}")
    if there:
        there[0]["data"] = data
    else:
        objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def found(objects, kind, name):
    one, = [one for one in objects if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return one


def apply_step(target, step):
    """A step of a JSON patch (RFC 6902): the operations that the overlays use."""
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"][1:].split("/")]
    for part in path:
        target = target[int(part) if isinstance(target, list) else part]
    operation = step["op"]
    if isinstance(target, list):
        if operation == "add" and last == "-":
            target.append(step["value"])
            return
        last = int(last)
    if operation == "test":
        if target[last] != step["value"]:
            raise ValueError(f"{step['path']} is {target[last]!r}, not {step['value']!r}")
    elif operation == "remove":
        del target[last]
    elif operation == "replace":
        target[last]  # pylint: disable=pointless-statement  # an error unless it is there
        target[last] = step["value"]
    elif operation == "add" and isinstance(target, dict):
        target[last] = step["value"]
    else:
        raise ValueError(f"{step}: teach the test what that does")


# --- The subset of JSON schema that Kubernetes' schemas use. -------------------------------------

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}


def faults(value, schema, where):
    """What is wrong with a value, each as `where: what`."""
    if "$ref" in schema:
        yield from faults(value, SCHEMAS[schema["$ref"]], where)
        return
    if "oneOf" in schema:
        matching = sum(not list(faults(value, one, where)) for one in schema["oneOf"])
        if matching != 1:
            yield f"{where}: {value!r} matches {matching} of {len(schema['oneOf'])} forms"
    types = schema.get("type", list(TYPES))
    types = [types] if isinstance(types, str) else types
    if not any(has_type(value, name) for name in types):
        yield f"{where}: {value!r} is not {' or '.join(types)}"
        return
    if value is not None and value not in schema.get("enum", [value]):
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, list):
        for at, one in enumerate(value):
            yield from faults(one, schema.get("items", {}), f"{where}[{at}]")
    elif isinstance(value, dict):
        yield from faults_of_object(value, schema, where)


def faults_of_object(value, schema, where):
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}: {name} is missing"
    for name, one in value.items():
        if name in known:
            yield from faults(one, known[name], f"{where}.{name}")
        elif others is False:
            yield f"{where}: there is no {name}"
        elif others is not True:
            yield from faults(one, others, f"{where}.{name}")


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def schema_of(one):
    group, _, version = one["apiVersion"].rpartition("/")
    group = group.partition(".")[0] or "core"
    return SCHEMAS[f"io.k8s.api.{group}.{version}.{one['kind']}"]


def faults_of(one):
    return list(faults(one, schema_of(one), f"{one['kind']} {one['metadata']['name']}"))


# --- Cluster files. ------------------------------------------------------------------------------

def servers_of(text):
    """By name: (address, shards) of each server of a generated cluster file."""
    servers = {}
    for body in re.findall(r"^servers \{$(.*?)^\}$", text, re.DOTALL | re.MULTILINE):
        name, address = (re.search(rf'{field}: "(.*)"', body)[1] for field in ("name", "advertise"))
        servers[name] = (address, json.loads(re.search(r"shards: (\[.*\])", body)[1]))
    return servers


def generate(*arguments, fails=False):
    done = subprocess.run([GENERATOR, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == (2 if fails else 0), done.stderr
    return done.stderr if fails else done.stdout


class KubernetesTest(unittest.TestCase):
    def setUp(self):
        self.built = {name: build(MANIFESTS / name) for name in OVERLAYS}

    def each_set(self):
        for objects in self.built.values():
            yield objects, found(objects, "StatefulSet", "vicinity")["spec"]

    def test_all_objects_are_as_the_schemas_say(self):
        for name, objects in self.built.items():
            for one in objects:
                self.assertEqual(faults_of(one), [], name)

    def test_the_schemas_refuse_what_is_wrong(self):
        good = found(self.built["base"], "StatefulSet", "vicinity")

        def wrong(change):
            changed = copy.deepcopy(good)
            change(changed["spec"])
            return faults_of(changed)

        def pod(spec):
            return spec["template"]["spec"]

        self.assertTrue(wrong(lambda spec: spec.update(replica=3)))
        self.assertTrue(wrong(lambda spec: spec.update(replicas="3")))
        self.assertTrue(wrong(lambda spec: spec.pop("serviceName")))
        self.assertTrue(wrong(lambda spec: spec.pop("selector")))
        self.assertTrue(wrong(lambda spec: pod(spec)["containers"][0].pop("name")))
        self.assertTrue(wrong(lambda spec: pod(spec)["containers"][0]["readinessProbe"].update(port=1)))
        self.assertTrue(wrong(lambda spec: pod(spec)["volumes"][0].update(configMap="vicinity-cluster")))
        self.assertTrue(wrong(lambda spec: pod(spec)["securityContext"].update(runAsNonRoot="yes")))
        self.assertFalse(wrong(lambda spec: pod(spec).update(hostNetwork=False)))

    def test_kustomize_builds_the_same(self):
        kubectl = shutil.which("kubectl")
        if kubectl is None:
            self.skipTest("there is no kubectl here")

        def in_order(objects):
            return sorted(objects, key=lambda one: (one["kind"], one["metadata"]["name"]))
        for name, objects in self.built.items():
            text = subprocess.run([kubectl, "kustomize", MANIFESTS / name], capture_output=True, text=True,
                                  check=True).stdout
            self.assertEqual(in_order(yaml.safe_load_all(text)), in_order(objects), name)

    def test_a_patch_whose_place_has_moved_is_an_error(self):
        with self.assertRaises(ValueError):
            apply_step({"a": [1]}, {"op": "test", "path": "/a/0", "value": 2})
        with self.assertRaises(KeyError):
            apply_step({"a": 1}, {"op": "replace", "path": "/b", "value": 2})

    def test_what_is_named_is_there(self):
        for objects, spec in self.each_set():
            pod = spec["template"]["spec"]
            volumes = {volume["name"] for volume in pod["volumes"]}
            volumes |= {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
            containers = pod["containers"] + pod.get("initContainers", [])
            used = {mount["name"] for container in containers for mount in container["volumeMounts"]}
            self.assertEqual(volumes, used)
            found(objects, "ConfigMap", "vicinity-cluster")
            self.assertEqual(spec["serviceName"], found(objects, "Service", "vicinity")["metadata"]["name"])
            labels = spec["template"]["metadata"]["labels"]
            self.assertEqual(spec["selector"]["matchLabels"], labels)
            for kind, selector in (("Service", ["selector"]), ("NetworkPolicy", ["podSelector", "matchLabels"]),
                                   ("PodDisruptionBudget", ["selector", "matchLabels"])):
                chosen = found(objects, kind, "vicinity")["spec"]
                for part in selector:
                    chosen = chosen[part]
                self.assertEqual(chosen, labels, kind)
            ports = {port["name"] for port in pod["containers"][0]["ports"]}
            self.assertEqual({port["targetPort"] for port in
                              found(objects, "Service", "vicinity")["spec"]["ports"]}, ports)

    def test_pods_are_confined(self):
        for _, spec in self.each_set():
            pod = spec["template"]["spec"]
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertFalse(pod["automountServiceAccountToken"])
            for container in pod["containers"] + pod.get("initContainers", []):
                self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
                self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
                self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})

    def test_a_pod_has_time_to_drain(self):
        for _, spec in self.each_set():
            pod = spec["template"]["spec"]
            command = pod["containers"][0]["command"]
            drain, = [int(word[len("--drain="):]) for word in command if word.startswith("--drain=")]
            self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], drain + 10)
            self.assertNotIn("lifecycle", pod["containers"][0])

    def test_servers_without_certificates_are_asked_by_the_kubelet_and_others_by_the_tool(self):
        for objects, spec in self.each_set():
            container = spec["template"]["spec"]["containers"][0]
            text = found(objects, "ConfigMap", "vicinity-cluster")["data"]["cluster.textproto"]
            is_open = "\nopen: true\n" in text
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.assertEqual("grpc" in container[probe], is_open)
            self.assertEqual(any("tls" in word for word in container["command"]), not is_open)
            self.assertEqual("tls {" in text, not is_open)
            if is_open:
                self.assertEqual(container["livenessProbe"]["grpc"]["service"], "live")

    def test_the_cluster_file_has_the_names_of_the_pods(self):
        for objects, spec in self.each_set():
            servers = servers_of(found(objects, "ConfigMap", "vicinity-cluster")["data"]["cluster.textproto"])
            port = spec["template"]["spec"]["containers"][0]["ports"][0]["containerPort"]
            self.assertEqual(
                {name: address for name, (address, _) in servers.items()},
                {f"vicinity-{pod}": f"vicinity-{pod}.vicinity.default.svc.cluster.local:{port}"
                 for pod in range(spec["replicas"])})

    def test_the_daemon_takes_cluster_files_and_flags(self):
        known = subprocess.run([DAEMON, "--help"], capture_output=True, text=True, check=True).stdout
        for name, (objects, spec) in zip(OVERLAYS, self.each_set()):
            for word in spec["template"]["spec"]["containers"][0]["command"][1:]:
                self.assertIn(f"  {word.partition('=')[0]} ", known)
            path = MANIFESTS / name / "cluster.textproto"
            if not path.exists():
                path = MANIFESTS / "base" / "cluster.textproto"
            self.assertEqual(found(objects, "ConfigMap", "vicinity-cluster")["data"]["cluster.textproto"],
                             path.read_text("ascii"))
            # It was read to the end if what is wrong is the name.
            done = subprocess.run([DAEMON, "--cluster", path, "--name", "stranger"], capture_output=True,
                                  text=True, check=False)
            self.assertIn("stranger", done.stderr)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_the_cluster_files_are_the_generators(self):
        for name, arguments in {"base": [], "overlays/replicated": ["--copies", 2],
                                "overlays/open": ["--open"]}.items():
            self.assertEqual((MANIFESTS / name / "cluster.textproto").read_text("ascii"),
                             generate("--shards", 4, *arguments), name)

    def test_each_shard_has_its_copies_on_pods_of_their_own(self):
        for shards in range(1, 10):
            for copies in range(1, 5):
                for pods in range(copies, shards * copies + 1):
                    served = servers_of(generate("--shards", shards, "--copies", copies, "--pods", pods))
                    self.assertEqual(len(served), pods)
                    every = [shard for _, some in served.values() for shard in some]
                    self.assertEqual(sorted(every), sorted(list(range(shards)) * copies))
                    for _, some in served.values():
                        self.assertEqual(len(some), len(set(some)))
                        self.assertGreaterEqual(len(some), 1)

    def test_more_copies_leave_earlier_pods_as_they_were(self):
        for shards in (1, 3, 4):
            before = servers_of(generate("--shards", shards))
            for copies in (2, 3):
                after = servers_of(generate("--shards", shards, "--copies", copies))
                self.assertEqual({name: after[name] for name in before}, before)
                before = after

    def test_the_generator_refuses_what_makes_no_sense(self):
        for arguments in ([], ["--shards", 0], ["--shards", "four"], ["--shards", 4, "--pods", 5],
                          ["--shards", 4, "--copies", 3, "--pods", 2], ["--shards"], ["--shard", 4],
                          ["--shards", 4, "--namespace", "my team"], ["--shards", 4, "--data", "shards"],
                          ["--shards", 4, "--copies", 2, "--changes", "/data/changes"]):
            self.assertTrue(generate(*arguments, fails=True))
        self.assertIn('"graph-1.pods.team.svc.cluster.local:7500"',
                      generate("--shards", 2, "--name", "graph", "--service", "pods", "--namespace", "team"))
        self.assertIn('changes: "/data/changes"', generate("--shards", 2, "--changes", "/data/changes"))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
