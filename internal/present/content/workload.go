package content

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
)

// workload describes the number of pods, their images and their nodes.
func workload(object *providers.Object, width int) []Line {
	content := object.Manifest.Object
	spec := field(content, "spec")
	template := field(spec, "template")
	lead := "1 replica of "
	if n, ok := number(spec["replicas"]); ok {
		lead = words.Count(n, "replica") + " of "
	}
	switch object.Manifest.GetKind() {
	case "DaemonSet":
		lead = "1 pod per node of "
	case "Pod":
		lead, template = "runs ", content
	}
	pod := field(template, "spec")
	var out []Line
	for i, container := range elements(pod["containers"]) {
		image, _ := container["image"].(string)
		if i > 0 {
			name, _ := container["name"].(string)
			lead = "with " + name + ": "
		}
		out = append(out, facts(lead+image)...)
	}
	out = append(out, before(pod)...)
	if selector := field(pod, "nodeSelector"); len(selector) > 0 {
		out = append(out, facts("on nodes with "+pairs(selector))...)
	}
	for _, template := range elements(spec["volumeClaimTemplates"]) {
		name, _ := field(template, "metadata")["name"].(string)
		out = append(out, facts("volume "+name+" for each: "+claim(template))...)
	}
	return append(out, weaknesses(template, width)...)
}

// before lists the init containers whose image no main container has. Init containers that keep
// running are sidecars.
func before(pod map[string]any) []Line {
	var images []any
	for _, container := range elements(pod["containers"]) {
		images = append(images, container["image"])
	}
	var out []Line
	for _, container := range elements(pod["initContainers"]) {
		if slices.Contains(images, container["image"]) {
			continue
		}
		when := "before"
		if container["restartPolicy"] == "Always" {
			when = "beside"
		}
		out = append(out, facts(fmt.Sprintf("%s, %v: %v", when, container["name"], container["image"]))...)
	}
	return out
}

// job describes the command and the image of a Job.
func job(object *providers.Object, width int) []Line {
	lead := "runs once: "
	if object.Skipped() {
		lead = "runs at an upgrade: "
	}
	out := run(lead, object, field(object.Manifest.Object, "spec", "template"), width)
	if seconds, ok := field(object.Manifest.Object, "spec")["activeDeadlineSeconds"].(int64); ok {
		out = append(out, facts(fmt.Sprintf("for %s at most", time.Duration(seconds)*time.Second))...)
	}
	return out
}

// cronJob describes the schedule, the command and the image of a CronJob.
func cronJob(object *providers.Object, width int) []Line {
	spec := field(object.Manifest.Object, "spec")
	when, _ := spec["schedule"].(string)
	if zone, ok := spec["timeZone"].(string); ok {
		when += " " + zone
	}
	out := facts("at " + when)
	if suspended, _ := spec["suspend"].(bool); suspended {
		out = facts("at " + when + ", suspended")
	}
	out = append(out, run("runs: ", object, field(spec, "jobTemplate", "spec", "template"), width)...)
	if policy, ok := spec["concurrencyPolicy"].(string); ok && policy != "Allow" {
		out = append(out, facts("concurrencyPolicy "+policy)...)
	}
	return out
}

// run describes the commands of the containers of a pod.
func run(lead string, object *providers.Object, template map[string]any, width int) []Line {
	// Scripts of definitions are long and always the same, like their config files.
	whole := !strings.Contains(object.Address.Block, "service.")
	pod := field(template, "spec")
	var out []Line
	for _, container := range elements(pod["containers"]) {
		image, _ := container["image"].(string)
		command, script := commandOf(container, whole)
		if command == "" {
			out = append(out, facts(lead+image)...)
			continue
		}
		out = append(out, facts(lead+command)...)
		out = append(out, facts(script...)...)
		out = append(out, facts("in "+image)...)
	}
	return append(append(out, before(pod)...), weaknesses(template, width)...)
}

// commandOf returns the command line of a container. A script in it is replaced by its number of
// lines. If whole is set, the lines of the script are returned too.
func commandOf(container map[string]any, whole bool) (command string, script []string) {
	var all []string
	for _, key := range []string{"command", "args"} {
		for _, word := range texts(container[key]) {
			body, several := lines(word)
			switch {
			case several && whole:
				word = fmt.Sprintf("(a script of %d lines)", len(body))
				script = append(script, indented(body, "  ")...)
			case several:
				word = fmt.Sprintf("(a script of %d lines; -full shows it)", len(body))
			case word == "" || strings.ContainsAny(word, " \t\"'"):
				word = strconv.Quote(word)
			}
			all = append(all, word)
		}
	}
	return strings.Join(all, " "), script
}
