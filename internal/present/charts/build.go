package charts

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	texttemplate "text/template"

	"kolla.openstack.org/kolla/providers/secrets"
)

//go:embed files
var sources embed.FS

func source(name string) string {
	raw, err := sources.ReadFile("files/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(raw)
}

// waitSeconds is the default of the longest time that a pod waits for others.
const waitSeconds = 3600

// global adds the values that all charts of the cloud share.
func (b *built) global() {
	if b.cloud.recipes[b.checksum()] != nil { // else there are no Secrets
		b.uses[b.checksum()] = true
	}
	config := b.cloud.Config.Cloud
	v, global := b.values, "global"
	v.note("Shared by all charts of the cloud.", global)
	v.note("Where images come from: REGISTRY/NAME:TAG. An empty tag is RELEASE-DISTRO.", global, "image")
	v.leaf(config.Registry, word, global, "image", "registry")
	v.leaf(config.Tag, word, global, "image", "tag")
	v.note("The release decides about the tag only. For the settings of another release, export the charts again.", global, "release")
	v.leaf(config.Release, word, global, "release")
	v.leaf(config.Distro, word, global, "distro")
	for _, p := range b.cloud.public {
		v.leaf(p.text, host, global, "exposures", p.exposure, p.key)
	}
	if len(b.cloud.public) > 0 {
		v.note("Addresses and names for clients outside, replaced wherever they occur.", global, "exposures")
	}
	v.note("Pods wait in an init container for the jobs and pods that they need.", global, "wait")
	v.leaf(true, flag, global, "wait", "enabled")
	v.leaf(waitSeconds, count, global, "wait", "seconds")
	v.note("Requests of the pods of jobs, instead of their own. All of them exist from the beginning, and run one after\nthe other: their own requests together could keep a pod from a node for which they wait. Empty: their own.", global, "wait", "requests")
	v.leaf(map[string]any{"cpu": "5m", "memory": "24Mi"}, amounts, global, "wait", "requests")
	v.note("Names of existing Secrets. Empty: kolla's own name; the chart of the service makes the Secret.", global, "secrets")
	b.recipes()
	v.note("The services of this release.", global, "services")
	if b.service != nil {
		v.leaf(true, flag, global, "services", b.chart.name)
	}
	v.branch(global).open, v.branch(global, "secrets").open, v.branch(global, "services").open = true, true, true
	v.keys = sorted(v.keys)
	for key, note := range notes {
		if _, ok := v.values[key]; ok {
			v.note(note, key)
		}
	}
}

// notes explain the values of a chart.
var notes = map[string]string{
	"images":    "Images, by their names in the registry. An empty repository or tag is that of global.image; \"-\" is no tag.",
	"config":    "Config files, by section and option. null removes an option, and a list repeats it.\nA text may contain template expressions. Options with secret values are not among them.",
	"workloads": "Workloads. The files of other services may name the pods of a StatefulSet: to change the number of\nits replicas, change the configuration of kolla and export the charts again.",
	"jobs":      "Jobs. A change of their pods runs them again.",
	"volumes":   "Claims of volumes.",
}

// sorted orders the values of a chart.
func sorted(keys []string) []string {
	order := []string{"global", "images", "config", "workloads", "jobs", "volumes"}
	slices.SortStableFunc(keys, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return keys
}

// checksum returns the name of the Secret with the key for hashes.
func (b *built) checksum() string { return secrets.ChecksumSecret(b.cloud.Config.Cloud.Name) }

// contain makes the values of the umbrella chart from those of the charts in it.
func (b *built) contain(charts []*built) {
	for _, each := range charts {
		maps.Copy(b.uses, each.uses)
		for _, key := range each.values.branch("global").keys {
			b.values.branch("global").merge(key, each.values.branch("global").values[key])
		}
		b.values.branch(each.chart.name).open = true
		b.values.note("See charts/"+each.chart.name+"/values.yaml.", each.chart.name)
	}
}

// merge adds a value that is not there yet, and those below it.
func (v *value) merge(key string, other *value) {
	mine, ok := v.values[key]
	if !ok {
		v.keys = append(v.keys, key)
		v.values[key] = other
		return
	}
	for _, k := range other.keys {
		mine.merge(k, other.values[k])
	}
}

// files returns the files of the chart, in a directory.
func (b *built) files(dir string) []File {
	out := map[string]string{
		"Chart.yaml":                  b.metadata(),
		".helmignore":                 ".kolla\n",
		"values.yaml":                 b.values.text(),
		"values.schema.json":          b.schema(),
		"README.md":                   b.page("README.md"),
		"templates/NOTES.txt":         b.page("NOTES.txt"),
		"templates/_kolla.tpl":        b.library(),
		"templates/_names.tpl":        strings.Join(b.helpers, "\n"),
		"templates/kolla-shared.yaml": b.access(),
	}
	maps.Copy(out, b.templates)
	var files []File
	for name, content := range out {
		files = append(files, File{path.Join(dir, name), content})
	}
	return files
}

// library returns the named templates that all charts have.
func (b *built) library() string {
	return strings.NewReplacer(
		"@CHECKSUM@", b.checksum(), "@NAMESPACE@", b.cloud.Config.Cloud.Namespace, "@PROGRAM@", strings.TrimSpace(source("wait.py")),
	).Replace(source("kolla.tpl"))
}

// access returns the template of the objects that a release has once: in the umbrella chart, or in the
// chart of a service that is installed alone.
func (b *built) access() string {
	if b.service == nil {
		return "{{- include \"kolla.access\" . }}\n"
	}
	alone := "{{- if not (contains \"/charts/\" .Template.BasePath) }}\n{{- include \"kolla.access\" . }}\n"
	for i := range b.cloud.Objects {
		if o := &b.cloud.Objects[i]; o.Address.Name == b.checksum() {
			alone += fmt.Sprintf("{{- if include \"kolla.mine\" (list . \"v1\" \"Secret\" %q) }}\n%s{{- end }}\n", b.checksum(), b.object(o))
		}
	}
	return alone + "{{- end }}\n"
}

func (b *built) schema() string {
	s := b.values.jsonSchema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	if b.service != nil {
		s["properties"].(schema)["enabled"] = flag
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("the schema of %s cannot be written: %v", b.chart.name, err))
	}
	return string(raw) + "\n"
}

// metadata returns Chart.yaml.
func (b *built) metadata() string {
	var out strings.Builder
	release := b.cloud.Config.Cloud.Release
	description := "OpenStack cloud " + b.chart.name
	if b.service != nil {
		description = fmt.Sprintf("Service %s of the OpenStack cloud %s", b.chart.name, b.cloud.Config.Cloud.Name)
	}
	fmt.Fprintf(&out, "# Made by kolla export helm.\napiVersion: v2\nname: %s\ndescription: %s\ntype: application\nversion: %s.0\nappVersion: %q\n", b.chart.name, description, release, release)
	if b.service == nil && len(b.cloud.charts) > 0 {
		out.WriteString("dependencies:\n")
		for _, each := range b.cloud.charts {
			fmt.Fprintf(&out, "- name: %s\n  version: %s.0\n  condition: global.services.%s\n", each.name, release, each.name)
		}
	}
	return out.String()
}

// page returns a text for people.
func (b *built) page(name string) string {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, b.facts()); err != nil {
		panic(fmt.Sprintf("%s of %s cannot be written: %v", name, b.chart.name, err))
	}
	return out.String()
}

var pages = texttemplate.Must(texttemplate.New("").Delims("[[", "]]").ParseFS(sources, "files/README.md", "files/NOTES.txt"))

// facts are what the pages say about a chart.
type facts struct {
	Name, Cloud, Namespace, Version string
	Umbrella                        bool
	Services                        []string
	NodeLabels                      []nodeLabels
	NamespaceLabels                 string
	Given                           []*recipe // Secrets that must exist
}

type nodeLabels struct{ Node, Labels string }

func (b *built) facts() facts {
	f := facts{Name: b.chart.name, Cloud: b.cloud.Config.Cloud.Name, Namespace: b.cloud.Config.Cloud.Namespace, Version: b.cloud.Version, Umbrella: b.service == nil}
	for _, each := range b.cloud.charts {
		f.Services = append(f.Services, each.name)
	}
	for i := range b.cloud.Objects {
		switch o := &b.cloud.Objects[i]; {
		case o.Address.Kind == "Node" && o.Partial:
			f.NodeLabels = append(f.NodeLabels, nodeLabels{o.Address.Name, pairs(o.Manifest.GetLabels())})
		case o.Address.Kind == "Namespace" && o.Address.Name == f.Namespace:
			own := o.Manifest.GetLabels()
			maps.DeleteFunc(own, func(key, _ string) bool { return !strings.HasPrefix(key, "pod-security.") })
			f.NamespaceLabels = pairs(own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.uses)) {
		if r := b.cloud.recipes[name]; r.Command != "" {
			f.Given = append(f.Given, r)
		}
	}
	return f
}

// pairs returns labels as arguments of kubectl label.
func pairs(labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, " ")
}
