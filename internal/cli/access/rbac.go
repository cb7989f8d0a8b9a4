// Package access has the commands that print the rights that kolla needs, and the login of the administrator.
package access

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// RBAC is `kolla rbac`.
func RBAC(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "rbac",
		Usage: "Print the Kubernetes roles that kolla needs for this cloud",
		Description: `
It prints a ClusterRole, and a Role for each namespace, as YAML with a comment that gives
the reason for each rule. They contain only the rights that plan, apply, rollout and destroy
need for this configuration and this state; with -read-only, only the rights of plan. Print
them again when the configuration gets a new kind of object or another namespace.

With -user, -group or -serviceaccount it also prints the bindings:

  kolla rbac -serviceaccount=ci:kolla | kubectl apply -f -

It needs no cluster for the services of the catalogue. For custom resources in manifests it
asks the cluster for the resource name, and it reads data blocks there. Without a cluster it
guesses the name, and reports the guesses and the parts that it cannot know.

RBAC cannot allow only dry runs. So a plan with the rights of -read-only does no dry runs:
it shows changes, and marks them as not verified.`,
		Flags: append(command.CloudFlags(), command.StateFlag(),
			&cli.BoolFlag{Name: "read-only", Usage: "print only the rights that kolla plan needs"},
			&cli.StringFlag{Name: "user", Usage: "also bind the roles to the user `NAME`"},
			&cli.StringFlag{Name: "group", Usage: "also bind the roles to the group `NAME`"},
			&cli.StringFlag{Name: "serviceaccount", Usage: "also bind the roles to the service account `NAMESPACE:NAME`"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			return runRBAC(command.NewWorkspace(s, c))
		},
	}
}

func runRBAC(w *command.Workspace) error {
	subjects, err := subjectsOf(w.Flags)
	if err != nil {
		return err
	}
	in, roles, err := Roles(w)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w.Streams.Out, rights.Preface(in, roles)+rights.YAML(roles, subjects))
	return err
}

// Roles returns the roles that the configuration and the state of a workspace need, and what determines
// them.
func Roles(w *command.Workspace) (in rights.Input, roles []rights.Role, err error) {
	if err := loadForRights(w); err != nil {
		return in, nil, err
	}
	st, err := KnownState(w)
	if err != nil {
		return in, nil, err
	}
	if err := st.CheckCloud(w.Config.Cloud.Name); err != nil {
		return in, nil, err
	}
	names := rights.NewNames(w.Flags.Context, w.Cluster.Client)
	facts := openstack.Offline()
	facts.Namespaced = names.Namespaced
	objects, diags := openstack.Render(w.Config, facts)
	w.Printer.Diagnostics(diags, w.Config.Files)
	if diags.HasErrors() {
		return in, nil, command.ExitCode(command.ExitError)
	}
	names.Define(objects)
	in = RightsInput(w, names, objects, st)
	in.ReadOnly = w.Flags.Bool("read-only")
	roles = rights.Of(in)
	warnGuessed(w.Printer, names)
	return in, roles, nil
}

// lookedFor returns what a plan looks for because of the exposures and an upgrade, and no other part of it.
func lookedFor(config *configs.Config) []rights.Read {
	const programs, vip = "A plan says whether the cluster has the Ingress class, the Gateway or the issuer of an exposure.", "A plan says whether the VIP of an exposure is an address of the cluster."
	const listeners = "A plan says whether a listener of the Gateway takes the routes of an exposure: by the labels of the namespace, and at which ports."
	out := []rights.Read{{
		GVK: kinds.CronJob.WithVersion("v1"), Namespace: config.Cloud.Namespace,
		Why: "The plan of an upgrade tells the age of the newest backup that a CronJob of this namespace made.",
	}}
	for _, scope := range openstack.ServedBy(config) {
		why := programs
		switch scope.GVK.GroupKind() {
		case kinds.Node, kinds.Certificate:
			continue // of the roles, and of the objects
		case kinds.ServiceCIDR:
			why = vip
		case kinds.GatewayClass, kinds.Namespace:
			why = listeners
		}
		out = append(out, rights.Read{GVK: scope.GVK, Namespace: scope.Namespace, Why: why})
	}
	return out
}

// RightsInput returns what determines the rights for objects of the configuration and a state.
func RightsInput(w *command.Workspace, names *rights.Names, objects []providers.Object, st *state.State) rights.Input {
	return rights.Input{
		Cloud: w.Config.Cloud.Name, Namespace: w.Config.Cloud.Namespace, Objects: objects, Known: st.Objects,
		Roles: w.Config.Roles, Resource: names.Resource,
		Reads: append(names.Reads(engine.SecretSources(w.Config), objects, w.Config.Data), lookedFor(w.Config)...),
		State: w.StateNamespace(),
	}
}

// KnownState reads the state. A state in a cluster that does not answer, or that the user may
// not read yet, counts as empty.
func KnownState(w *command.Workspace) (*state.State, error) {
	if err := w.OpenStore(w.Flags.Context); err != nil && w.StateNamespace() == "" {
		return nil, err
	}
	if w.StateNamespace() == "" {
		return w.Store.Read()
	}
	st := &state.State{}
	if w.Store != nil {
		if read, err := w.Store.Read(); err == nil {
			return read, nil
		}
	}
	w.Printer.Warn("The state in the cluster cannot be read", "There are no rights here for objects that only the state knows. If there is a state already, print the roles again with the right to read it.")
	return st, nil
}

// loadForRights loads the configuration without a cluster. If there are data blocks and the
// cluster answers, it loads the configuration again with their data, which may decide what
// the configuration contains.
func loadForRights(w *command.Workspace) error {
	config, diags, err := w.Source.Read(w.Flags.Context, w.Loading)
	if err == nil && !diags.HasErrors() && len(config.Data) > 0 && w.Connect(w.Flags.Context) == nil {
		w.Loading.Cluster, w.Loading.Settled = w.Cluster, true
		known, found, failed := w.Source.Read(w.Flags.Context, w.Loading)
		if !found.HasErrors() {
			config, diags = known, found
		}
		err = failed
	}
	if err != nil {
		return err
	}
	return w.Take(config, diags)
}

// warnGuessed names the kinds whose resource names are guesses.
func warnGuessed(printer *view.Printer, names *rights.Names) {
	guessed, failed := names.Guessed()
	if len(guessed) == 0 {
		return
	}
	reason := "The cluster does not have these kinds yet"
	if failed != nil {
		reason = "No cluster could be asked"
	}
	printer.Warn("Names of resources are guesses", fmt.Sprintf(
		"%s, so the rules name the plural of the kind. Run this again where the cluster has them.\n\n  %s",
		reason, strings.Join(guessed, "\n  ")))
}

// subjectsOf reads the options with users and groups that get the roles.
func subjectsOf(c *cli.Context) ([]rights.Subject, error) {
	var subjects []rights.Subject
	for _, kind := range []string{"User", "Group"} {
		if name := c.String(strings.ToLower(kind)); name != "" {
			subjects = append(subjects, rights.Subject{Kind: kind, Name: name})
		}
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
