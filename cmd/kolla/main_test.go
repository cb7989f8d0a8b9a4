package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// withCluster runs tests with a real API server.
type withCluster struct{ m *testing.M }

func (w withCluster) Run() int {
	stop, err := startWorkers()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	return clustertest.Run(w.m)
}

func TestMain(m *testing.M) {
	testscript.Main(withCluster{m}, map[string]func(){
		"kolla":    func() { os.Exit(run()) },
		workerName: work,
		"kubectl":  func() { os.Exit(execKubectl()) },
	})
}

// TestScripts runs the scripts that specify the command line. Each script has its own namespace in
// $NS; its configuration files contain NAMESPACE instead. The examples are in $EXAMPLES.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, scriptFiles(t, "script"))
}

// TestScriptsAlone runs the scripts that break something for the whole cluster. They run one after
// another, before all tests that run in parallel.
func TestScriptsAlone(t *testing.T) {
	for _, file := range scriptFiles(t, "alone") {
		// testscript.Run runs its files in parallel; this t.Run waits for its file.
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			runScripts(t, []string{file})
		})
	}
}

// scriptFiles returns the scripts in the directory dir of testdata.
func scriptFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no scripts in testdata/%s", dir)
	}
	return files
}

func runScripts(t *testing.T, files []string) {
	t.Helper()
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			env.Setenv("KUBECONFIG", clustertest.Kubeconfig())
			env.Setenv("NS", namespaceOf(env.WorkDir))
			env.Setenv("EXAMPLES", examples)
			env.Setenv(clustertest.BinaryVariable, os.Getenv(clustertest.BinaryVariable))
			env.Setenv("HOME", env.WorkDir)
			for variable, value := range clustertest.Environment {
				env.Setenv(variable, value)
			}
			return nameNamespace(env.WorkDir, namespaceOf(env.WorkDir))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":        exits,
			"killed":       killed,
			"edit":         edit,
			"login":        login,
			"refusals":     refusals,
			"unused":       unused,
			"foreignstate": foreignState,
			"misplaced":    misplaced,
			"standards":    standards,
			"asapplied":    asApplied,
			"talkstls":     talksTLS,
			"signsssh":     signsSSH,
			"receiver":     receiver,
			"makesbackup":  makesBackup,
			"nowhere":      nowhere,
			"keystone":     startKeystone,
			"openstack":    startOpenStack,
			"mariadb":      startMariaDB,
			"rabbitmq":     startRabbitMQ,
			"gatewayapi":   gatewayAPI,
		},
		RequireUniqueNames: true,
	})
}

// nameNamespace writes the script's namespace into its configuration files.
func nameNamespace(dir, namespace string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".hcl" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "NAMESPACE", namespace)), 0o644)
	})
}

var unfit = regexp.MustCompile(`[^a-z0-9-]+`)

// namespaceOf makes the name of a namespace from the directory of a script.
func namespaceOf(dir string) string {
	name := strings.TrimPrefix(filepath.Base(dir), "script-")
	return "t-" + strings.Trim(unfit.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// execKubectl replaces this process by the kubectl in the binary of the local cluster.
func execKubectl() int {
	binary := os.Getenv(clustertest.BinaryVariable)
	err := syscall.Exec(binary, append([]string{binary, "kubectl"}, os.Args[1:]...), append(os.Environ(), "GOGC=off"))
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// exits runs a command and expects one exit code: exits 2 kolla plan.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s exited with %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// killed runs a command, and kills it when a line of its output contains TEXT:
// killed TEXT COMMAND...
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killed TEXT COMMAND...")
	}
	ts.Check(ts.Exec("sh", append([]string{"-c", killedScript, "sh"}, args...)...))
}

const killedScript = `
text=$1; shift
KOLLA_TEST_PROCESS=1 "$@" > killed.txt 2>&1 & # a worker would end a little later
until grep -q "$text" killed.txt; do
  kill -0 $! 2>/dev/null || { cat killed.txt; exit 1; }
  sleep 0.05
done
kill -KILL $!
wait $! 2>/dev/null
cat killed.txt
`

// edit replaces text in a file, which must have it: edit FILE OLD NEW.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	content := ts.ReadFile(args[0])
	if !strings.Contains(content, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(content, args[1], args[2], 1)), 0o644))
	fmt.Fprintf(ts.Stdout(), "edited %s\n", args[0])
}

// foreignState writes a state of a cluster that does not exist: foreignstate FILE.
func foreignState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: foreignstate FILE")
	}
	session, err := state.Open(ts.MkAbs(args[0])).Lock(context.Background(), state.LockInfo{Operation: "test"}, 0)
	ts.Check(err)
	ts.Check(session.Begin(state.Run{
		Cloud:   ts.Getenv("NS"),
		Cluster: state.Cluster{UID: "00000000-0000-0000-0000-000000000000", Server: "https://192.0.2.1:6443"},
	}))
	ts.Check(session.Record(state.Object{
		Address: "cloud.x/Namespace/x", APIVersion: "v1", Kind: "Namespace", Name: "x", UID: "1", Ready: true,
	}))
	ts.Check(session.Close())
}

// misplaced gives the record of a cluster-scoped object a namespace: misplaced ADDRESS NAMESPACE.
func misplaced(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: misplaced ADDRESS NAMESPACE")
	}
	session, err := state.Open(ts.MkAbs(state.DefaultFile)).Lock(context.Background(), state.LockInfo{Operation: "test"}, 0)
	ts.Check(err)
	record, known := session.Object(args[0])
	if !known || record.Namespace != "" {
		ts.Fatalf("the state has %+v", record)
	}
	ts.Check(session.Forget(args[0]))
	address, err := addrs.ParseObject(args[0])
	ts.Check(err)
	address.Namespace, record.Namespace = args[1], args[1]
	record.Address = address.String()
	ts.Check(session.Record(record))
	ts.Check(session.Close())
}

// asApplied splits the output of kolla render: asapplied RENDERED OBJECTS NODES. It writes the Nodes
// to NODES, because kolla owns only some of their fields, and all other objects to OBJECTS. It adds
// values that only the cluster has, such as values of Secrets and tokens.
func asApplied(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: asapplied RENDERED OBJECTS NODES")
	}
	var documents []*unstructured.Unstructured
	var rendered, objects, nodes strings.Builder
	for document := range strings.SplitSeq(ts.ReadFile(args[0]), "---\n") {
		u := &unstructured.Unstructured{}
		ts.Check(yaml.Unmarshal([]byte(document), &u.Object))
		switch u.GetKind() {
		case "":
			continue
		case "Node":
			fmt.Fprintf(&nodes, "---\n%s", document)
			continue
		}
		documents = append(documents, u)
		fmt.Fprintf(&rendered, "---\n%s", document)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(rendered.String()), 0o600))
	live := liveOf(ts, args[1])
	for _, u := range documents {
		found := live[nameOf(u)]
		if found == nil {
			ts.Fatalf("%s is not in the cluster", nameOf(u))
		}
		fmt.Fprintf(&objects, "---\n%s", withAdded(ts, u, found))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(objects.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(nodes.String()), 0o644))
}

// liveOf reads the objects of a file from the cluster, all with one kubectl.
func liveOf(ts *testscript.TestScript, file string) map[string]*unstructured.Unstructured {
	ts.Check(ts.Exec("kubectl", "get", "-f", file, "-o", "json"))
	list := &unstructured.UnstructuredList{}
	ts.Check(list.UnmarshalJSON([]byte(ts.ReadFile("stdout"))))
	live := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		live[nameOf(&list.Items[i])] = &list.Items[i]
	}
	return live
}

// nameOf names an object in a cluster.
func nameOf(u *unstructured.Unstructured) string {
	return strings.Join([]string{u.GetAPIVersion(), u.GetKind(), u.GetNamespace(), u.GetName()}, "/")
}

// addNodes adds the addresses of nodes, which render does not know, to a policy.
func addNodes(ts *testscript.TestScript, u, live *unstructured.Unstructured) {
	rules, _, err := unstructured.NestedSlice(u.Object, "spec", "ingress")
	ts.Check(err)
	known, _, err := unstructured.NestedSlice(live.Object, "spec", "ingress")
	ts.Check(err)
	for i := range min(len(rules), len(known)) {
		rule, peers := rules[i].(map[string]any), known[i].(map[string]any)["from"]
		all, _ := peers.([]any)
		for _, peer := range all {
			if from, ok := rule["from"].([]any); ok && peer.(map[string]any)["ipBlock"] != nil {
				rule["from"] = append(from, peer)
			}
		}
	}
	ts.Check(unstructured.SetNestedSlice(u.Object, rules, "spec", "ingress"))
}

// withAdded returns an object with the values that apply adds: annotations, the values of a Secret,
// the addresses of nodes, and the completions of a job that ran nothing.
func withAdded(ts *testscript.TestScript, u, live *unstructured.Unstructured) string {
	if u.GetKind() == "Secret" {
		u.Object["data"] = live.Object["data"]
	}
	if u.GetKind() == "NetworkPolicy" {
		addNodes(ts, u, live)
	}
	// Render does not know that the service was new, and that its upgrade job therefore ran
	// nothing.
	if completions, found, err := unstructured.NestedInt64(live.Object, "spec", "completions"); err == nil && found && completions == 0 {
		ts.Check(unstructured.SetNestedField(u.Object, int64(0), "spec", "completions"))
	}
	annotations := u.GetAnnotations()
	for _, key := range []string{providers.AnnotationIntent, providers.AnnotationChecksum, providers.AnnotationNotAfter, providers.AnnotationInputs} {
		if value := live.GetAnnotations()[key]; value != "" {
			annotations[key] = value
		}
	}
	u.SetAnnotations(annotations)
	text, err := yaml.Marshal(u.Object)
	ts.Check(err)
	return string(text)
}
