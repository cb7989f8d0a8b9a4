package operate

import (
	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/access"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/operator"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

func manifestsCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "manifests",
		Usage: "Print the objects that install the operator",
		Description: `
Prints the CustomResourceDefinitions, the namespace, the operator's service account with its
rights, its Deployment, and a Service by which a Prometheus finds its metrics:

  kolla operator manifests -image=registry.example.org/kolla:1.0 | kubectl apply --server-side -f -

The operator itself has no rights in a cloud: it acts in the name of the service account
that a Cloud names. With -serviceaccount, this also prints that account, the namespaces of
the cloud in the current directory, and exactly the rights that this cloud needs, as kolla
rbac does. kolla then did not make the cloud's namespace: let the first plan take it over,
with spec.adopt: [cloud.NAME/Namespace/NAMESPACE] in the Cloud. make image makes the image.`,
		Flags: append(command.CloudFlags(),
			&cli.StringFlag{Name: "image", Usage: "the `IMAGE` with kolla, as nodes pull it"},
			&cli.StringFlag{Name: "namespace", Value: operator.Name, Usage: "the namespace `NAME` of the operator and its Clouds"},
			&cli.IntFlag{Name: "replicas", Value: 2, Usage: "run `N` operators; one of them leads"},
			&cli.StringFlag{Name: "serviceaccount", Usage: "also print the service account `NAME` of a Cloud, with the rights for the configuration in the current directory"},
			&cli.BoolFlag{Name: "monitor", Usage: "also print a PodMonitor, for a cluster with the Prometheus Operator"},
			&cli.StringFlag{Name: "monitor-labels", Usage: "give the PodMonitor these `LABELS`, by which a Prometheus selects it: release=kube-prometheus-stack"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if c.String("image") == "" {
				return failure.New("-image is missing", "make image makes the image of kolla. Push it to a registry of yours, and name it: -image=registry.example.org/kolla:1.0.")
			}
			in := operator.Installation{
				Namespace: c.String("namespace"), Image: c.String("image"), Replicas: int32(max(0, min(c.Int("replicas"), 100))), Account: c.String("serviceaccount"),
				Monitor: c.Bool("monitor") || c.IsSet("monitor-labels"),
			}
			var err error
			if in.MonitorLabels, err = labels.ConvertSelectorToLabelsMap(c.String("monitor-labels")); err != nil {
				return failure.New("-monitor-labels are not labels", "They are pairs with commas between them: -monitor-labels=release=kube-prometheus-stack,team=cloud.")
			}
			text, err := operator.Manifests(in)
			if err != nil {
				return err
			}
			if in.Account == "" {
				_, err := s.Out.Write(text)
				return err
			}
			w := command.NewWorkspace(s, c)
			if err := shared(); err != nil {
				return err
			}
			_, roles, err := access.Roles(w)
			if err != nil {
				return err
			}
			var namespaces []string
			for _, role := range roles {
				if role.Namespace != "" && role.Namespace != in.Namespace {
					namespaces = append(namespaces, role.Namespace)
				}
			}
			more, err := operator.Namespaces(namespaces)
			if err != nil {
				return err
			}
			account := rights.Subject{Kind: "ServiceAccount", Name: in.Account, Namespace: in.Namespace}
			_, err = s.Out.Write(append(append(text, more...), "---\n"+rights.YAML(roles, []rights.Subject{account})...))
			return err
		},
	}
}

// shared refuses a configuration whose state the operator would not have.
func shared() error {
	backend, _, diags := lang.Backend(".", nil)
	if diags.HasErrors() || backend.Kind == configs.KubernetesBackend {
		return nil // loading reports the errors
	}
	return failure.New("The state of this cloud is in a file", "The operator does not have that file. Keep the state in the cluster: write `backend \"kubernetes\" {}` into the cloud block, and run `kolla init -migrate-state` if there is a state.")
}
