// Package arch checks which package may import which, and what the documents say of the
// code.
package arch_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "kolla.openstack.org/kolla"

// allowed lists, for every package, which of ours it may import.
var allowed = map[string][]string{
	"cmd/kolla": {"internal/cli"},
	"lang": {
		"lang/functions", "lang/internal/diag", "lang/internal/source", "lang/ini", "lang/mark", "lang/schema", "lang/syntax", "lang/yaml", "internal/dag", "internal/words",
	},
	"lang/internal/diag":          {"internal/words"},
	"lang/internal/source":        {"lang/internal/diag", "lang/schema", "lang/syntax", "internal/files", "internal/words"},
	"lang/schema":                 {},
	"lang/escape":                 {},
	"lang/syntax":                 {"internal/files"},
	"lang/functions":              {"lang/escape", "lang/mark", "lang/syntax", "lang/yaml", "internal/files", "internal/words"},
	"lang/mark":                   {},
	"lang/ini":                    {},
	"lang/yaml":                   {},
	"lang/draft":                  {"lang/syntax"},
	"providers":                   {"providers/kinds", "lang", "lang/escape", "internal/crash"},
	"providers/kinds":             {},
	"providers/secrets":           {"providers", "lang", "lang/escape"},
	"providers/openstack":         {"providers", "providers/kinds", "providers/secrets", "lang", "lang/escape", "internal/words"},
	"providers/openstack/options": {"lang", "internal/words"},
	"providers/haproxy":           {"lang", "internal/words"},
	"state":                       {"internal/files"},
	"planner":                     {"lang", "planner/dryrun", "planner/fields", "planner/internal/cutoff", "planner/internal/decision", "planner/internal/impact", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/removal", "planner/internal/selection", "planner/internal/sides", "planner/output", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "state"},
	"planner/dryrun":              {"planner/fields", "planner/plans", "providers", "providers/kinds", "internal/crd"},
	"planner/extract":             {},
	"planner/fields":              {"planner/plans", "planner/proof", "lang", "providers", "providers/kinds"},
	"planner/order":               {"lang", "providers", "providers/kinds", "internal/dag"},
	"planner/output":              {"lang", "state"},
	"planner/plans":               {"planner/extract", "planner/output", "lang", "lang/ini", "providers", "providers/kinds", "state", "internal/dag", "internal/files", "internal/words"},
	"planner/proof":               {"providers", "providers/kinds", "state", "internal/crash"},
	"planner/trust":               {"providers", "providers/kinds", "providers/secrets", "state", "lang"},
	"examples":                    {},
	"internal/executor":           {"planner/fields", "planner/order", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "providers/secrets", "state", "internal/crash", "internal/dag", "internal/words", "lang"},
	"internal/crash":              {},
	"internal/crd":                {},
	"internal/files":              {},
	"internal/approval":           {"planner/order", "planner/plans", "providers", "lang", "internal/executor", "internal/words"},
	"internal/dag":                {},
	"internal/foreign":            {},
	"internal/notices":            {},
	"internal/rights":             {"lang", "providers", "providers/kinds", "state"},
	"internal/words":              {},
	"internal/content":            {"planner/plans", "providers", "providers/kinds"},
	"internal/listdiff":           {},
	"internal/view":               {"planner/output", "planner/plans", "state", "lang", "lang/mark", "providers", "internal/content", "internal/foreign", "internal/listdiff", "internal/words"},
	"internal/cli": {
		"lang", "lang/draft", "lang/syntax", "providers", "providers/kinds", "providers/secrets", "providers/openstack", "providers/openstack/options", "providers/kubernetes", "providers/haproxy", "state", "planner", "planner/fields", "planner/output", "planner/plans", "planner/trust",
		"examples", "internal/approval", "internal/crash", "internal/executor", "internal/files", "internal/foreign", "internal/notices", "internal/rights", "internal/view", "internal/words",
	},
	"internal/clustertest": {},
	"internal/objecttest":  {},
	"planner/live":         {}, // tests only
	"internal/oslotables":  {"providers/openstack/options"},
	"internal/release":     {},
	"internal/realcloud":   {}, // tests only
	"internal/arch":        {},

	"providers/kubernetes": {
		"providers", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/dryrun", "providers/kubernetes/internal/list",
		"providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources", "providers/kubernetes/internal/write",
	},
	"providers/kubernetes/internal/connect":   {"providers", "internal/crash", "internal/files"},
	"providers/kubernetes/internal/resources": {"providers", "providers/kubernetes/internal/connect"},
	"providers/kubernetes/internal/watch":     {"providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/write":     {"providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/dryrun", "providers/kubernetes/internal/resources", "providers/kubernetes/internal/watch"},

	// The stages of a plan.
	"planner/internal/inventory":   {"internal/crash", "internal/words", "lang", "planner/fields", "planner/internal/objects", "planner/order", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "state"},
	"planner/internal/selection":   {"internal/words", "lang", "planner/internal/inventory", "planner/plans", "providers", "providers/kinds"},
	"planner/internal/objects":     {"providers", "providers/kinds"},
	"planner/internal/cutoff":      {"internal/crash", "planner/plans", "providers"},
	"planner/internal/decision":    {"internal/crash", "internal/foreign", "internal/words", "lang", "planner/dryrun", "planner/fields", "planner/internal/blame", "planner/internal/inventory", "planner/internal/lifecycle", "planner/internal/objects", "planner/internal/outcome", "planner/internal/selection", "planner/internal/trial", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "providers/secrets", "state"},
	"planner/internal/impact":      {"internal/words", "lang", "lang/ini", "planner/fields", "planner/internal/cutoff", "planner/internal/inventory", "planner/internal/lifecycle", "planner/internal/objects", "planner/internal/outcome", "planner/internal/podsecurity", "planner/internal/removal", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/lifecycle":   {"lang", "planner/fields", "providers"},
	"planner/internal/podsecurity": {"providers", "providers/kinds"},
	"planner/internal/removal":     {"internal/words", "lang", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/objects", "planner/internal/outcome", "planner/internal/selection", "planner/order", "planner/plans", "planner/trust", "providers", "providers/kinds"},
	"planner/internal/sides":       {"internal/crash", "lang", "planner/dryrun", "planner/extract", "planner/fields", "planner/internal/decision", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/removal", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/trial":       {"internal/words", "lang", "planner/dryrun", "planner/internal/inventory", "planner/internal/podsecurity", "planner/plans", "providers", "providers/kinds"},
	"planner/internal/blame":       {"planner/fields", "planner/plans"},
	"planner/internal/outcome":     {"internal/words", "lang", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/objects", "planner/internal/trial", "planner/plans", "planner/trust", "providers", "providers/kinds"},
}

// heavy are modules that kolla's own must not pull in.
var heavy = []string{"k8s.io/kubernetes", "k8s.io/apiserver", "sigs.k8s.io/controller-runtime", "helm.sh/helm"}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the table: decide what it may import", name)
			continue
		}
		for _, path := range p.Imports {
			ours, ok := strings.CutPrefix(path, module+"/")
			if ok && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s; it may import only %v of ours", name, ours, may)
			}
		}
		for _, path := range p.Deps {
			for _, h := range heavy {
				if path == h || strings.HasPrefix(path, h+"/") {
					t.Errorf("%s depends on %s, which is too heavy for it", name, path)
				}
			}
		}
	}
}

// TestOneDoorToTheCluster checks that only providers/kubernetes and its internal packages
// talk to a cluster.
func TestOneDoorToTheCluster(t *testing.T) {
	doors := []string{
		"k8s.io/client-go/dynamic", "k8s.io/client-go/kubernetes", "k8s.io/client-go/rest",
		"k8s.io/client-go/discovery", "k8s.io/client-go/tools",
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == "providers/kubernetes" || strings.HasPrefix(name, "providers/kubernetes/internal/") || name == "internal/clustertest" {
			continue
		}
		for _, path := range p.Imports {
			isDoor := func(door string) bool { return path == door || strings.HasPrefix(path, door+"/") }
			if path == "k8s.io/client-go/kubernetes/scheme" { // types only
				continue
			}
			if slices.ContainsFunc(doors, isDoor) {
				t.Errorf("%s imports %s; only providers/kubernetes talks to a cluster", name, path)
			}
		}
	}
}

// TestOneWriter checks that only providers/kubernetes/internal/write calls a client's methods
// that change objects. Package dryrun calls them too, each time with DryRunAll.
func TestOneWriter(t *testing.T) {
	const client = "providers/kubernetes/internal/"
	changes := regexp.MustCompile(`\.(Create|Update|UpdateStatus|Patch|Apply|ApplyStatus|Delete|DeleteCollection|Put|Post)\(`)
	files, err := filepath.Glob(filepath.Join(root, client+"*/*.go"))
	front, frontErr := filepath.Glob(filepath.Join(root, "providers/kubernetes/*.go"))
	if err := errors.Join(err, frontErr); err != nil || len(files) == 0 || len(front) == 0 {
		t.Fatalf("found no files: %v", err)
	}
	writes := 0
	for _, file := range append(files, front...) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		text := read(t, name)
		calls := len(changes.FindAllString(text, -1))
		switch {
		case strings.HasSuffix(name, "_test.go"):
		case strings.HasPrefix(name, client+"write/"):
			writes += calls
		case name == client+"connect/exec.go": // the URL of a command
			calls -= strings.Count(text, ".Post().Resource(\"pods\")")
			fallthrough
		default:
			if calls != strings.Count(text, "DryRunAll") {
				t.Errorf("%s has %d calls that may change objects", name, calls)
			}
		}
	}
	if writes == 0 {
		t.Error("found no call that changes objects: the pattern is wrong")
	}
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	output, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < len(allowed) {
		t.Errorf("found %d packages, the table has %d: remove what is gone", len(all), len(allowed))
	}
	return all
}
