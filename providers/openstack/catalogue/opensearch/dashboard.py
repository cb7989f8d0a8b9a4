# Makes the index pattern, a saved search and a first dashboard. They become what they are here, and
# those that people made stay.
import base64
import json
import os
import urllib.request

url, pattern = os.environ["URL"], os.environ["PATTERN"]
with open("/run/secrets/login/value") as f:
    login = base64.b64encode(f"{os.environ['USERNAME']}:{f.read()}".encode()).decode()


def search(query):
    source = {"query": {"query": query, "language": "kuery"}, "filter": [], "indexRefName": "index"}
    return {"kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(source)}}


index = {"name": "index", "type": "index-pattern", "id": "kolla-logs"}
columns = ["service", "level", "request_id", "message"]
objects = [
    {"type": "index-pattern", "id": "kolla-logs", "attributes": {"title": pattern, "timeFieldName": "@timestamp"}},
]
panels, references = [], []
for name, title, query in (("all", "All logs", ""), ("errors", "Errors", "level: (ERROR or CRITICAL or error or critical)")):
    objects.append({
        "type": "search", "id": "kolla-" + name, "references": [index],
        "attributes": {"title": title, "columns": columns, "sort": [["@timestamp", "desc"]], **search(query)},
    })
    panels.append({
        "panelIndex": name, "panelRefName": "panel_" + name, "embeddableConfig": {},
        "gridData": {"x": 0, "y": 20 * len(panels), "w": 48, "h": 20, "i": name},
    })
    references.append({"name": "panel_" + name, "type": "search", "id": "kolla-" + name})
objects.append({
    "type": "dashboard", "id": "kolla", "references": references,
    "attributes": {
        "title": "Cloud", "panelsJSON": json.dumps(panels), "optionsJSON": json.dumps({"useMargins": True}),
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps({"query": {"query": "", "language": "kuery"}, "filter": []})},
    },
})
request = urllib.request.Request(
    url + "/api/saved_objects/_bulk_create?overwrite=true", method="POST", data=json.dumps(objects).encode(),
    headers={"Content-Type": "application/json", "osd-xsrf": "true", "Authorization": "Basic " + login})
with urllib.request.urlopen(request, timeout=60) as answer:
    for made in json.load(answer)["saved_objects"]:
        if "error" in made:
            raise SystemExit(f"{made['type']} {made['id']}: {made['error'].get('message')}")
