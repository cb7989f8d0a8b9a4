package planner_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// forged gives an object all marks that kolla writes, including the token.
func forged(u *unstructured.Unstructured) {
	token(u, "token-1")
	annotations := u.GetAnnotations()
	annotations[providers.AnnotationAddress] = atConfigMap
	u.SetAnnotations(annotations)
	owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:metadata":{"f:labels":{"f:kolla.openstack.org/cloud":{}}},"f:data":{"f:x":{}}}`)
}

func TestWhatIsKollas(t *testing.T) {
	imports := func(in *planner.Input) {
		in.Imports = []addrs.Import{{To: address(atConfigMap), ID: "openstack/a"}}
	}
	for name, test := range map[string]struct {
		record *state.Object // nil: none
		input  func(*planner.Input)
		want   plans.Verb // empty: the plan is refused
		says   string
	}{
		"known by its UID":                  {record: &state.Object{UID: "uid-1"}, want: plans.Update},
		"known by its token":                {record: &state.Object{Token: "token-1"}, want: plans.Update},
		"a forgery, and no state":           {says: "ConfigMap openstack/a exists, and the state does not know it"},
		"a forgery, and a state":            {record: &state.Object{UID: "uid-0"}, says: "The state knows another object of that name (UID uid-0), which is gone"},
		"another token":                     {record: &state.Object{Token: "token-0"}, says: "exists, and the state does not know it"},
		"a name alone":                      {record: &state.Object{}, says: "exists, and the state does not know it"},
		"adopted by its address":            {input: func(in *planner.Input) { in.Adopt = []string{atConfigMap} }, want: plans.Adopt},
		"adopted by its block":              {input: func(in *planner.Input) { in.Adopt = []string{"service.a"} }, says: "-adopt=service.a names no object"},
		"adopted by a slip":                 {input: func(in *planner.Input) { in.Adopt = []string{"service.a/ConfigMap/aa"} }, says: "-adopt=service.a/ConfigMap/aa: it is not declared"},
		"imported":                          {input: imports, want: plans.Adopt},
		"in the place of what was imported": {record: &state.Object{UID: "uid-0"}, input: imports, says: "(UID uid-0), which is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := situation{at: atConfigMap, manifest: configMap, live: forged, input: test.input}
			if test.record != nil {
				s.record = func(r *state.Object) { r.UID, r.Token = test.record.UID, test.record.Token }
			}
			in := s.make(t)
			if test.want == "" {
				if got := mustNotPlan(t, in); !strings.Contains(got, test.says) {
					t.Errorf("problem is %q, lacks %q", got, test.says)
				}
				return
			}
			if a := find(t, mustPlan(t, in), atConfigMap); a.Verb != test.want {
				t.Errorf("decided %s", a.Verb)
			}
		})
	}
}

// TestALostState checks that one message reports all objects that carry the cloud's label and are
// not in the state.
func TestALostState(t *testing.T) {
	c := &cluster{}
	var objects []providers.Object
	for i := range 5 {
		u := thing("v1", "ConfigMap", fmt.Sprintf("c-%d", i))
		c.objects = append(c.objects, live(u, u.GetUID()))
		objects = append(objects, declared("service.a/ConfigMap/"+u.GetName(), u))
	}
	got := mustNotPlan(t, input(c, objects...))
	if strings.Count(got, "kolla state rebuild") != 1 || !strings.HasPrefix(got, "5 objects exist and carry the label of this cloud, and the state does not know them") {
		t.Errorf("problems are %q", got)
	}
}

// TestRefreshKeepsWhatIsThere checks that a refresh-only plan keeps the record of an object whose
// cloud label was changed.
func TestRefreshKeepsWhatIsThere(t *testing.T) {
	s := situation{
		at: atConfigMap, manifest: configMap, record: known,
		live:  func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{providers.LabelCloud: "test"}) },
		input: func(in *planner.Input) { in.RefreshOnly = true },
	}
	plan, problems, err := planner.Make(t.Context(), s.make(t))
	if err != nil || len(problems) != 1 || !problems[0].Warning {
		t.Fatalf("Make: %v, problems %v", err, problems)
	}
	if a := find(t, plan, atConfigMap); a.Verb != plans.None || a.Evidence.Kind != plans.Unverified {
		t.Errorf("decided %s, known by %s: %s", a.Verb, a.Evidence.Kind, a.Evidence.Detail)
	}
}

// TestAnotherCloudsNamespace checks that one message reports all objects of another cloud. If their
// namespace is one of these objects, the message names the namespace first.
func TestAnotherCloudsNamespace(t *testing.T) {
	for _, withNamespace := range []bool{false, true} {
		things := []*unstructured.Unstructured{thing("v1", "ConfigMap", "c-0"), thing("v1", "ConfigMap", "c-1"), thing("v1", "ConfigMap", "c-2"), thing("v1", "ConfigMap", "c-3")}
		want := `4 objects belong to cloud "other" (): They are ConfigMap openstack/c-0, `
		if withNamespace {
			namespace := thing("v1", "Namespace", "shop")
			namespace.SetNamespace("")
			things = append(things, namespace)
			want = `Namespace shop belongs to cloud "other", and so do 4 more objects (cloud.hcl:41): They are `
		}
		c := &cluster{}
		var objects []providers.Object
		for _, u := range things {
			there := live(u, u.GetUID())
			there.SetLabels(map[string]string{providers.LabelCloud: "other"})
			c.objects = append(c.objects, there)
			objects = append(objects, declared("service.a/"+u.GetKind()+"/"+u.GetName(), u))
		}
		got := mustNotPlan(t, input(c, objects...))
		if strings.Count(got, "belong") != 1 || !strings.HasPrefix(got, want) {
			t.Errorf("problems are %q, want %q", got, want)
		}
	}
}

// TestUnownedObjectsAreNotRead checks that a plan does not read values from a Secret that is not
// kolla's, although it has the name of a declared Secret. No value gets into derived values or into
// requests.
func TestUnownedObjectsAreNotRead(t *testing.T) {
	const value = "swordfish"
	planted := thing("v1", "Secret", "root")
	planted.Object["data"] = map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(value))}
	root := declared("service.db/Secret/root", thing("v1", "Secret", "root"))
	root.Data = map[string]providers.SecretData{"password": {Generate: &providers.Generator{Kind: "password", Length: 8}}}
	url := declared("service.a/Secret/url", thing("v1", "Secret", "url"))
	url.Data = map[string]providers.SecretData{"url": {Parts: []providers.DataPart{{From: &providers.SecretKey{Namespace: "openstack", Name: "root", Key: "password"}}}}}
	var sent []string
	c := &cluster{objects: []*unstructured.Unstructured{live(planted, "uid-planted")}}
	c.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		for _, v := range providers.ValuesOf(u) {
			sent = append(sent, string(v))
		}
		return u, nil
	}
	if got := mustNotPlan(t, input(c, root, url)); !strings.Contains(got, "Nothing was read from it: whoever made it knows its values") {
		t.Errorf("problem is %q", got)
	}
	if text := strings.Join(sent, " "); strings.Contains(text, value) || len(sent) == 0 {
		t.Errorf("sent to the server: %q", text)
	}

	// With -adopt, the Secret is taken over with its values, and the plan says what that means.
	in := input(c, root, url)
	in.Adopt = []string{"service.db/Secret/root"}
	_, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Summary, "Secret openstack/root is taken over with the values that it has") {
		t.Errorf("problems are %+v, error %v", problems, err)
	}
}
