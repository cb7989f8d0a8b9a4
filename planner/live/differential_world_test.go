package live_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// The audit log distinguishes plans from other requests by these user agents.
const (
	planAgent  = "kolla-differential-plan"
	applyAgent = "kolla-differential-apply"
)

// atOnce is how many objects the test reads or writes in parallel.
const atOnce = 16

// world is a cloud of random objects, and the clients that write to them.
type world struct {
	t          *testing.T
	kubeconfig string
	namespace  string
	seed       uint64
	// force plans with -force-conflicts, and lets strangers take fields and create objects without
	// the cloud's label. kolla adopts all objects that strangers create.
	force bool
	// disrupt, if set, runs beside the first plan of each round.
	disrupt func()
	// govern, if set, runs at the start of each round, before its plan.
	govern func()
	// crowded: another client touches each object between the writes of an apply.
	crowded bool
	// ahead is how far the clock of a plan is ahead of the real time.
	ahead time.Duration

	planning, applying *kubernetes.Client
	objects            dynamic.Interface
	cluster            providers.Identity
	store              *state.Store
	things             []*thing
	defined            []providers.Object // the definitions of the custom resources
	steps              int
	proofs             map[plans.EvidenceKind]int
}

// thing is one object with its history. It has its own random numbers, so that the same happens to
// it when it is alone in the world.
type thing struct {
	kind   *kind
	key    string // "ConfigMap/configmap-1"
	name   string
	world  *world
	random *generator
	// wanted is the declaration; nil: the object is not declared. It has the values of a Secret in
	// plain text.
	wanted map[string]any
	before map[string]any // the declaration before the last change
	held   bool           // the test has put a finalizer on the object
	log    []string
}

func (x *thing) String() string { return x.key }

func (x *thing) address() addrs.Object {
	return addrs.Object{Block: "manifest.m", Kind: x.kind.Kind, Name: x.name}
}

func (x *thing) note(round int, text string) {
	x.log = append(x.log, fmt.Sprintf("round %d: %s", round, text))
}

// newWorld makes the objects of a seed, none of which is declared yet. If only is not empty, it
// makes just the object with this key.
func newWorld(t *testing.T, kubeconfig, namespace string, seed uint64, only string) *world {
	t.Helper()
	w := &world{t: t, kubeconfig: kubeconfig, namespace: namespace, seed: seed, proofs: map[plans.EvidenceKind]int{}}
	w.planning, w.applying = connect(t, kubeconfig, planAgent), connect(t, kubeconfig, applyAgent)
	w.objects = dynamic.NewForConfigOrDie(unlimited(t, kubeconfig))
	var err error
	if w.cluster, err = w.applying.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.store = state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	group := namespace + ".example.org"
	for name, text := range definitions(group) {
		w.define(name, text)
	}
	for _, k := range kindsOf(group) {
		for i := range k.copies {
			key := fmt.Sprintf("%s/%s-%d", k.Kind, strings.ToLower(k.Kind), i)
			if only == "" || only == key {
				w.add(k, key)
			}
		}
	}
	t.Cleanup(w.leave)
	return w
}

func connect(t *testing.T, kubeconfig, agent string) *kubernetes.Client {
	t.Helper()
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: kubeconfig, UserAgent: agent})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func unlimited(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config
}

func (w *world) add(k *kind, key string) {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	x := &thing{kind: k, key: key, world: w, random: &generator{rand.New(rand.NewPCG(w.seed, hash.Sum64()))}}
	x.name = key[strings.Index(key, "/")+1:]
	if k.cluster {
		x.name = w.namespace + "-" + x.name
	}
	w.things = append(w.things, x)
}

// declare returns a random declaration.
func (x *thing) declare(g *generator) map[string]any {
	content := x.kind.content(g)
	content["apiVersion"], content["kind"] = x.kind.GroupVersion().String(), x.kind.Kind
	metadata := map[string]any{"name": x.name, "labels": map[string]any{providers.LabelCloud: x.world.namespace}}
	if !x.kind.cluster {
		metadata["namespace"] = x.world.namespace
	}
	content["metadata"] = metadata
	return content
}

func (w *world) define(name, text string) {
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		w.t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetLabels(map[string]string{providers.LabelCloud: w.namespace})
	w.defined = append(w.defined, providers.Object{
		Address:  addrs.Object{Block: "manifest.crd", Kind: u.GetKind(), Name: name},
		Manifest: u,
	})
}

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// leave deletes the objects outside the namespace of the test.
func (w *world) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 30*time.Second)
	defer cancel()
	for _, x := range w.things {
		if x.held {
			_ = w.patch(ctx, x, "kubectl-edit", `{"metadata":{"finalizers":null}}`)
		}
		if x.kind.cluster {
			_ = w.at(x).Delete(ctx, x.name, metav1.DeleteOptions{})
		}
	}
	for _, o := range w.defined {
		_ = w.objects.Resource(definitionResource).Delete(ctx, o.Manifest.GetName(), metav1.DeleteOptions{})
	}
}

// at returns the client for the object.
func (w *world) at(x *thing) dynamic.ResourceInterface {
	if x.kind.cluster {
		return w.objects.Resource(x.kind.gvr())
	}
	return w.objects.Resource(x.kind.gvr()).Namespace(w.namespace)
}

// sent returns the declaration in the form that the server gets.
func (w *world) sent(x *thing) *unstructured.Unstructured {
	if x.wanted == nil {
		return &unstructured.Unstructured{Object: w.encoded(x.kind, x.declare(x.random))}
	}
	return &unstructured.Unstructured{Object: w.encoded(x.kind, x.wanted)}
}

// encoded returns a copy of the declaration, with the values of a Secret in base64. If a Secret has
// no values, kolla leaves out the field.
func (w *world) encoded(k *kind, content map[string]any) map[string]any {
	content = copied(content)
	values, _ := content["data"].(map[string]any)
	if k.Kind == "Secret" && len(values) == 0 {
		delete(content, "data")
	}
	if k.Kind == "Secret" {
		for key, value := range values {
			values[key] = base64.StdEncoding.EncodeToString([]byte(value.(string)))
		}
	}
	return content
}

// desired returns the declarations in the form that kolla gets.
func (w *world) desired() []providers.Object {
	objects := slices.Clone(w.defined)
	for _, x := range w.things {
		if x.wanted == nil {
			continue
		}
		o := providers.Object{Address: x.address(), Manifest: &unstructured.Unstructured{Object: copied(x.wanted)}, Source: "cloud.hcl:1"}
		if values, _ := x.wanted["data"].(map[string]any); x.kind.Kind == "Secret" {
			delete(o.Manifest.Object, "data")
			o.Data = map[string]providers.SecretData{}
			for key, value := range values {
				o.Data[key] = providers.SecretData{Parts: []providers.DataPart{{Sensitive: value.(string)}}}
			}
		}
		objects = append(objects, o)
	}
	return objects
}

// plan compares all objects with the cluster.
func (w *world) plan(ctx context.Context, st *state.State) (*plans.Plan, []plans.Problem, error) {
	plan, problems, err := planner.Make(ctx, planner.Input{
		Cloud: w.namespace, Namespace: w.namespace, Objects: w.desired(),
		Reader: w.planning, Snapshot: providers.NewSnapshot(w.planning),
		State: st, Cluster: w.cluster, Now: time.Now().Add(w.ahead), Parallelism: atOnce,
		DeleteData: []string{"*"}, ForceConflicts: w.force, Adopt: everything(w.desired()),
		MaxDeletes: new(math.MaxInt), VerifyAll: w.seed%3 == 0, Values: true,
	})
	if plan != nil {
		// Fields that cannot be removed only cause a warning. Make it an error here, so that repair
		// makes room for the object.
		for i := range problems {
			at := problems[i].Address
			reported := slices.ContainsFunc(plan.Foreign, func(f plans.Foreign) bool { return f.Reported && f.Address == at })
			if problems[i].Warning && reported {
				problems[i].Warning = false
				plan.Actions = slices.DeleteFunc(plan.Actions, func(a plans.Action) bool { return a.Address == at })
			}
		}
	}
	return plan, slices.DeleteFunc(problems, func(p plans.Problem) bool { return p.Warning }), err
}

// apply carries out a plan, and returns the failures by address.
func (w *world) apply(ctx context.Context, session *state.Session, plan *plans.Plan) (map[addrs.Object]string, error) {
	result, err := executor.Apply(ctx, plan, executor.Options{
		Reader: w.applying, Writer: w.writer(), Session: session,
		Parallelism: atOnce, Timeout: patience,
	})
	if err != nil {
		return nil, err
	}
	failed := map[addrs.Object]string{}
	for _, o := range result.Outcomes {
		if o.Status != executor.Applied {
			failed[o.Action.Address] = fmt.Sprintf("it was not applied (%s, %s): %v", o.Action.Verb, o.Action.Evidence.Kind, o.Err)
		}
	}
	return failed, nil
}

// impatient only waits for kinds to be established: random objects seldom become ready.
type impatient struct{ providers.Writer }

func (i impatient) Wait(ctx context.Context, ref providers.Ref, options providers.WaitOptions) error {
	if ref.GVK.Kind != "CustomResourceDefinition" {
		return nil
	}
	return i.Writer.Wait(ctx, ref, options)
}

func (w *world) writer() providers.Writer {
	writer := impatient{w.applying.Writer()}
	if !w.crowded {
		return writer
	}
	return &crowd{Writer: writer, world: w, touched: map[providers.Ref]bool{}}
}

// crowd touches each object once: after its claim, or before its apply if there is no claim. A
// touch changes only the object's resource version.
type crowd struct {
	providers.Writer
	world   *world
	mu      sync.Mutex
	touched map[providers.Ref]bool
}

func (c *crowd) Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	if !options.New {
		if err := c.touch(ctx, providers.RefOf(object)); err != nil {
			return nil, err
		}
	}
	return c.Writer.Apply(ctx, object, options)
}

func (c *crowd) Claim(ctx context.Context, ref providers.Ref, precondition providers.Precondition, manager, fields string) (*unstructured.Unstructured, error) {
	claimed, err := c.Writer.Claim(ctx, ref, precondition, manager, fields)
	if err != nil {
		return nil, err
	}
	return claimed, c.touch(ctx, ref)
}

func (c *crowd) touch(ctx context.Context, ref providers.Ref) error {
	c.mu.Lock()
	done := c.touched[ref]
	c.touched[ref] = true
	c.mu.Unlock()
	if done {
		return nil
	}
	for _, x := range c.world.things {
		if x.name != ref.Name || x.kind.Kind != ref.GVK.Kind {
			continue
		}
		for _, value := range []any{"1", nil} {
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"touched": value}}})
			if err != nil {
				return err
			}
			_, err = c.world.at(x).Patch(ctx, x.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "toucher"})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// versions returns the resource versions of the objects to which no controller writes.
func (w *world) versions(ctx context.Context) (map[string]string, error) {
	versions := map[string]string{}
	var (
		mu   sync.Mutex
		seen = map[*kind]bool{}
	)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	ours := map[string]bool{} // controllers make EndpointSlices too
	for _, x := range w.things {
		ours[x.kind.Kind+"/"+x.name] = true
	}
	for _, x := range w.things {
		if seen[x.kind] || !x.kind.quiet {
			continue
		}
		seen[x.kind] = true
		group.Go(func() error {
			all, err := w.at(x).List(ctx, metav1.ListOptions{})
			switch {
			case apierrors.IsNotFound(err):
				return nil // the kind is not defined yet
			case err != nil:
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, u := range all.Items {
				if name := u.GetKind() + "/" + u.GetName(); ours[name] {
					versions[name] = u.GetResourceVersion()
				}
			}
			return nil
		})
	}
	return versions, group.Wait()
}

// everything returns the addresses of all objects.
func everything(objects []providers.Object) []string {
	var names []string
	for _, o := range objects {
		names = append(names, o.Address.String())
	}
	return names
}
