package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/rights"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// kindsTimeout bounds how long a server that does not answer goes unnoticed.
const kindsTimeout = 10 * time.Second

func rbacCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "rbac",
		Usage: "Print the Kubernetes roles that kolla needs for this cloud",
		Description: `
It prints a ClusterRole, and a Role for each namespace, as YAML with a comment that gives
the reason for each rule. They hold what plan, apply, rollout and destroy need for this
configuration and this state, and nothing else; with -read-only, what plan needs. Print
them again when the configuration gets a new kind of object or another namespace.

With -user, -group or -serviceaccount it prints the bindings too:

  kolla rbac -serviceaccount=ci:kolla | kubectl apply -f -

It needs no cluster for the services of the catalogue. For a kind of a manifest that is
not Kubernetes' own it asks the cluster for the name of the resource, and data blocks are
read there; without a cluster it guesses the name, and says so, and says what is not known.

RBAC has no right for dry runs alone. So a plan with the rights of -read-only tries no
change on the server: it shows changes, and marks them as not verified.`,
		Flags: append(append(variableFlags(), clusterFlags()...), stateFlag(),
			&cli.BoolFlag{Name: "read-only", Usage: "only what plan needs"},
			&cli.StringFlag{Name: "user", Usage: "also bind the roles to the user `NAME`"},
			&cli.StringFlag{Name: "group", Usage: "also bind the roles to the group `NAME`"},
			&cli.StringFlag{Name: "serviceaccount", Usage: "also bind the roles to the service account `NAMESPACE:NAME`"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return runRBAC(newWorkspace(s, c))
		},
	}
}

func runRBAC(w *workspace) error {
	subjects, err := subjectsOf(w.flags)
	if err != nil {
		return err
	}
	if err := w.loadForRights(); err != nil {
		return err
	}
	st, err := state.Open(w.flags.String("state")).Read()
	if err != nil {
		return err
	}
	if err := st.CheckCloud(w.config.Cloud.Name); err != nil {
		return err
	}
	names := &resourceNames{workspace: w}
	facts := openstack.Offline()
	facts.Namespaced = names.namespaced
	objects, diags := openstack.Render(w.config, facts)
	w.printer.Diagnostics(diags, w.config.Files)
	if diags.HasErrors() {
		return exitCode(exitError)
	}
	names.define(objects)
	roles := rights.Of(rights.Input{
		Cloud: w.config.Cloud.Name, Namespace: w.config.Cloud.Namespace, Objects: objects, Known: st.Objects,
		Roles: w.config.Roles, Reads: w.rightsToRead(objects, names), Resource: names.of, ReadOnly: w.flags.Bool("read-only"),
	})
	w.warnGuessed(names)
	return w.writeRoles(roles, subjects, objects, st)
}

// loadForRights reads the configuration without a cluster, and once more with what data
// blocks read, if there are any and the cluster answers: they may decide what there is.
func (w *workspace) loadForRights() error {
	config, diags, err := w.source.Read(w.flags.Context, w.loading)
	if err == nil && !diags.HasErrors() && len(config.Data) > 0 && w.connect(w.flags.Context) == nil {
		w.loading.Cluster, w.loading.Settled = w.cluster, true
		known, found, failed := w.source.Read(w.flags.Context, w.loading)
		if !found.HasErrors() {
			config, diags = known, found
		}
		err = failed
	}
	if err != nil {
		return err
	}
	return w.take(config, diags)
}

// rightsToRead are what the configuration reads that is not kolla's.
func (w *workspace) rightsToRead(objects []providers.Object, names *resourceNames) []rights.Read {
	const secrets = "Values are taken from Secrets here. A plan lists the Secrets of the namespace."
	var reads []rights.Read
	for _, scope := range engine.SecretSources(w.config) {
		reads = append(reads, rights.Read{GVK: scope.GVK, Namespace: scope.Namespace, Why: secrets})
	}
	for i := range objects {
		for _, data := range objects[i].Data {
			for _, part := range data.Parts {
				if part.From != nil {
					reads = append(reads, rights.Read{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: part.From.Namespace, Why: secrets})
				}
			}
		}
	}
	for _, d := range w.config.Data {
		kind, namespaced, ok := names.read(d.APIVersion, d.Kind)
		if !ok {
			continue
		}
		read := rights.Read{GVK: kind, Why: fmt.Sprintf("The block %s reads it.", d.Block)}
		if namespaced {
			read.Namespace = d.Namespace
			if read.Namespace == "" {
				read.Namespace = d.Home
			}
		}
		reads = append(reads, read)
	}
	return reads
}

// resourceNames knows under which names the API has the objects of kinds. It asks the
// cluster for what it does not know, once.
type resourceNames struct {
	*workspace
	defined map[schema.GroupKind]string // by definitions in the configuration
	guessed []string                    // kinds
	why     error                       // the cluster could not be asked
}

// of is the name for a kind.
func (n *resourceNames) of(kind schema.GroupVersionKind) string {
	if name, ok := kubernetes.BuiltinResource(kind); ok {
		return name
	}
	if name := n.defined[kind.GroupKind()]; name != "" {
		return name
	}
	var name string
	err := n.ask(func(ctx context.Context) (err error) {
		name, err = n.client.Resource(ctx, kind)
		return err
	})
	if err != nil {
		if text := kind.Kind + " of " + kind.GroupVersion().String(); !slices.Contains(n.guessed, text) {
			n.guessed = append(n.guessed, text)
		}
		return kubernetes.GuessedResource(kind)
	}
	return name
}

// define takes the names of resources from the definitions among the objects.
func (n *resourceNames) define(objects []providers.Object) {
	n.defined = map[schema.GroupKind]string{}
	for i := range objects {
		u := objects[i].Manifest
		if u.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		plural, _, _ := unstructured.NestedString(u.Object, "spec", "names", "plural")
		n.defined[schema.GroupKind{Group: group, Kind: kind}] = plural
	}
}

// namespaced is for rendering: whether objects of a kind live in namespaces.
func (n *resourceNames) namespaced(kind schema.GroupVersionKind) (namespaced, known bool) {
	if _, ok := kubernetes.BuiltinResource(kind); ok {
		return false, false // the renderer knows
	}
	err := n.ask(func(ctx context.Context) (err error) {
		namespaced, err = n.client.Namespaced(ctx, kind)
		return err
	})
	return namespaced, err == nil
}

// read is the kind that a data block names.
func (n *resourceNames) read(apiVersion, name string) (kind schema.GroupVersionKind, namespaced, ok bool) {
	if name == "" {
		return kind, false, false
	}
	if kind, namespaced, ok = kubernetes.BuiltinNamed(name); ok && (apiVersion == "" || apiVersion == kind.GroupVersion().String()) {
		return kind, namespaced, true
	}
	err := n.ask(func(ctx context.Context) (err error) {
		if apiVersion == "" {
			kind, namespaced, err = n.client.KindNamed(ctx, name)
			return err
		}
		kind = schema.FromAPIVersionAndKind(apiVersion, name)
		namespaced, err = n.client.Namespaced(ctx, kind)
		return err
	})
	if err == nil {
		return kind, namespaced, true
	}
	if apiVersion == "" {
		n.guessed = append(n.guessed, name+" (no rule: nobody knows its API group)")
		return kind, false, false
	}
	return schema.FromAPIVersionAndKind(apiVersion, name), true, true // of says that it is a guess
}

func (n *resourceNames) ask(question func(context.Context) error) error {
	if n.why != nil {
		return n.why
	}
	if err := n.dial(); err != nil {
		n.why = err
		return err
	}
	ctx, cancel := context.WithTimeout(n.flags.Context, kindsTimeout)
	defer cancel()
	err := question(ctx)
	if err != nil && ctx.Err() != nil {
		n.why = err
	}
	return err
}

func (w *workspace) warnGuessed(names *resourceNames) {
	if len(names.guessed) == 0 {
		return
	}
	slices.Sort(names.guessed)
	reason := "The cluster does not have these kinds yet"
	if names.why != nil {
		reason = "No cluster could be asked"
	}
	w.printer.Warn("Names of resources are guesses", fmt.Sprintf(
		"%s, so the rules name the plural of the kind. Run this again where the cluster has them.\n\n  %s",
		reason, strings.Join(slices.Compact(names.guessed), "\n  ")))
}

// subject is who gets the roles, as the RBAC API has it.
type subject struct {
	kind, name, namespace string
}

func subjectsOf(c *cli.Context) ([]subject, error) {
	var subjects []subject
	if name := c.String("user"); name != "" {
		subjects = append(subjects, subject{kind: "User", name: name})
	}
	if name := c.String("group"); name != "" {
		subjects = append(subjects, subject{kind: "Group", name: name})
	}
	if text := c.String("serviceaccount"); text != "" {
		namespace, name, ok := strings.Cut(text, ":")
		if !ok || namespace == "" || name == "" || strings.Contains(name, ":") {
			return nil, failure.New(fmt.Sprintf("%q is no service account", text), "Write -serviceaccount=NAMESPACE:NAME, as for kubectl create rolebinding.")
		}
		subjects = append(subjects, subject{kind: "ServiceAccount", name: name, namespace: namespace})
	}
	return subjects, nil
}

// writeRoles prints the roles, and the bindings if there are subjects.
func (w *workspace) writeRoles(roles []rights.Role, subjects []subject, objects []providers.Object, st *state.State) error {
	var b strings.Builder
	w.explainRoles(&b, roles, objects, st)
	for _, role := range roles {
		writeRole(&b, role)
	}
	if len(subjects) > 0 {
		for _, role := range roles {
			writeBinding(&b, role, subjects)
		}
	}
	_, err := io.WriteString(w.out, b.String())
	return err
}

// explainRoles is the comment at the top: what the roles are for, and what to do first.
func (w *workspace) explainRoles(out *strings.Builder, roles []rights.Role, objects []providers.Object, st *state.State) {
	does := "plan, apply, roll out and destroy"
	if w.flags.Bool("read-only") {
		does = "plan"
	}
	comment(out, "", fmt.Sprintf("What kolla needs to %s the cloud %q, and nothing else.", does, w.config.Cloud.Name))
	comment(out, "", "The version of the server and its list of kinds are open to every user who is logged in, by Kubernetes' own ClusterRole system:discovery.")
	var create, adopt []string
	for _, role := range roles {
		if role.Namespace != "" {
			create = append(create, "  kubectl create namespace "+words.Quote(role.Namespace))
		}
	}
	for i := range objects {
		o := &objects[i]
		if o.Ref().GVK.GroupKind() == kinds.Namespace && st.Find(o.Address.String()) == nil {
			adopt = append(adopt, "  "+words.Option("-adopt", o.Address.String()))
		}
	}
	out.WriteString("#\n")
	comment(out, "", "A Role lives in a namespace, which has to be there first:")
	for _, line := range create {
		foreign.Fprintf(out, "# %s\n", line)
	}
	if len(adopt) > 0 {
		comment(out, "", "A namespace that kolla did not make is taken over by the first apply. Plan and apply with:")
		for _, line := range adopt {
			foreign.Fprintf(out, "# %s\n", line)
		}
	}
	if !w.flags.Bool("read-only") {
		out.WriteString("#\n")
		comment(out, "", "A destroy leaves a namespace that holds these Roles, or kinds that they do not let kolla list. Delete it with kubectl.")
	}
}

func writeRole(out *strings.Builder, role rights.Role) {
	head(out, "Role", role)
	out.WriteString("rules:\n")
	for _, rule := range role.Rules {
		comment(out, "  ", rule.Why)
		lead := "  - "
		for _, field := range []struct {
			name   string
			values []string
		}{
			{"apiGroups", rule.Groups},
			{"resources", rule.Resources},
			{"resourceNames", rule.Names},
			{"nonResourceURLs", rule.URLs},
			{"verbs", rule.Verbs},
		} {
			if len(field.values) > 0 {
				foreign.Fprintf(out, "%s%s: %s\n", lead, field.name, flow(field.values))
				lead = "    "
			}
		}
	}
}

func writeBinding(out *strings.Builder, role rights.Role, subjects []subject) {
	head(out, "RoleBinding", role)
	kind := "Role"
	if role.Namespace == "" {
		kind = "ClusterRole"
	}
	foreign.Fprintf(out, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: %s\nsubjects:\n", kind, scalar(role.Name))
	for _, s := range subjects {
		foreign.Fprintf(out, "  - kind: %s\n    name: %s\n", s.kind, scalar(s.name))
		if s.namespace != "" {
			foreign.Fprintf(out, "    namespace: %s\n", scalar(s.namespace))
		} else {
			out.WriteString("    apiGroup: rbac.authorization.k8s.io\n")
		}
	}
}

// head begins the document of a role or binding.
func head(out *strings.Builder, kind string, role rights.Role) {
	if role.Namespace == "" {
		kind = "Cluster" + kind
	}
	foreign.Fprintf(out, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n", kind, scalar(role.Name))
	if role.Namespace != "" {
		foreign.Fprintf(out, "  namespace: %s\n", scalar(role.Namespace))
	}
}

// comment writes sentences as comments of YAML, at most 90 columns wide.
func comment(out *strings.Builder, indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(foreign.Text(text)) {
		if len(line)+1+len(word) > 90 {
			out.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	if line != indent+"#" {
		out.WriteString(line + "\n")
	}
}

// flow is a list as YAML writes it on one line.
func flow(values []string) string {
	quoted := make([]string, 0, len(values))
	for _, value := range values {
		quoted = append(quoted, scalar(value))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// scalar is a string as JSON has it, which YAML reads too.
func scalar(value string) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string
	}
	return string(text)
}
