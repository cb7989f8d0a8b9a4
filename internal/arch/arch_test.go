// Package arch checks which package may import which, and what the documents say of the
// code.
package arch_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
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
	"cmd/kolla":                               {"internal/cli"},
	"lang":                                    {"internal/words", "lang/configs", "lang/functions", "lang/internal/blocks", "lang/internal/budget", "lang/internal/check", "lang/internal/diag", "lang/internal/eval", "lang/internal/graph", "lang/internal/moves", "lang/internal/services", "lang/internal/settings", "lang/internal/source", "lang/internal/values", "lang/internal/variables", "lang/mark", "lang/schema", "lang/syntax"},
	"lang/addrs":                              {},
	"lang/catalogue":                          {"lang/addrs", "lang/configs", "lang/internal/diag", "lang/internal/source", "lang/internal/values", "lang/schema"},
	"lang/configs":                            {"internal/words", "lang/addrs", "lang/internal/diag", "lang/mark"},
	"lang/draft":                              {"lang/syntax"},
	"lang/escape":                             {},
	"lang/functions":                          {"internal/files", "internal/words", "lang/escape", "lang/internal/budget", "lang/mark", "lang/syntax", "lang/yaml"},
	"lang/ini":                                {},
	"lang/internal/blocks":                    {"internal/words", "lang/addrs", "lang/configs", "lang/functions", "lang/internal/budget", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema", "lang/schema/forms", "lang/syntax", "lang/yaml"},
	"lang/internal/budget":                    {},
	"lang/internal/check":                     {"internal/words", "lang/addrs", "lang/configs", "lang/internal/blocks", "lang/internal/diag", "lang/internal/eval", "lang/internal/settings", "lang/internal/source", "lang/schema", "lang/schema/forms"},
	"lang/internal/diag":                      {"internal/words"},
	"lang/internal/eval":                      {"internal/words", "lang/addrs", "lang/configs", "lang/functions", "lang/internal/budget", "lang/internal/diag", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema", "lang/syntax"},
	"lang/internal/graph":                     {"internal/dag", "internal/words", "lang/addrs", "lang/configs", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/internal/values", "lang/schema"},
	"lang/internal/langtest":                  {"lang/functions", "lang/internal/budget", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/syntax"},
	"lang/internal/moves":                     {"internal/words", "lang/addrs", "lang/configs", "lang/internal/diag", "lang/internal/eval", "lang/internal/graph", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema"},
	"lang/internal/pods":                      {"internal/words", "lang/configs", "lang/internal/blocks", "lang/internal/diag", "lang/internal/eval", "lang/internal/settings", "lang/internal/source", "lang/mark", "lang/schema"},
	"lang/internal/services":                  {"internal/words", "lang/addrs", "lang/catalogue", "lang/configs", "lang/internal/blocks", "lang/internal/check", "lang/internal/diag", "lang/internal/eval", "lang/internal/graph", "lang/internal/moves", "lang/internal/pods", "lang/internal/settings", "lang/internal/source", "lang/internal/values", "lang/internal/variables", "lang/mark", "lang/schema"},
	"lang/internal/settings":                  {"internal/words", "lang/configs", "lang/functions", "lang/ini", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/syntax"},
	"lang/internal/source":                    {"internal/files", "internal/words", "lang/internal/diag", "lang/schema", "lang/syntax"},
	"lang/internal/values":                    {"internal/words", "lang/configs", "lang/internal/budget", "lang/internal/diag", "lang/mark", "lang/syntax"},
	"lang/internal/variables":                 {"internal/words", "lang/configs", "lang/internal/budget", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema", "lang/syntax"},
	"lang/mark":                               {},
	"lang/schema":                             {"lang/schema/forms"},
	"lang/schema/forms":                       {"lang/addrs"},
	"lang/syntax":                             {"internal/files", "internal/words", "lang/internal/budget"},
	"lang/yaml":                               {"lang/configs"},
	"providers":                               {"internal/crash", "lang/addrs", "lang/escape", "providers/kinds"},
	"providers/haproxy":                       {"internal/words", "lang/configs"},
	"providers/kinds":                         {},
	"providers/kubernetes":                    {"providers", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/dryrun", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources", "providers/kubernetes/internal/write"},
	"providers/kubernetes/internal/connect":   {"internal/crash", "internal/files", "internal/redaction", "providers"},
	"providers/kubernetes/internal/dryrun":    {"providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/list":      {"internal/crash", "providers", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/readiness": {"internal/words", "providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/list", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/resources": {"providers", "providers/kubernetes/internal/connect"},
	"providers/kubernetes/internal/watch":     {"providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/write":     {"internal/words", "providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/dryrun", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources", "providers/kubernetes/internal/watch"},
	"providers/openstack":                     {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/files", "providers/openstack/internal/lifecycle", "providers/openstack/internal/manifests", "providers/openstack/internal/namespace", "providers/openstack/internal/network", "providers/openstack/internal/nodes", "providers/openstack/internal/object", "providers/openstack/internal/patch", "providers/openstack/internal/pods", "providers/openstack/internal/runs", "providers/openstack/internal/secret", "providers/openstack/internal/security", "providers/openstack/internal/uwsgi", "providers/openstack/internal/workloads", "providers/secrets"},
	"providers/openstack/internal/files":      {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/object", "providers/openstack/internal/secret"},
	"providers/openstack/internal/lifecycle":  {"internal/words", "lang/addrs", "lang/configs", "providers/openstack/internal/object"},
	"providers/openstack/internal/manifests":  {"lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/namespace", "providers/openstack/internal/object", "providers/openstack/internal/security"},
	"providers/openstack/internal/namespace":  {"internal/podsecurity", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/object"},
	"providers/openstack/internal/network":    {"lang/configs", "providers", "providers/openstack/internal/nodes", "providers/openstack/internal/object"},
	"providers/openstack/internal/nodes":      {"internal/words", "lang/addrs", "lang/configs", "providers", "providers/openstack/internal/object"},
	"providers/openstack/internal/object":     {"lang/addrs", "lang/configs", "providers"},
	"providers/openstack/internal/patch":      {"internal/words", "lang/configs", "providers", "providers/openstack/internal/object", "providers/openstack/internal/security"},
	"providers/openstack/internal/pods":       {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/files", "providers/openstack/internal/nodes", "providers/openstack/internal/object", "providers/openstack/internal/secret"},
	"providers/openstack/internal/runs":       {"lang/addrs", "lang/configs", "providers/openstack/internal/object"},
	"providers/openstack/internal/secret":     {"lang/addrs", "lang/configs", "lang/escape", "providers", "providers/openstack/internal/object", "providers/secrets"},
	"providers/openstack/internal/security":   {"internal/podsecurity", "internal/words", "lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/object", "providers/openstack/internal/runs"},
	"providers/openstack/internal/uwsgi":      {"lang/configs"},
	"providers/openstack/internal/workloads":  {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/nodes", "providers/openstack/internal/object", "providers/openstack/internal/patch", "providers/openstack/internal/pods", "providers/openstack/internal/runs", "providers/openstack/internal/security"},
	"providers/openstack/options":             {"internal/words", "lang/configs"},
	"providers/secrets":                       {"lang/addrs", "lang/configs", "lang/escape", "providers"},
	"state":                                   {"internal/files"},
	"state/cluster":                           {"internal/crash", "state"},
	"planner":                                 {"lang/addrs", "lang/configs", "planner/dryrun", "planner/fields", "planner/internal/cutoff", "planner/internal/decision", "planner/internal/impact", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/removal", "planner/internal/rendering", "planner/internal/selection", "planner/internal/sides", "planner/output", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "state"},
	"planner/dryrun":                          {"internal/crd", "planner/fields", "planner/plans", "providers", "providers/kinds"},
	"planner/extract":                         {},
	"planner/fields":                          {"lang/addrs", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/additions":              {"internal/foreign", "planner/dryrun", "planner/fields", "planner/internal/lifecycle", "planner/plans", "planner/proof", "providers", "providers/kinds", "state"},
	"planner/internal/blame":                  {"planner/fields", "planner/plans", "providers"},
	"planner/internal/cutoff":                 {"internal/crash", "planner/plans", "providers"},
	"planner/internal/decision":               {"internal/crash", "internal/words", "lang/addrs", "lang/configs", "planner/dryrun", "planner/fields", "planner/internal/additions", "planner/internal/blame", "planner/internal/inventory", "planner/internal/lifecycle", "planner/internal/objects", "planner/internal/outcome", "planner/internal/ownership", "planner/internal/selection", "planner/internal/trial", "planner/internal/volumes", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "providers/secrets", "state"},
	"planner/internal/impact":                 {"internal/podsecurity", "internal/words", "lang/addrs", "lang/ini", "planner/fields", "planner/internal/cutoff", "planner/internal/inventory", "planner/internal/lifecycle", "planner/internal/objects", "planner/internal/outcome", "planner/internal/removal", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/inventory":              {"internal/crash", "internal/words", "lang/addrs", "lang/configs", "planner/fields", "planner/internal/objects", "planner/order", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "state"},
	"planner/internal/lifecycle":              {"lang/addrs", "planner/fields", "providers"},
	"planner/internal/objects":                {"providers", "providers/kinds"},
	"planner/internal/outcome":                {"internal/words", "lang/addrs", "planner/fields", "planner/internal/inventory", "planner/internal/objects", "planner/plans", "planner/trust", "providers", "providers/kinds"},
	"planner/internal/ownership":              {"internal/foreign", "internal/words", "planner/fields", "planner/internal/lifecycle", "planner/internal/objects", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/removal":                {"internal/words", "lang/addrs", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/objects", "planner/internal/outcome", "planner/internal/selection", "planner/order", "planner/plans", "planner/trust", "providers", "providers/kinds"},
	"planner/internal/rendering":              {"lang/addrs", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/objects", "planner/internal/outcome", "planner/internal/selection", "planner/plans", "providers", "providers/kinds", "state"},
	"planner/internal/selection":              {"internal/words", "lang/addrs", "planner/internal/inventory", "planner/plans", "providers", "providers/kinds"},
	"planner/internal/sides":                  {"internal/crash", "lang/addrs", "planner/dryrun", "planner/extract", "planner/fields", "planner/internal/decision", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/removal", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/trial":                  {"internal/podsecurity", "internal/words", "lang/addrs", "planner/dryrun", "planner/internal/inventory", "planner/plans", "providers", "providers/kinds"},
	"planner/internal/volumes":                {"internal/words", "planner/dryrun", "planner/internal/inventory", "planner/internal/objects", "planner/internal/outcome", "planner/plans", "providers", "providers/kinds"},
	"planner/live":                            {}, // tests only
	"planner/order":                           {"internal/dag", "lang/addrs", "providers", "providers/kinds"},
	"planner/output":                          {"lang/configs", "state"},
	"planner/plans":                           {"internal/dag", "internal/files", "internal/words", "lang/addrs", "lang/configs", "lang/ini", "planner/extract", "planner/output", "providers", "providers/kinds", "state"},
	"planner/proof":                           {"internal/crash", "providers", "providers/kinds", "state"},
	"planner/trust":                           {"lang/addrs", "providers", "providers/kinds", "providers/secrets", "state"},
	"examples":                                {},
	"internal/adoption":                       {"lang/addrs", "lang/draft", "planner", "planner/plans", "providers", "providers/kinds", "providers/kubernetes"},
	"internal/annotations":                    {"internal/failure", "internal/files", "internal/foreign", "internal/report", "internal/words", "lang/configs", "planner/plans"},
	"internal/approval":                       {"internal/executor", "internal/redaction", "internal/words", "lang/addrs", "lang/configs", "planner/order", "planner/output", "planner/plans", "providers", "providers/kinds", "state"},
	"internal/arch":                           {},
	"internal/cli":                            {"examples", "internal/cli/change", "internal/cli/command", "internal/cli/inspect", "internal/cli/statecmd", "internal/compat", "internal/completion", "internal/crash", "internal/explain", "internal/failure", "internal/files", "internal/foreign", "internal/format", "internal/jsonview", "internal/logs", "internal/notices", "internal/redaction", "internal/view"},
	"internal/cli/change":                     {"internal/adoption", "internal/cli/command", "internal/engine", "internal/executor", "internal/explain", "internal/failure", "internal/files", "internal/foreign", "internal/jsonview", "internal/rollout", "internal/view", "internal/words", "lang/addrs", "lang/configs", "planner/plans", "providers", "state"},
	"internal/cli/command":                    {"internal/annotations", "internal/compat", "internal/console", "internal/crash", "internal/engine", "internal/explain", "internal/failure", "internal/files", "internal/foreign", "internal/publish", "internal/redaction", "internal/view", "internal/view/screen", "internal/words", "lang", "lang/addrs", "lang/configs", "providers/kubernetes", "providers/openstack", "state", "state/cluster"},
	"internal/cli/inspect":                    {"internal/cli/command", "internal/console", "internal/drift", "internal/engine", "internal/failure", "internal/files", "internal/foreign", "internal/graph", "internal/jsonview", "internal/notify", "internal/publish", "internal/report", "internal/revision", "internal/rights", "internal/view", "internal/view/html", "internal/view/markdown", "internal/view/screen", "internal/view/tables", "internal/words", "lang", "lang/catalogue", "lang/configs", "planner/plans", "providers", "providers/haproxy", "providers/kubernetes", "providers/openstack", "providers/openstack/options", "state"},
	"internal/cli/live":                       {}, // tests only
	"internal/cli/statecmd":                   {"internal/cli/command", "internal/failure", "internal/files", "internal/foreign", "internal/view", "internal/view/tables", "internal/words", "lang/addrs", "planner", "providers", "state"},
	"internal/clustertest":                    {},
	"internal/compat":                         {},
	"internal/completion":                     {"internal/foreign", "lang", "lang/addrs", "providers/openstack", "state"},
	"internal/console":                        {"internal/foreign", "internal/view", "lang"},
	"internal/content":                        {"internal/podsecurity", "planner/plans", "providers", "providers/kinds"},
	"internal/crash":                          {},
	"internal/crd":                            {},
	"internal/dag":                            {},
	"internal/drift":                          {"internal/files", "internal/foreign", "internal/report", "internal/words", "lang/addrs", "planner/plans", "planner/trust", "providers", "providers/kinds", "state"},
	"internal/engine":                         {"internal/approval", "internal/crash", "internal/executor", "internal/failure", "internal/files", "internal/policy", "internal/redaction", "internal/upgrade", "internal/words", "lang", "lang/addrs", "lang/configs", "planner", "planner/extract", "planner/fields", "planner/output", "planner/plans", "planner/trust", "providers", "providers/kinds", "providers/kubernetes", "providers/openstack", "providers/openstack/options", "providers/secrets", "state"},
	"internal/executor":                       {"internal/crash", "internal/dag", "internal/words", "lang/addrs", "planner/fields", "planner/order", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "providers/secrets", "state"},
	"internal/explain":                        {"internal/approval", "internal/crash", "internal/engine", "internal/executor", "internal/failure", "internal/files", "internal/redaction", "internal/report/applied", "internal/words", "lang/configs", "planner/plans", "providers", "providers/kubernetes", "state"},
	"internal/failure":                        {},
	"internal/files":                          {"internal/failure"},
	"internal/foreign":                        {},
	"internal/format":                         {"internal/failure", "internal/files", "internal/foreign", "internal/view", "lang/syntax"},
	"internal/graph":                          {"lang/configs"},
	"internal/jsonview":                       {"internal/foreign", "internal/report", "internal/report/applied", "internal/report/effects", "internal/words", "lang", "lang/addrs", "lang/configs", "planner/output", "planner/plans", "providers", "state"},
	"internal/listdiff":                       {},
	"internal/golden":                         {"internal/textdiff"},
	"internal/logs":                           {"internal/failure", "internal/foreign", "providers/kubernetes"},
	"internal/notices":                        {},
	"internal/notify":                         {"internal/crash", "internal/failure"},
	"internal/npmtest":                        {},
	"internal/objecttest":                     {"lang/addrs"},
	"internal/oslotables":                     {"providers/openstack/options"},
	"internal/podsecurity":                    {"providers/kinds"},
	"internal/policy":                         {"internal/report", "lang/addrs", "lang/configs", "planner/plans"},
	"internal/publish":                        {"internal/failure", "internal/files", "internal/jsonview", "internal/report", "internal/view/html", "internal/view/markdown", "internal/view/screen", "internal/view/terminal", "internal/words", "planner/plans"},
	"internal/realcloud":                      {}, // tests only
	"internal/redaction":                      {},
	"internal/release":                        {},
	"internal/report":                         {"internal/content", "internal/foreign", "internal/listdiff", "internal/report/effects", "internal/textdiff", "internal/words", "lang/addrs", "planner/output", "planner/plans", "providers", "state"},
	"internal/report/applied":                 {"lang/addrs", "planner/plans"},
	"internal/report/effects":                 {"internal/words", "lang/addrs", "planner/plans"},
	"internal/revision":                       {"internal/failure", "internal/files"},
	"internal/rights":                         {"internal/foreign", "internal/words", "lang/configs", "providers", "providers/kinds", "providers/kubernetes", "state"},
	"internal/rollout":                        {"internal/crash", "internal/failure", "internal/words", "lang/addrs", "planner/plans", "providers", "providers/kubernetes", "state"},
	"internal/textdiff":                       {},
	"internal/upgrade":                        {"internal/words", "lang/configs", "planner/plans", "providers", "providers/kinds"},
	"internal/view":                           {"internal/annotations", "internal/foreign", "internal/jsonview", "internal/report", "internal/report/applied", "internal/view/screen", "internal/view/terminal", "internal/words", "lang", "lang/addrs", "lang/configs", "lang/mark", "planner/plans", "providers"},
	"internal/view/html":                      {"internal/drift", "internal/foreign", "internal/report", "internal/textdiff", "internal/words", "lang/addrs"},
	"internal/view/markdown":                  {"internal/drift", "internal/foreign", "internal/report", "internal/textdiff", "internal/words", "lang/addrs"},
	"internal/view/screen":                    {"internal/foreign"},
	"internal/view/tables":                    {"internal/drift", "internal/foreign", "internal/words", "lang/addrs", "lang/catalogue", "lang/configs", "state"},
	"internal/view/terminal":                  {"internal/content", "internal/foreign", "internal/report", "internal/textdiff", "internal/view/screen", "internal/words", "lang/addrs"},
	"internal/words":                          {},
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

// TestOneParser checks that only lang/syntax parses what may be nested: it refuses what
// would overflow the stack, which nothing survives.
func TestOneParser(t *testing.T) {
	found := 0
	inspect(t, "lang", func(f *ast.SelectorExpr, at token.Position) {
		from, _ := f.X.(*ast.Ident)
		if from == nil || from.Name != "hclsyntax" || f.Sel.Name != "ParseConfig" && f.Sel.Name != "ParseExpression" && f.Sel.Name != "ParseTemplate" {
			return
		}
		found++
		if at.Filename != filepath.Join(root, "lang/syntax/syntax.go") {
			t.Errorf("%s: %s is called; syntax.Expression and syntax.Template have bounds", at, f.Sel.Name)
		}
	})
	if found < 3 {
		t.Errorf("only %d calls of the parser are found", found)
	}
}

// inspect calls visit for each node of a type in the sources below a directory.
func inspect[N ast.Node](t *testing.T, dir string, visit func(n N, at token.Position)) {
	t.Helper()
	fset := token.NewFileSet()
	for _, name := range sources(t, dir) {
		file, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n, ok := n.(N); ok {
				visit(n, fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// sources are the Go files below directories that are no tests, with their paths from the root
// of the project.
func sources(t *testing.T, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				path, err = filepath.Rel(root, path)
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
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
