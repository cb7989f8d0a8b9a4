package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/cli"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// tampering is an edit of a saved plan.
type tampering struct {
	edit func(*plans.Plan)
	// want is a part of the error. If it is empty, the edit has no effect, because an apply does
	// not read the field. All such edits are made to one plan, which is applied.
	want string
}

// on edits the action whose address ends with the given text.
func on(address string, edit func(*plans.Action)) func(*plans.Plan) {
	return func(p *plans.Plan) {
		for i := range p.Actions {
			if strings.HasSuffix(p.Actions[i].Address.String(), address) {
				edit(&p.Actions[i])
				return
			}
		}
		panic("the plan has no action for " + address)
	}
}

const another = "differs from the saved plan"

var somewhere = addrs.Object{Block: "manifest.made", Kind: "Secret", Name: "x"}

var evil = providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: "kube-public"}

// planFields has an edit for each field of a plan.
var planFields = map[string]tampering{
	"Format":        {func(p *plans.Plan) { p.Format = 0 }, "Not a plan file"},
	"ID":            {func(p *plans.Plan) { p.ID = "5f0c9c9e-6a6f-4a0c-9a53-2f3c1a4f1f10" }, ""},
	"Tool":          {func(p *plans.Plan) { p.Tool = "v99" }, ""},
	"Created":       {func(p *plans.Plan) { p.Created = time.Now().Add(-time.Hour) }, ""},
	"Cloud":         {func(p *plans.Plan) { p.Cloud = "other" }, another},
	"Namespace":     {func(p *plans.Plan) { p.Namespace = "other" }, another},
	"Config":        {func(p *plans.Plan) { p.Config = strings.Repeat("0", 64) }, "The configuration differs from the planned one"},
	"Destroy":       {func(p *plans.Plan) { p.Destroy = true }, another},
	"Variables":     {func(p *plans.Plan) { p.Variables["value"] = json.RawMessage(`{"value":"evil","type":"string"}`) }, another},
	"Cluster":       {func(p *plans.Plan) { p.Cluster.UID = "00000000" }, "belongs to another cluster"},
	"State":         {func(p *plans.Plan) { p.State.Serial++ }, "The plan is stale"},
	"Options":       {func(p *plans.Plan) { p.Options = []string{"-delete-data='*'"} }, "needs its options again"},
	"RefreshOnly":   {func(p *plans.Plan) { p.RefreshOnly = true }, another},
	"ConfigChanges": {func(p *plans.Plan) { p.ConfigChanges = 7 }, ""},
	"SecretChanges": {func(p *plans.Plan) { p.SecretChanges = 7 }, ""},
	"Selection":     {func(p *plans.Plan) { p.Selection.Targets = []string{"manifest.made"} }, another},
	// Without a comparison the new plan has no job that runs for it, and the file has one too many.
	"SkipsRegistrations": {func(p *plans.Plan) { p.SkipsRegistrations = !p.SkipsRegistrations }, ""},
	"Resume": {func(p *plans.Plan) {
		p.Resume = &plans.Resume{Adopt: []string{"manifest.made/ConfigMap/made"}, DeleteData: []string{"*"}}
	}, ""},
	"Actions": {func(p *plans.Plan) {
		p.Actions = slices.DeleteFunc(p.Actions, func(a plans.Action) bool { return a.Verb == plans.Create })
	}, "the file does not have it"},
	"Upgrade":       {func(p *plans.Plan) { p.Upgrade = &plans.Upgrade{Backward: true} }, another},
	"Policies":      {func(p *plans.Plan) { p.Policies = []plans.PolicyResult{{Name: "forged", Status: plans.PolicyPassed}} }, `made with the policy "forged"`},
	"Losses":        {func(p *plans.Plan) { p.Losses = []plans.Loss{{Address: somewhere}} }, ""},
	"Errors":        {func(p *plans.Plan) { p.Errors = []plans.Notice{{Text: "forged"}} }, ""},
	"Kept":          {func(p *plans.Plan) { p.Kept = []plans.Kept{{Address: somewhere, Holds: "all", UID: "forged"}} }, ""},
	"Foreign":       {func(p *plans.Plan) { p.Foreign = []plans.Foreign{{Address: somewhere}} }, ""},
	"Warnings":      {func(p *plans.Plan) { p.Warnings = []plans.Notice{{Text: "all is well"}} }, ""},
	"ForeignPolicy": {func(p *plans.Plan) { p.ForeignPolicy = plans.IgnoreForeign }, ""},
	"Impact":        {func(p *plans.Plan) { p.Impact = nil }, ""},
	"Values":        {func(p *plans.Plan) { p.Values = false }, ""},
	"Renderings":    {func(p *plans.Plan) { p.Renderings = &plans.Renderings{Base: "main"} }, ""},
	"Outputs":       {func(p *plans.Plan) { p.Outputs = []output.Change{{Name: "forged"}} }, ""},
	"Checks":        {func(p *plans.Plan) { p.Checks = []state.CheckResult{{Address: "check.forged"}} }, ""},
	"Elapsed":       {func(p *plans.Plan) { p.Elapsed = time.Hour }, ""},
}

// actionFields has an edit for each field of an action.
var actionFields = map[string]tampering{
	"Address": {on("/changed", func(a *plans.Action) { a.Address.Name = "other" }), another},
	"Verb":    {on("/changed", func(a *plans.Action) { a.Verb = plans.Replace }), `says "replace"`},
	"Object": {on("/changed", func(a *plans.Action) {
		set(a.Object.Manifest, "evil", "data", "value")
	}), `data.value ("evil" instead of "new")`},
	"Ref":            {on("/changed", func(a *plans.Action) { a.Ref = evil }), another},
	"Prior":          {on("/changed", func(a *plans.Action) { a.Prior.UID = "00000000" }), "it was deleted and created again since"},
	"Force":          {on("/changed", func(a *plans.Action) { a.Force = true }), "by force"},
	"Removes":        {on("/changed", func(a *plans.Action) { a.Removes = `{"f:data":{"f:value":{}}}` }), "others added"},
	"Values":         {on("/changed", func(a *plans.Action) { a.Values = nil }), ""},
	"Seen":           {on("/changed", func(a *plans.Action) { a.Seen = "forged" }), ""},
	"Scaled":         {on("/changed", func(a *plans.Action) { a.Scaled = true }), ""},
	"Reported":       {on("/changed", func(a *plans.Action) { a.Reported = true }), ""},
	"Token":          {on("/changed", func(a *plans.Action) { a.Token = "forged" }), ""},
	"Yields":         {on("/changed", func(a *plans.Action) { a.Yields = []plans.Yield{{Path: "data", Field: `{"f:data":{}}`}} }), "left to others"},
	"Reasons":        {on("/changed", func(a *plans.Action) { a.Reasons[0].Kind = plans.ReasonDrift }), "list of reasons"},
	"Evidence":       {on("/changed", func(a *plans.Action) { a.Evidence.Kind = plans.Ownership }), ""},
	"Changes":        {on("/changed", func(a *plans.Action) { a.Changes[0].After = "harmless" }), `"old" → "new" instead of "old" → "harmless"`},
	"Supersedes":     {on("/changed", func(a *plans.Action) { a.Supersedes = a.Address }), "takes the place of"},
	"Holds":          {on("/gone", func(a *plans.Action) { a.Holds = "nothing" }), "what is lost with it"},
	"ValuesCopiedTo": {on("/gone", func(a *plans.Action) { a.ValuesCopiedTo = a.Address }), "heir of its values"},
	"Finished":       {on("/gone", func(a *plans.Action) { a.Finished = true }), ""},
	"Occupied":       {on("/gone", func(a *plans.Action) { a.Occupied = true }), "what else is in the namespace"},
	"Partial":        {on("/gone", func(a *plans.Action) { a.Partial = true }), "whether it stays"},
	"Releases":       {on("/gone", func(a *plans.Action) { a.Releases = true }), "letting it go"},
	"Grows":          {on("/changed", func(a *plans.Action) { a.Grows = "1Ti" }), "size that it grows to"},
	"KeepsPods":      {on("/changed", func(a *plans.Action) { a.KeepsPods = true }), "whether its pods stay"},
	"DependsOn":      {on("/changed", func(a *plans.Action) { a.DependsOn = nil }), ""},
	"Pending":        {on("/same", func(a *plans.Action) { a.Pending = true }), ""},
	"Fingerprint": {on("/same", func(a *plans.Action) {
		a.Fingerprint = state.Fingerprint{Owned: strings.Repeat("e", 64)}
	}), ""},
}

// attacks are combined edits, after which the file is consistent.
var attacks = map[string]tampering{
	"another value, and shown": {on("/changed", func(a *plans.Action) {
		set(a.Object.Manifest, "evil", "data", "value")
		a.Changes[0].After = "evil"
	}), `data.value ("evil" instead of "new")`},
	"another value of a variable": {func(p *plans.Plan) {
		p.Variables["value"] = json.RawMessage(`{"value":"evil","type":"string"}`)
		on("/changed", func(a *plans.Action) { set(a.Object.Manifest, "evil", "data", "value") })(p)
	}, "another set of values of variables"},
	"a new object": {func(p *plans.Plan) {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "miner", "namespace": "kube-system"}}}
		address := addrs.Object{Block: "manifest.made", Kind: "Pod", Name: "miner"}
		p.Actions = append(p.Actions, plans.Action{
			Address: address, Verb: plans.Create, Object: &providers.Object{Address: address, Manifest: u}, Ref: providers.RefOf(u),
		})
	}, "the configuration declares no such object"},
	"a deletion": {func(p *plans.Plan) {
		p.Actions = append(p.Actions, plans.Action{
			Address: addrs.Object{Block: "manifest.old", Kind: "Namespace", Name: "kube-public"}, Verb: plans.Delete, Ref: evil,
			Prior: providers.Precondition{UID: namespaceUID()}, Removal: plans.Removal{Occupied: true},
		})
	}, "a new plan does not have it"},
	"an adoption": {on("/made", func(a *plans.Action) {
		a.Verb, a.Ref = plans.Adopt, evil
		a.Prior = providers.Precondition{UID: namespaceUID(), ResourceVersion: "1"}
	}), another},
	"another namespace": {on("/made", func(a *plans.Action) {
		a.Object.Manifest.SetNamespace("kube-system")
		a.Ref.Namespace = "kube-system"
	}), `metadata.namespace ("kube-system" instead of`},
	"all of it a destroy": {func(p *plans.Plan) {
		p.Destroy, p.Options = true, []string{"-delete-data='*'", "-destroy"}
		for i := range p.Actions {
			p.Actions[i].Verb, p.Actions[i].Object = plans.Delete, nil
		}
	}, "-destroy"},
	"an update left out": {on("/changed", func(a *plans.Action) { a.Verb, a.Changes = plans.None, nil }), `says "none"`},
	"two actions for one object": {func(p *plans.Plan) {
		on("/changed", func(a *plans.Action) { p.Actions = append(p.Actions, *a) })(p)
	}, "two actions"},
	"a value that is only known later": {on("/changed", func(a *plans.Action) {
		a.Object.Deferred = []string{"data.x"}
		set(a.Object.Manifest, configs.KnownAfterApply, "data", "value")
	}), "is known by now"},
	"an old version of the object, and other changes": {on("/changed", func(a *plans.Action) {
		a.Prior.ResourceVersion, a.Changes[0].After = "1", "harmless"
	}), `"old" → "new" instead of "old" → "harmless"`},
}

func set(u *unstructured.Unstructured, value string, path ...string) {
	if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
		panic(err)
	}
}

func namespaceUID() types.UID { return types.UID(publicUID) }

var publicUID string // of the namespace kube-public

// TestTamperedPlans edits each field of a saved plan, with a correct checksum. It checks that an
// apply refuses the file and writes nothing, or that the edit has no effect. An action counts only
// if a new plan has the same address, fields and verb.
func TestTamperedPlans(t *testing.T) {
	for name, fields := range map[string]map[string]tampering{"Plan": planFields, "Action": actionFields} {
		typ := map[string]reflect.Type{"Plan": reflect.TypeFor[plans.Plan](), "Action": reflect.TypeFor[plans.Action]()}[name]
		for _, field := range reflect.VisibleFields(typ) {
			if _, ok := fields[field.Name]; !ok && !field.Anonymous {
				t.Errorf("nobody has thought of what an edited %s.%s could do", name, field.Name)
			}
		}
	}
	publicUID = strings.TrimSpace(clustertest.Kubectl(t, "get", "namespace", "kube-public", "-o", "jsonpath={.metadata.uid}"))
	const namespace = "tampered"
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	t.Setenv("KOLLA_VAR_value", "old")
	configure(t, namespace, `manifest "gone" { object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "gone" } } }`)
	mustRun(t, "apply", "-auto-approve", "-input=false")
	t.Setenv("KOLLA_VAR_value", "new")
	configure(t, namespace, `manifest "made" { object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "made" } } }`)
	mustRun(t, "plan", "-input=false", "-out=good.plan")
	good, err := os.ReadFile("good.plan")
	if err != nil {
		t.Fatal(err)
	}
	stateBefore, err := os.ReadFile(state.DefaultFile)
	if err != nil {
		t.Fatal(err)
	}

	audit := clustertest.TailAudit(t)
	refused := func(name string, edit func(*plans.Plan), want string) {
		t.Helper()
		save(t, good, "evil.plan", edit)
		code, _, stderr := try("apply", "-input=false", "evil.plan")
		if words := strings.Join(strings.Fields(stderr), " "); code != 1 || !strings.Contains(words, want) {
			t.Errorf("%s: apply exits with %d, want 1 and %q:\n%s", name, code, want, stderr)
		}
		if writes := clustertest.Writes(audit.Kolla()); len(writes) > 0 {
			t.Fatalf("%s: the apply wrote: %v", name, writes)
		}
	}
	for _, fields := range []map[string]tampering{planFields, actionFields, attacks} {
		for name, test := range fields {
			if test.want != "" {
				refused(name, test.edit, test.want)
			}
		}
	}
	stateAfter, err := os.ReadFile(state.DefaultFile)
	if err != nil || !bytes.Equal(stateBefore, stateAfter) {
		t.Errorf("the state was changed: %v", err)
	}

	withoutPower(t, namespace)
	mustRun(t, "destroy", "-auto-approve", "-delete-data=*")
}

// withoutPower applies a plan with all edits that should have no effect, and checks that the apply
// does what the original plan shows.
func withoutPower(t *testing.T, namespace string) {
	t.Helper()
	mustRun(t, "plan", "-input=false", "-out=good.plan")
	good, err := os.ReadFile("good.plan")
	if err != nil {
		t.Fatal(err)
	}
	save(t, good, "evil.plan", func(p *plans.Plan) {
		for _, fields := range []map[string]tampering{planFields, actionFields} {
			for _, test := range fields {
				if test.want == "" {
					test.edit(p)
				}
			}
		}
	})
	if code, stdout, stderr := try("apply", "-input=false", "evil.plan"); code != 0 {
		t.Fatalf("apply exits with %d:\n%s%s", code, stdout, stderr)
	}
	if got := clustertest.Kubectl(t, "-n", namespace, "get", "configmaps", "-l", providers.LabelCloud, "-o", "jsonpath={range .items[*]}{.metadata.name}={.data.value} {end}"); got != "changed=new made= same= " {
		t.Errorf("in the cluster is %q", got)
	}
	saved, err := os.ReadFile(state.DefaultFile)
	if err != nil || bytes.Contains(saved, []byte("eeee")) {
		t.Errorf("the state believes a forged check: %v", err)
	}
	if code, stdout, _ := try("plan", "-input=false", "-detailed-exitcode"); code != 0 {
		t.Errorf("the next plan exits with %d:\n%s", code, stdout)
	}
}

func configure(t *testing.T, namespace, more string) {
	t.Helper()
	config := strings.ReplaceAll(`
cloud "NAMESPACE" {
  release   = "2025.1"
  namespace = "NAMESPACE"
}

variable "value" {}

manifest "same" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "same" } }
}

manifest "changed" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "changed" }, data = { value = var.value } }
  depends_on = [manifest.same]
}

`, "NAMESPACE", namespace) + more
	if err := os.WriteFile("cloud.hcl", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

// save writes an edited plan to a file, with a correct checksum.
func save(t *testing.T, good []byte, file string, edit func(*plans.Plan)) {
	t.Helper()
	plan, err := plans.Read(good)
	if err != nil {
		t.Fatal(err)
	}
	edit(plan)
	if err := plans.Save(filepath.Join(".", file), plan); err != nil {
		t.Fatal(err)
	}
}

func try(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Run(context.Background(), append([]string{"kolla"}, args...), strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func mustRun(t *testing.T, args ...string) {
	t.Helper()
	if code, stdout, stderr := try(args...); code != 0 {
		t.Fatalf("kolla %v exits with %d:\n%s%s", args, code, stdout, stderr)
	}
}
