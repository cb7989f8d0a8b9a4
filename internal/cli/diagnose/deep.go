package diagnose

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/access"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/internal/run/smoke"
	"kolla.openstack.org/kolla/internal/run/tempest"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// deepPatience is how long Tempest may take without -timeout.
const deepPatience = 6 * time.Hour

// checkDeep runs Tempest in a pod of the cloud's namespace, and prints its results.
func checkDeep(ctx context.Context, w *command.Workspace, cloud *smoke.Cloud) error {
	known, err := tempest.Known()
	if err != nil {
		return err
	}
	described, err := smoke.Describe(ctx, cloud)
	if err != nil {
		return failure.New("The cloud cannot be described to Tempest", err.Error())
	}
	described.PasswordRules = passwordRules(w.Config)
	choice := tempest.Choice{Regex: w.Flags.String("tests"), Without: known, Password: access.AdministratorsPassword(w.Config)}
	for _, x := range w.Config.Exposures {
		if x.TLS != nil && x.TLS.PrivateCA {
			choice.CA = corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: x.TLS.Secret}, Key: configs.KeyCA}
		}
	}
	base := tempestImage(w)
	runner := prober(w)
	if !w.Flags.IsSet("timeout") {
		runner.Patience = deepPatience
	}
	foreign.Fprintf(w.Streams.Out, "Cloud %q. Tempest runs in a pod of namespace %s, from %s.\n\n", cloud.Name, runner.Namespace, base.Image)
	outcomes, err := runner.Run(ctx, []probe.Pod{tempest.Pod(base, described, choice)})
	if err != nil {
		return err
	}
	if problem := outcomes[0].Problem; problem != "" {
		return failure.New("Tempest did not run to its end", w.Cluster.Secrets.Text(failure.Sentence(problem))+".")
	}
	results, err := tempest.Read(outcomes[0].Log)
	if err != nil {
		return failure.New("Tempest has no results", failure.Sentence(err.Error())+". Its last words: "+w.Cluster.Secrets.Text(strings.Join(lastLines(outcomes[0].Log, 5), " / ")))
	}
	return showDeep(w, results, known)
}

// showDeep prints the results of Tempest.
func showDeep(w *command.Workspace, results []tempest.Result, known map[string]string) error {
	var table strings.Builder
	tempest.Table(&table, results)
	foreign.Fprintf(w.Streams.Out, "%s", table.String())
	var failed []string
	for _, r := range results {
		if r.Status == tempest.Failed {
			failed = append(failed, r.Name)
		}
	}
	for _, name := range failed {
		foreign.Fprintf(w.Streams.Out, "\nFailed: %s\n", name)
	}
	fmt.Fprintf(w.Streams.Out, "\nLeft out:\n")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		tell(w, "- "+name+": "+known[name])
	}
	if len(failed) == 0 {
		return nil
	}
	fmt.Fprintf(w.Streams.Out, "\n%s failed. -tests=NAME runs one alone.\n", words.Count(len(failed), "test"))
	return command.ExitCode(command.ExitChanges)
}

// lastLines returns the last lines of a text.
func lastLines(text string, n int) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[max(0, len(lines)-n):]
}

// tempestImage returns the image with Tempest, from the same registry and with the same tag as the others.
func tempestImage(w *command.Workspace) probe.Base {
	c := &w.Config.Cloud
	base := probe.Base{Image: w.Flags.String("tempest-image")}
	if base.Image == "" {
		base.Image = fmt.Sprintf("%s/%stempest:%s", c.Registry, c.Prefix, c.ImageTag())
	}
	for _, name := range c.PullSecrets {
		base.PullSecrets = append(base.PullSecrets, corev1.LocalObjectReference{Name: name})
	}
	return base
}

// passwordRules returns the rules for passwords in the keystone.conf of the configuration.
func passwordRules(config *configs.Config) map[string]string {
	objects, _ := openstack.Render(config, openstack.Offline()) // its mistakes are those of a plan
	at := slices.IndexFunc(objects, func(o providers.Object) bool {
		return o.Address.Kind == "ConfigMap" && strings.HasPrefix(o.Address.Name, "keystone.conf")
	})
	if at < 0 {
		return nil
	}
	data, _ := objects[at].Manifest.Object["data"].(map[string]any)
	for _, text := range data {
		if text, ok := text.(string); ok {
			return tempest.PasswordRules(text)
		}
	}
	return nil
}
