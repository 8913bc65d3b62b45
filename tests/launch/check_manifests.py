"""Fills every manifest of scripts/launch, for hosts with and without GPUs and EFA, for 2 and 16 hosts of AWS's newer kinds, for a queue
of Kueue and for HyperPod, and checks it against its API's schema:
Kubernetes' OpenAPI (kubernetes-validate), Kubeflow's own models (kubeflow-trainer-api, kubeflow-training), AWS's service models
(botocore), and for eksctl the fields of its published schema that we use. Prints one line per document; exits with 1 if one is refused."""
import copy
import itertools
import json
import os
import pathlib
import subprocess
import sys

import botocore.loaders
import botocore.model
import botocore.validate
import jsonschema
import kubernetes_validate
import yaml
from kubeflow.training import models as training_models
from kubernetes.client import ApiClient
from kubernetes.client import models as kubernetes_models
from kubeflow_trainer_api import models as trainer_models

folder = pathlib.Path(__file__).resolve().parents[2] / "scripts/launch"
kubernetes_version = "1.35"
aws_requests = {"compute_environment": "batch CreateComputeEnvironment", "job_queue": "batch CreateJobQueue",
                "job_definition": "batch RegisterJobDefinition", "scheduling_policy": "batch CreateSchedulingPolicy",
                "launch_template": "ec2 CreateLaunchTemplate", "pipeline_job": "batch SubmitJob"}


# fill.sh refuses the placeholders of parameters.sh.
own_values = {"REGISTRY": "111122223333.dkr.ecr.us-east-1.amazonaws.com", "BUCKET": "our-bucket", "SUBNET": "subnet-11112222",
              "SECURITY_GROUP": "sg-11112222", "FILE_SYSTEM": "fs-11112222333344445",
              "INSTANCE_PROFILE": "arn:aws:iam::111122223333:instance-profile/ecsInstanceRole"}


def fill(file, settings):
    return subprocess.run([folder / "fill.sh", file], env=os.environ | own_values | settings, check=True, capture_output=True, text=True).stdout


def words_of(settings):
    return " ".join(f"{name}={value}" for name, value in settings.items())


def without_nones(value):
    if isinstance(value, dict):
        return {key: without_nones(item) for key, item in value.items() if item is not None}
    return [without_nones(item) for item in value] if isinstance(value, list) else value


def same_or_refuse(given, kept, where):
    """Checks that every given field is among the kept ones: a model drops the fields of a document that it does not know."""
    if isinstance(given, dict):
        for key, value in given.items():
            if not isinstance(kept, dict) or key not in kept:
                raise ValueError(f"{where}.{key}: no such field")
            same_or_refuse(value, kept[key], f"{where}.{key}")
    elif isinstance(given, list):
        if len(given) != len(kept):
            raise ValueError(f"{where}: has {len(given)} items, the schema keeps {len(kept)}")
        for i, (one, other) in enumerate(zip(given, kept)):
            same_or_refuse(one, other, f"{where}[{i}]")


def pods_of(document):
    """Yields every pod template in a document."""
    if isinstance(document, dict):
        if "containers" in document:
            yield document
        for value in document.values():
            yield from pods_of(value)
    elif isinstance(document, list):
        for value in document:
            yield from pods_of(value)


class TrainingClient(ApiClient):
    """Deserializes with Kubeflow's models together with Kubernetes' own."""

    def _ApiClient__deserialize(self, data, klass):
        if isinstance(klass, str) and hasattr(training_models, klass) and not hasattr(kubernetes_models, klass):
            klass = getattr(training_models, klass)
        return super()._ApiClient__deserialize(data, klass)


def check_kubeflow(document):
    kind = document["kind"]
    if document["apiVersion"] == "kubeflow.org/v1":
        client = TrainingClient()
        read = client._ApiClient__deserialize(document, f"KubeflowOrgV1{kind}")
        same_or_refuse(document, client.sanitize_for_serialization(read), kind)
    else:
        model = getattr(trainer_models, f"TrainerV1alpha1{kind}")
        same_or_refuse(document, without_nones(model.from_dict(copy.deepcopy(document)).to_dict()), kind)
    for pod in pods_of(document):
        kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": pod},
                                     kubernetes_version, strict=True)


def check(document):
    """Raises if the document's API does not accept it."""
    api = document["apiVersion"]
    if api.startswith("eksctl.io"):
        jsonschema.validate(document, json.loads((pathlib.Path(__file__).parent / "eksctl_schema.json").read_text()))
    elif "kubeflow.org" in api:
        check_kubeflow(document)
    else:
        kubernetes_validate.validate(document, kubernetes_version, strict=True)


def check_safety(document):
    """Checks that pods do not run as root, gain no privileges and hold no secrets, and that images are pinned."""
    for pod in pods_of(document):
        owner = document["metadata"]["name"] == "bertpretrain-storage-owner"  # a new file system belongs to root
        if not owner and pod.get("securityContext", {}).get("runAsNonRoot") is not True:
            raise ValueError("runs as root")
        for container in pod["containers"] + pod.get("initContainers", []):
            rights = container.get("securityContext", {})
            if rights.get("allowPrivilegeEscalation") is not False or rights.get("capabilities", {}).get("drop") != ["ALL"]:
                raise ValueError(f"{container['name']}: keeps rights it does not need")
            if "@" not in container["image"] and ":" not in container["image"]:
                raise ValueError(f"{container['image']}: names no version")
            for variable in container.get("env", []):
                if any(word in variable["name"] for word in ("SECRET", "PASSWORD", "TOKEN", "ACCESS_KEY")):
                    raise ValueError(f"{variable['name']}: a secret in a manifest")


def broken(document):
    """Returns copies of a document, each with one extra field, which a real check refuses."""
    for path in (["spec"], ["metadata"]):
        copied = copy.deepcopy(document)
        inner = copied
        for key in path:
            inner = inner.get(key)
            if inner is None:
                break
        else:
            inner["notAField"] = 1
            yield copied
    copied = copy.deepcopy(document)
    pod = next(pods_of(copied), None)
    if pod is not None:
        pod["containers"][0]["notAField"] = 1
        yield copied


def refused(document):
    try:
        check(document)
    except Exception:  # the libraries have no common exception type
        return True
    return False


def check_kubernetes_files(settings, tries_broken=False):
    for file in sorted([*(folder / "aws_eks").glob("*.yaml"), folder / "monitoring/efa_metrics.yaml"]):
        for document in yaml.safe_load_all(fill(file, settings)):
            where = f"{file.name}: {document['kind']} ({words_of(settings)})"
            try:
                check(document)
                check_safety(document)
                check_queue(document, settings.get("QUEUE"))
            except Exception as error:
                sys.exit(f"{where}: {error}")
            if tries_broken and not all(refused(copied) for copied in broken(document)):
                sys.exit(f"{where}: the check lets pass what it must not")
            print("valid", where)


def check_queue(document, queue):
    """Checks that all jobs that train, and no others, wait in the queue."""
    labelled = document["spec"]["jobTemplate"] if document["kind"] == "CronJob" else document
    trains = document["kind"] in ("TrainJob", "PyTorchJob", "CronJob") or (
        document["kind"] == "Job" and document["metadata"]["name"] in ("bertpretrain", "bertpretrain-preflight"))
    found = labelled.get("metadata", {}).get("labels", {}).get("kueue.x-k8s.io/queue-name")
    if found != (queue if trains else None):
        raise ValueError(f"waits in the queue {found}")


def interfaces_of(adapters):
    """The card, the device and the type of each interface: one with the host's address, and an adapter per card, which has none."""
    return [(0, 0, "interface"), *((card, int(card == 0), "efa-only") for card in range(adapters))]


def check_aws_files(settings, hosts, adapters):
    requests = {}
    for name, request_name in aws_requests.items():
        service, operation = request_name.split()
        model = botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model(service, "service-2"))
        requests[name] = request = json.loads(fill(folder / "aws_batch" / f"{name}.json", settings))
        shape = model.operation_model(operation).input_shape
        where = f"{name}.json: {operation} ({words_of(settings)})"
        report = botocore.validate.ParamValidator().validate(request, shape)
        if report.has_errors():
            sys.exit(f"{where}: {report.generate_report()}")
        if not botocore.validate.ParamValidator().validate(dict(request, notAField=1), shape).has_errors():
            sys.exit(f"{where}: the check lets pass what it must not")
        print("valid", where)
    interfaces = [(one["NetworkCardIndex"], one["DeviceIndex"], one["InterfaceType"])
                  for one in requests["launch_template"]["LaunchTemplateData"]["NetworkInterfaces"]]
    if interfaces != interfaces_of(adapters):
        sys.exit(f"launch_template.json ({words_of(settings)}): has the interfaces {interfaces}")
    limit = requests["compute_environment"]["computeResources"]["maxvCpus"]
    if limit < hosts * vcpus.get(settings.get("INSTANCE_TYPE"), 0):
        sys.exit(f"compute_environment.json ({words_of(settings)}): {limit} vCPUs do not hold {hosts} hosts")


vcpus = {"p5.48xlarge": 192, "p5en.48xlarge": 192, "p6-b200.48xlarge": 192}
# Hosts with GPUs come from a reservation here, so that those lines are checked too.
reservation = {"CAPACITY_RESERVATION": "cr-0123456789abcdef0", "CAPACITY_BLOCK": "yes"}
for gpus, adapters in itertools.product((8, 0), (4, 0)):
    settings = {"GPUS_PER_NODE": str(gpus), "EFA_PER_NODE": str(adapters), "USER_DATA": "eA=="} | (reservation if gpus else {})
    check_kubernetes_files(settings, tries_broken=True)
    check_aws_files(settings, 2, adapters)
for (kind, adapters), hosts in itertools.product({"p5en.48xlarge": 16, "p6-b200.48xlarge": 8}.items(), (2, 16)):
    settings = {"INSTANCE_TYPE": kind, "NODES": str(hosts), "USER_DATA": "eA=="}
    check_kubernetes_files(settings)
    check_aws_files(settings, hosts, adapters)
check_aws_files({"INSTANCE_TYPE": "p5.48xlarge", "NODES": "40", "USER_DATA": "eA=="}, 40, 32)
check_kubernetes_files({"QUEUE": "team-a"})
check_kubernetes_files({"QUEUE": "team-a", "HYPERPOD": "yes"})
