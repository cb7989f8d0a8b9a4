package openstacktest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// states are the states of new things, and those that follow; empty: none does by itself.
var states = map[string]struct{ key, first, then string }{
	"compute/servers":       {"status", "BUILD", "ACTIVE"},
	"block-storage/volumes": {"status", "creating", "available"},
	"orchestration/stacks":  {"stack_status", "CREATE_IN_PROGRESS", "CREATE_COMPLETE"},
	"image/images":          {"status", "queued", ""},
}

func (o *Cloud) create(w http.ResponseWriter, kind string, body Entry, project string) {
	made := body
	if inner, ok := body[one(kind)].(map[string]any); ok {
		made = inner
	}
	o.next++
	id := fmt.Sprintf("id-%d", o.next)
	made["id"] = id
	if state, ok := states[kind]; ok {
		made[state.key] = state.first
		if state.then != "" {
			o.later(id, func() { made[state.key] = state.then })
		}
	}
	switch kind {
	case "image/images":
		made["owner"] = project
	case "identity/projects", "identity/users", "network/security-group-rules":
	default:
		made["project_id"] = project
	}
	switch kind {
	case "compute/servers":
		o.Lists["network/ports"] = append(o.Lists["network/ports"], Entry{"id": "port-" + id, "device_id": id, "project_id": project, "device_owner": "compute:nova"})
	case "network/networks":
		o.Lists["network/ports"] = append(o.Lists["network/ports"], Entry{"id": "dhcp-" + id, "device_id": "ovnmeta", "network": id, "project_id": project, "device_owner": "network:distributed"})
		o.defaultGroup(project)
	case "network/floatingips":
		made["floating_ip_address"] = silent
	case "key-manager/secrets":
		o.files[id] = fmt.Sprint(made["payload"])
		made["secret_ref"] = o.URL + "/key-manager/v1/secrets/" + id
	case "block-storage/volumes":
		made["os-vol-tenant-attr:tenant_id"] = project
	}
	o.Lists[kind] = append(o.Lists[kind], made)
	if one(kind) == "" {
		o.Answer(w, http.StatusCreated, shown(kind, made))
		return
	}
	o.Answer(w, http.StatusCreated, Entry{one(kind): made})
}

// defaultGroup makes the default group of a project, as Neutron does at each opportunity.
func (o *Cloud) defaultGroup(project string) {
	const kind = "network/security-groups"
	if !slices.ContainsFunc(o.Lists[kind], func(e Entry) bool { return e["name"] == "default" && e["project_id"] == project }) {
		o.next++
		o.Lists[kind] = append(o.Lists[kind], Entry{"id": fmt.Sprintf("id-%d", o.next), "name": "default", "project_id": project})
	}
}

// console answers with the console of a server.
func (o *Cloud) console(w http.ResponseWriter, id string) {
	if o.find("compute/servers", id)["status"] != "ACTIVE" {
		o.Refuse(w, "compute", http.StatusConflict, "Instance "+id+" is not ready")
		return
	}
	o.Answer(w, http.StatusOK, Entry{"output": "login:"})
}

// attach gives a volume to a server that is active, or takes it back.
func (o *Cloud) attach(w http.ResponseWriter, r *http.Request, body Entry, rest []string) {
	if r.Method == http.MethodDelete {
		found := o.find("block-storage/volumes", rest[2])
		if found["status"] != "in-use" {
			o.Refuse(w, "compute", http.StatusBadRequest, "Invalid volume: its status must be in-use")
			return
		}
		found["status"] = "detaching"
		o.later(rest[2], func() { o.free(found) })
		o.Answer(w, http.StatusAccepted, nil)
		return
	}
	id := fmt.Sprint(body["volumeAttachment"].(map[string]any)["volumeId"])
	found, server := o.find("block-storage/volumes", id), o.find("compute/servers", rest[0])
	switch {
	case server["status"] != "ACTIVE":
		o.Refuse(w, "compute", http.StatusConflict, "Cannot attach_volume while the instance is not active")
		return
	case found["status"] != "available":
		o.Refuse(w, "compute", http.StatusBadRequest, "Invalid volume: its status must be available")
		return
	}
	found["status"], found["attachments"] = "attaching", []Entry{{"server_id": rest[0]}}
	o.later(id, func() { found["status"] = "in-use" })
	o.Answer(w, http.StatusOK, Entry{})
}

// free makes a volume available that a server had.
func (o *Cloud) free(volume Entry) {
	delete(o.change, fmt.Sprint(volume["id"]))
	delete(volume, "attachments")
	volume["status"] = "available"
}

// reset sets the state of a volume, which only the administrator may do.
func (o *Cloud) reset(w http.ResponseWriter, r *http.Request, id string, body Entry, admin bool) {
	found := o.find("block-storage/volumes", id)
	if !admin || found.project() == "p-admin" {
		o.Trespass = append(o.Trespass, r.Method+" "+r.URL.Path)
		o.Refuse(w, "block-storage", http.StatusForbidden, "Policy doesn't allow volume_extension:volume_admin_actions:reset_status to be performed.")
		return
	}
	maps.Copy(found, body["os-reset_status"].(map[string]any))
	o.Answer(w, http.StatusAccepted, nil)
}

func (o *Cloud) plug(w http.ResponseWriter, rest []string, project string) {
	port := Entry{"id": "port-" + rest[0], "device_id": rest[0], "project_id": project, "device_owner": "network:router_interface"}
	o.Lists["network/ports"] = slices.DeleteFunc(o.Lists["network/ports"], func(e Entry) bool { return e["id"] == port["id"] })
	if rest[1] == "add_router_interface" {
		o.Lists["network/ports"] = append(o.Lists["network/ports"], port)
	}
	o.Answer(w, http.StatusOK, Entry{})
}

// uses returns what still uses a thing.
func (o *Cloud) uses(kind, id string) string {
	for _, e := range o.Lists["network/ports"] {
		if kind == "network/routers" && e["device_id"] == id {
			return "router is in use by a port"
		}
		if kind == "network/networks" && e["device_owner"] != "network:distributed" {
			return "network is in use by a port"
		}
	}
	return ""
}

// remove removes a thing: a server, a volume and a stack later, others at once.
func (o *Cloud) remove(w http.ResponseWriter, r *http.Request, kind string, rest []string, project string, admin bool) {
	id := rest[len(rest)-1]
	found := o.find(kind, id)
	of := found.project()
	service, _, _ := strings.Cut(kind, "/")
	switch {
	case len(found) == 0:
		o.Refuse(w, service, http.StatusNotFound, "not found")
		return
	case of != "" && of != project && !admin, strings.HasPrefix(kind, "identity/") && !admin, found["name"] == "default" && !admin, of == "p-admin":
		o.Trespass = append(o.Trespass, r.Method+" "+r.URL.Path)
		o.Refuse(w, service, http.StatusForbidden, "not yours")
		return
	case kind == "block-storage/volumes" && found["status"] != "available" && found["status"] != "error":
		o.Refuse(w, service, http.StatusBadRequest, "Invalid volume: Volume status must be available or error.")
		return
	}
	if why := o.uses(kind, id); why != "" {
		o.Refuse(w, service, http.StatusConflict, why)
		return
	}
	switch kind {
	case "compute/servers":
		found["OS-EXT-STS:task_state"] = "deleting"
	case "block-storage/volumes":
		found["status"] = "deleting"
	case "orchestration/stacks":
		found["stack_status"] = "DELETE_IN_PROGRESS"
	default:
		o.vanish(kind, id)
		o.Answer(w, http.StatusNoContent, nil)
		return
	}
	if c := o.change[id]; c == nil || found["removed"] == nil { // a second request changes nothing
		found["removed"] = true
		o.later(id, func() { o.vanish(kind, id) })
	}
	o.Answer(w, http.StatusNoContent, nil)
}

// vanish takes a thing out of its list, with all that goes with it.
func (o *Cloud) vanish(kind, id string) {
	without := func(kind, key string) {
		o.Lists[kind] = slices.DeleteFunc(o.Lists[kind], func(e Entry) bool { return e[key] == id })
	}
	without(kind, "id")
	switch kind {
	case "compute/servers":
		without("network/ports", "device_id")
		for _, e := range o.Lists["block-storage/volumes"] {
			if of, ok := e["attachments"].([]Entry); ok && of[0]["server_id"] == id {
				o.free(e)
			}
		}
	case "network/networks":
		without("network/ports", "network")
		without("network/subnets", "network_id")
	case "network/security-groups":
		without("network/security-group-rules", "security_group_id")
	}
}
