package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/rights"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

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
	names := rights.NewNames(w.flags.Context, w.cluster.Client)
	facts := openstack.Offline()
	facts.Namespaced = names.Namespaced
	objects, diags := openstack.Render(w.config, facts)
	w.printer.Diagnostics(diags, w.config.Files)
	if diags.HasErrors() {
		return exitCode(exitError)
	}
	names.Define(objects)
	roles := rights.Of(rights.Input{
		Cloud: w.config.Cloud.Name, Namespace: w.config.Cloud.Namespace, Objects: objects, Known: st.Objects,
		Roles: w.config.Roles, Reads: names.Reads(engine.SecretSources(w.config), objects, w.config.Data), Resource: names.Resource, ReadOnly: w.flags.Bool("read-only"),
	})
	w.warnGuessed(names)
	return w.writeRoles(roles, subjects, objects, st)
}

// loadForRights loads the configuration without a cluster. If there are data blocks and the
// cluster answers, it loads the configuration again with their data, which may decide what
// the configuration contains.
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

// warnGuessed names the kinds whose resources could not be found out.
func (w *workspace) warnGuessed(names *rights.Names) {
	guessed, failed := names.Guessed()
	if len(guessed) == 0 {
		return
	}
	reason := "The cluster does not have these kinds yet"
	if failed != nil {
		reason = "No cluster could be asked"
	}
	w.printer.Warn("Names of resources are guesses", fmt.Sprintf(
		"%s, so the rules name the plural of the kind. Run this again where the cluster has them.\n\n  %s",
		reason, strings.Join(guessed, "\n  ")))
}

// subjectsOf reads the options that say who gets the roles.
func subjectsOf(c *cli.Context) ([]rights.Subject, error) {
	var subjects []rights.Subject
	if name := c.String("user"); name != "" {
		subjects = append(subjects, rights.Subject{Kind: "User", Name: name})
	}
	if name := c.String("group"); name != "" {
		subjects = append(subjects, rights.Subject{Kind: "Group", Name: name})
	}
	if text := c.String("serviceaccount"); text != "" {
		namespace, name, ok := strings.Cut(text, ":")
		if !ok || namespace == "" || name == "" || strings.Contains(name, ":") {
			return nil, failure.New(fmt.Sprintf("%q is no service account", text), "Write -serviceaccount=NAMESPACE:NAME, as for kubectl create rolebinding.")
		}
		subjects = append(subjects, rights.Subject{Kind: "ServiceAccount", Name: name, Namespace: namespace})
	}
	return subjects, nil
}

// writeRoles prints the roles, and the bindings if there are subjects.
func (w *workspace) writeRoles(roles []rights.Role, subjects []rights.Subject, objects []providers.Object, st *state.State) error {
	var b strings.Builder
	w.explainRoles(&b, roles, objects, st)
	_, err := io.WriteString(w.out, b.String()+rights.YAML(roles, subjects))
	return err
}

// explainRoles writes the comment at the top: the purpose of the roles, and the first step.
func (w *workspace) explainRoles(out *strings.Builder, roles []rights.Role, objects []providers.Object, st *state.State) {
	does := "plan, apply, roll out and destroy"
	if w.flags.Bool("read-only") {
		does = "plan"
	}
	rights.Comment(out, "", fmt.Sprintf("What kolla needs to %s the cloud %q, and nothing else.", does, w.config.Cloud.Name))
	rights.Comment(out, "", "The version of the server and its list of kinds are open to every user who is logged in, by Kubernetes' own ClusterRole system:discovery.")
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
	rights.Comment(out, "", "A Role lives in a namespace, which has to be there first:")
	for _, line := range create {
		foreign.Fprintf(out, "# %s\n", line)
	}
	if len(adopt) > 0 {
		rights.Comment(out, "", "A namespace that kolla did not make is taken over by the first apply. Plan and apply with:")
		for _, line := range adopt {
			foreign.Fprintf(out, "# %s\n", line)
		}
	}
	if !w.flags.Bool("read-only") {
		out.WriteString("#\n")
		rights.Comment(out, "", "A destroy leaves a namespace that holds these Roles, or kinds that they do not let kolla list. Delete it with kubectl.")
	}
}
