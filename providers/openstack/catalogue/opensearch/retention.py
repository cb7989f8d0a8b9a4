# Writes the policy that deletes old indices, and the template of new ones. Changes by others are overwritten.
import json
import os
import urllib.error
import urllib.request

url, days, copies = os.environ["URL"], os.environ["DAYS"], int(os.environ["COPIES"])
patterns = os.environ["INDICES"].split(",")
policy_path = "/_plugins/_ism/policies/kolla-retention"


def call(method, path, body=None, good=(200, 201)):
    request = urllib.request.Request(
        url + path, method=method, headers={"Content-Type": "application/json"},
        data=None if body is None else json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    if status not in good:
        raise SystemExit(f"{method} {path}: status {status}: {text.decode(errors='replace')[:500]}")
    return status, json.loads(text or b"{}")


status, known = call("GET", policy_path, good=(200, 404))
at = ""
if status == 200:  # OpenSearch wants the version of the policy that a change replaces
    at = f"?if_seq_no={known['_seq_no']}&if_primary_term={known['_primary_term']}"
call("PUT", policy_path + at, {"policy": {
    "description": "Logs of the cloud, made by kolla",
    "default_state": "open",
    "states": [
        {"name": "open", "actions": [], "transitions": [{"state_name": "delete", "conditions": {"min_index_age": f"{days}d"}}]},
        {"name": "delete", "actions": [{"retry": {"count": 3, "backoff": "exponential", "delay": "1m"}, "delete": {}}], "transitions": []},
    ],
    "ism_template": [{"index_patterns": patterns, "priority": 1}],
}})
keyword = {"type": "keyword", "ignore_above": 1024}
call("PUT", "/_index_template/kolla-logs", {"index_patterns": patterns, "priority": 1, "template": {
    "settings": {"number_of_shards": 1, "number_of_replicas": copies},
    "mappings": {"properties": {
        "@timestamp": {"type": "date"}, "message": {"type": "text"},
        **{name: keyword for name in (
            "cloud", "service", "workload", "pod", "container", "node", "level", "logger", "request_id", "global_request_id", "instance",
        )},
    }},
}})
# An index keeps the version of the policy that it got. Indices without a policy get this one.
for change in ("change_policy", "add"):
    _, answer = call("POST", f"/_plugins/_ism/{change}/" + ",".join(patterns), {"policy_id": "kolla-retention"}, good=(200, 404))
    for failed in answer.get("failed_indices", []):
        print(f"{change}: {failed.get('index_name')}: {failed.get('reason')}")
