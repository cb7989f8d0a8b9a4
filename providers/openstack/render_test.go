package openstack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestGolden compares the objects of whole clouds with golden files.
func TestGolden(t *testing.T) {
	unused := map[string]bool{}
	files, err := filepath.Glob("testdata/*.golden.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		unused[file] = true
	}
	cases := map[string]string{
		"multinode":  "../../examples/multinode",
		"wide":       "testdata/wide",
		"secrets":    "testdata/secrets",
		"defaults":   "testdata/defaults",   // defaults for all services
		"patched":    "testdata/patched",    // patches in all places
		"registered": "testdata/registered", // users, queues and endpoints
		"later":      "testdata/later",      // objects that depend on unread data
		"logging":    "testdata/logging",    // logs of nodes
		"sidecars":   "testdata/sidecars",   // logs of pods
	}
	for name, dir := range cases {
		t.Run(name, func(t *testing.T) {
			objects := render(t, load(t, dir), facts())
			path := filepath.Join("testdata", name+".golden.yaml")
			golden.Compare(t, path, dump(t, objects))
			delete(unused, path)
		})
	}
	for file := range unused {
		t.Errorf("%s belongs to no case", file)
	}
}

// TestCheck checks that Check reports the same diagnostics as Render, and counts the same objects.
func TestCheck(t *testing.T) {
	few := facts()
	few.Nodes = few.Nodes[:1]
	for name, f := range map[string]openstack.Facts{"right": facts(), "nodes missing": few} {
		for _, dir := range []string{"../../examples/multinode", "testdata/wide", "testdata/secrets", "testdata/later"} {
			config := load(t, dir)
			objects, want := openstack.Render(config, f)
			count, got := openstack.Check(config, f)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: diagnostics (-rendered +checked):\n%s", name, dir, diff)
			}
			if count != len(objects) {
				t.Errorf("%s, %s: %d objects, rendered %d", name, dir, count, len(objects))
			}
		}
	}
	config := load(t, "testdata/wide")
	config.Manifests = append(config.Manifests, config.Manifests[0])
	config.Manifests[0].Block = "manifest.first"
	_, diags := openstack.Check(config, facts())
	if text := errors.Join(diags.Errs()...).Error(); !strings.Contains(text, "Two declarations of one object") || !regexp.MustCompile(`by manifest\.first \(\S+:\d+\) and by manifest\.\S+ \(\S+:\d+\)`).MatchString(text) {
		t.Errorf("two objects of one name: %v", diags)
	}
}

// TestDeterministic checks that rendering the same cloud always gives the same objects.
func TestDeterministic(t *testing.T) {
	want := dump(t, render(t, load(t, "testdata/wide"), facts()))
	for range 20 {
		if diff := cmp.Diff(string(want), string(dump(t, render(t, load(t, "testdata/wide"), facts())))); diff != "" {
			t.Fatalf("rendered otherwise the second time (-first +second):\n%s", diff)
		}
	}
}

// TestDependencies checks that every dependency is an object of the same rendering, and that there
// are no cycles.
func TestDependencies(t *testing.T) {
	objects := render(t, load(t, "testdata/wide"), facts())
	known := map[addrs.Object]providers.Object{}
	for _, o := range objects {
		known[o.Address] = o
	}
	var visit func(path []addrs.Object, a addrs.Object)
	done := map[addrs.Object]bool{}
	visit = func(path []addrs.Object, a addrs.Object) {
		if slices.Contains(path, a) {
			t.Fatalf("cycle: %v → %v", path, a)
		}
		if done[a] {
			return
		}
		done[a] = true
		o, ok := known[a]
		if !ok {
			t.Fatalf("%v depends on %s, which is not rendered", path, a)
		}
		for _, d := range o.DependsOn {
			visit(append(path, a), d)
		}
	}
	for _, o := range objects {
		visit(nil, o.Address)
	}
}

// TestOrder checks the order of the objects of a service that has every kind of block.
func TestOrder(t *testing.T) {
	objects := render(t, load(t, "testdata/wide"), facts())
	before := func(first, second string) {
		t.Helper()
		if !reaches(objects, find(t, objects, second).Address, find(t, objects, first).Address) {
			t.Errorf("%s does not wait for %s", second, first)
		}
	}
	before("Namespace/cloud", "Secret/gate-keys")
	before("Secret/gate-db-ledger", "Job/gate-db-ledger-create")
	before("StatefulSet/mariadb-server", "Job/gate-db-ledger-create")
	before("Job/gate-db-ledger-create", "Job/gate-migrate")
	before("Job/gate-migrate", "Deployment/gate-web")
	before("Service/gate", "Deployment/gate-web")
	before("Deployment/gate-web", "Job/gate-announce")
	before("Job/gate-announce", "ConfigMap/note")
	before("Node/n1", "DaemonSet/gate-agent")
}

// TestNothingSecret checks that no object that may be stored contains a secret value.
func TestNothingSecret(t *testing.T) {
	objects := render(t, load(t, "testdata/wide"), facts())
	for _, secret := range []string{"not-a-real-license", "not-a-real-password"} {
		if text := string(dump(t, objects)); strings.Contains(text, secret) {
			t.Errorf("%q is in the objects", secret)
		}
	}
	brought := find(t, objects, "Secret/elsewhere/brought")
	if got := brought.Data["password"].Parts; len(got) != 1 || got[0].Sensitive != "not-a-real-password" {
		t.Errorf("the value of a brought Secret is lost: %v", got)
	}
}

// TestOnlyWhatReadsAFileChanges checks that a changed value makes a new version of one file, and
// changes only the workloads that mount the file.
func TestOnlyWhatReadsAFileChanges(t *testing.T) {
	before := render(t, load(t, "testdata/wide"), facts())
	config := load(t, "testdata/wide")
	for i, s := range config.Services {
		for j, c := range s.Configs {
			if c.Name == "public.ini" {
				config.Services[i].Configs[j].Options[0].Values = []configs.Text{configs.Plain("http://elsewhere")}
			}
		}
	}
	after := render(t, config, facts())
	var changed []string
	for i := range before {
		if diff := cmp.Diff(before[i].Manifest.Object, after[i].Manifest.Object); diff != "" {
			changed = append(changed, strings.TrimPrefix(logical(before[i]), "service.gate/"))
		}
	}
	slices.Sort(changed)
	want := []string{"ConfigMap/gate-public.ini", "DaemonSet/gate-agent", "Deployment/gate-web"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed objects (-want +got):\n%s", diff)
	}
}

// TestRevisions checks that, if a Secret gets a new revision, the objects derived from it get new
// names, and no others.
func TestRevisions(t *testing.T) {
	before := render(t, load(t, "testdata/wide"), facts())
	rotated := facts()
	rotated.Revision = func(a addrs.Object, namespace, name string, given map[string]string) string {
		if name == "gate-db-ledger" {
			return "rotated"
		}
		return facts().Revision(a, namespace, name, given)
	}
	after := render(t, load(t, "testdata/wide"), rotated)
	var renamed []string
	for i := range before {
		if before[i].Address != after[i].Address {
			renamed = append(renamed, before[i].Family.Kind+"/"+before[i].Family.Name)
		}
	}
	slices.Sort(renamed)
	want := []string{
		"Job/gate-db-ledger-create", "Job/gate-migrate", "Secret/gate-db-ledger-create-env", "Secret/gate.conf",
	}
	if diff := cmp.Diff(want, renamed); diff != "" {
		t.Errorf("renamed objects (-want +got):\n%s", diff)
	}
}

// TestRevisionsOfMountedSecrets checks that a job that mounts a Secret runs again when the values
// of the Secret change. Such jobs set passwords of users in Keystone, in databases and in queues.
func TestRevisionsOfMountedSecrets(t *testing.T) {
	rotated := facts()
	rotated.Revision = func(addrs.Object, string, string, map[string]string) string { return "rotated" }
	before, after := render(t, load(t, "testdata/registered"), facts()), render(t, load(t, "testdata/registered"), rotated)
	again := map[string]bool{}
	for i, o := range before {
		if o.IsJob() {
			again[o.Family.Name] = after[i].Family == o.Family && after[i].Address != o.Address
		}
	}
	for _, job := range []string{"keystone-bootstrap", "keystone-db-create", "stack-queue-create", "stack-register-users"} {
		if !again[job] {
			t.Errorf("%s does not run again: %v", job, again)
		}
	}
}

// TestRoles checks the errors for roles that the cluster cannot satisfy.
func TestRoles(t *testing.T) {
	cases := map[string]struct {
		nodes []openstack.Node
		want  string
	}{
		"unknown node": {
			nodes: []openstack.Node{{Name: "n1"}, {Name: "n22", Labels: map[string]string{"zone": "edge"}}},
			want:  `If it was taken out of the cluster for good, take it out of nodes here`,
		},
		"no match": {
			nodes: []openstack.Node{{Name: "n1"}, {Name: "n2", Labels: map[string]string{"zone": "core"}}},
			want:  `Role "edge" matches no node`,
		},
		"empty cluster": {
			nodes: []openstack.Node{},
			want:  `Role "edge" matches no node`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.Nodes = c.nodes
			_, diags := rendered(load(t, "testdata/wide"), f)
			if !strings.Contains(diags.Error(), c.want) {
				t.Errorf("got %v, want %q", diags, c.want)
			}
			for _, d := range diags {
				if d.Severity == hcl.DiagError && d.Subject == nil {
					t.Errorf("no place for %q", d.Summary)
				}
			}
		})
	}
}

// TestDeferred checks that objects that depend on unread data list the data, and that their names
// contain no hash of placeholders. All other objects must not change.
func TestDeferred(t *testing.T) {
	objects := render(t, load(t, "testdata/later"), facts())
	want := map[string][]string{
		"ConfigMap/app.conf":             {"data.registry"},
		"Secret/app.conf-secrets":        {"data.credentials"},
		"Secret/app.conf-secrets-inputs": {"data.credentials"},
		"Secret/app-server-env":          {"data.credentials"},
		"Secret/app-server-env-inputs":   {"data.credentials"},
		"Job/app-prepare":                {"data.credentials", "data.registry"},
		"Deployment/app-server":          {"data.credentials", "data.registry"},
		"Secret/copy":                    {"data.credentials"},
		"Secret/whole":                   {"data.credentials"},
		"ConfigMap/app-known.conf":       nil,
		"Job/app-known":                  nil,
		"Deployment/app-other":           nil,
		"Secret/app-token":               nil,
		"Secret/shared":                  {"data.credentials"},
		"Secret/app-reader-env":          {"data.credentials"},
		"Deployment/app-reader":          {"data.credentials"},
	}
	for name, data := range want {
		o := find(t, objects, name)
		if diff := cmp.Diff(data, o.Deferred); diff != "" {
			t.Errorf("%s waits for (-want +got):\n%s", name, diff)
		}
		versioned := o.Family != (addrs.Object{})
		if unknown := strings.HasSuffix(o.Address.Name, "-"+providers.UnknownVersion); unknown != (versioned && data != nil) {
			t.Errorf("%s is named %s", name, o.Address.Name)
		}
	}
}

func load(t *testing.T, dir string) *configs.Config {
	t.Helper()
	config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return config
}

// facts returns the facts about a cluster before the first apply.
func facts() openstack.Facts {
	f := openstack.Offline()
	hypervisor := map[string]string{"node.kubernetes.io/instance-type": "hypervisor", "zone": "edge"}
	f.Nodes = []openstack.Node{
		{Name: "node-1"},
		{Name: "ctl-1"},
		{Name: "ctl-2"},
		{Name: "ctl-3"},
		{Name: "n1"},
		{Name: "cmp-1", Labels: hypervisor},
		{Name: "cmp-2", Labels: hypervisor},
		{Name: "n2", Labels: hypervisor},
	}
	return f
}

func render(t *testing.T, config *configs.Config, f openstack.Facts) []providers.Object {
	t.Helper()
	objects, diags := rendered(config, f)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return objects
}

// logical returns the address of an object without the hash in its name.
func logical(o providers.Object) string {
	if o.Family != (addrs.Object{}) {
		return o.Family.String()
	}
	return o.Address.String()
}

func find(t *testing.T, objects []providers.Object, suffix string) providers.Object {
	t.Helper()
	for _, o := range objects {
		if strings.HasSuffix(logical(o), "/"+suffix) {
			return o
		}
	}
	t.Fatalf("no object %s", suffix)
	return providers.Object{}
}

func reaches(objects []providers.Object, from, to addrs.Object) bool {
	if from == to {
		return true
	}
	for _, o := range objects {
		if o.Address == from {
			return slices.ContainsFunc(o.DependsOn, func(d addrs.Object) bool { return reaches(objects, d, to) })
		}
	}
	return false
}

// dump prints objects with all of their fields but Registers, which repeats a part of the manifest:
// TestRegisters compares them.
func dump(t *testing.T, objects []providers.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, o := range objects {
		o.Registers = nil
		o.Source = filepath.Base(o.Source)
		if o.Within != "" {
			o.Within = filepath.Base(o.Within)
		}
		for name, place := range o.Places {
			o.Places[name] = filepath.Base(place)
		}
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "---\n%s", text)
	}
	return b.Bytes()
}

// TestScripts checks that definitions contain no long scripts, because neither shellcheck nor a
// test would read them there.
func TestScripts(t *testing.T) {
	names, err := fs.Glob(openstack.Catalogue(), "*.hcl")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	heredoc := regexp.MustCompile(`(?s)<<-?([A-Z]+)\n(.*?)\n\s*([A-Z]+)\n`)
	for _, name := range names {
		source, err := fs.ReadFile(openstack.Catalogue(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range heredoc.FindAllSubmatch(source, -1) {
			if lines := strings.Count(string(found[2]), "\n") + 1; lines > 5 {
				t.Errorf("%s: a text of %d lines stands in it: move it to a file, and read that with file(\"${path.module}/...\")", name, lines)
			}
		}
	}
}
