package diagnose

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
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
	"kolla.openstack.org/kolla/providers/openstack"
)

// deepPatience is how long Tempest may take without -timeout.
const deepPatience = 6 * time.Hour

// checkDeep runs Tempest in a pod of the cloud's namespace, and prints its results.
func checkDeep(ctx context.Context, w *command.Workspace, cloud *smoke.Cloud) error {
	choice, err := chosenTests(w)
	if err != nil {
		return err
	}
	described, err := smoke.Describe(ctx, cloud)
	if err != nil {
		return failure.New("The cloud cannot be described to Tempest", err.Error())
	}
	addDeclared(&described, w.Config)
	choice.Without = append(choice.Without, described.Undeclared()...)
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
	if !showDeep(w.Streams.Out, func(text string) { tell(w, text) }, cloud.Mask, results, choice) {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// knownTests is the list of the catalogue of tests that are known to fail.
const knownTests = "tempest/known.txt"

// chosenTests returns the tests that the options choose, without those that are known to fail.
func chosenTests(w *command.Workspace) (tempest.Choice, error) {
	choice := tempest.Choice{Regex: w.Flags.String("tests"), Password: access.AdministratorsPassword(w.Config)}
	text, err := fs.ReadFile(openstack.Catalogue(), knownTests)
	if err != nil {
		return choice, err
	}
	known, err := tempest.Known(string(text))
	if err != nil {
		return choice, err
	}
	choice.Without = tempest.Omissions(known)
	if without := w.Flags.String("without"); without != "" {
		if _, err := regexp.Compile(without); err != nil || strings.ContainsAny(without, "#\n") {
			return choice, failure.New(fmt.Sprintf("-without=%s is no regular expression", without), "Name tests, such as -without='tempest.api.volume|test_rescue', without #.")
		}
		choice.Without = append(choice.Without, tempest.Omission{Name: without, Regex: without, Reason: "Left out by -without."})
	}
	for _, x := range w.Config.Exposures {
		if x.TLS != nil && x.TLS.PrivateCA {
			choice.CA = corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: x.TLS.Secret}, Key: configs.KeyCA}
		}
	}
	return choice, nil
}

// traceLines is how many lines of a traceback are printed.
const traceLines = 10

// showDeep prints the results of Tempest. It reports whether all is well: a test passed, none failed, and no required
// test was skipped. tell prints a sentence, and mask removes secret values.
func showDeep(out io.Writer, tell func(string), mask func(string) string, results []tempest.Result, choice tempest.Choice) bool {
	var table strings.Builder
	tempest.Table(&table, results)
	fmt.Fprint(out, foreign.Lines(mask(table.String())))
	passed, failed := 0, 0
	for _, r := range results {
		switch r.Status {
		case tempest.Passed:
			passed++
		case tempest.Failed:
			failed++
			foreign.Fprintf(out, "\nFailed: %s\n", r.Name)
			for _, line := range r.Trace[max(0, len(r.Trace)-traceLines):] {
				foreign.Fprintf(out, "    %s\n", mask(line))
			}
		}
	}
	var skipped []tempest.Result
	var absent []string
	if choice.Regex == "" {
		skipped, absent = tempest.Unmet(results, choice.Without)
	}
	for _, r := range skipped {
		fmt.Fprintln(out)
		tell("Required, and skipped: " + foreign.Line(r.Name+": "+mask(r.Reason)))
	}
	fmt.Fprintf(out, "\nLeft out:\n")
	for _, o := range choice.Without {
		tell("- " + foreign.Line(o.Name+": "+o.Reason))
	}
	if len(absent) > 0 {
		fmt.Fprintf(out, "\n%s without a result: this Tempest does not have them.\n", words.Count(len(absent), "required test"))
	}
	if failed > 0 {
		fmt.Fprintf(out, "\n%s failed. -tests=NAME runs one alone.\n", words.Count(failed, "test"))
	}
	if len(skipped) > 0 {
		fmt.Fprintf(out, "\n%s skipped. -without=REGEX leaves tests out.\n", words.Count(len(skipped), "required test"))
	}
	if passed == 0 {
		fmt.Fprintf(out, "\nNo test passed.\n")
	}
	return passed > 0 && failed+len(skipped) == 0
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

// addDeclared adds what the configuration says of the cloud: rules for passwords, the disks of servers, and consoles.
func addDeclared(c *tempest.Cloud, config *configs.Config) {
	for _, text := range configFiles(config, "keystone.conf") {
		c.PasswordRules = tempest.PasswordRules(text)
	}
	for _, text := range configFiles(config, "nova-compute.conf") {
		c.SharedDisks = c.SharedDisks || tempest.Section(text, "libvirt")["images_type"] == "rbd"
	}
	consoles, exposed := 0, 0
	for i := range config.Services {
		s := &config.Services[i]
		for _, p := range s.Ports {
			if p.Name == "vnc" && !s.External {
				consoles++
				if config.Exposure(s.Exposure) != nil && p.Exposed {
					exposed++
				}
			}
		}
	}
	c.Consoles = consoles > 0 && consoles == exposed
}

// configFiles returns the contents of the config files with a name, of all services.
func configFiles(config *configs.Config, name string) (out []string) {
	objects, _ := openstack.Render(config, openstack.Offline()) // its mistakes are those of a plan
	for _, o := range objects {
		data, _ := o.Manifest.Object["data"].(map[string]any)
		if o.Address.Kind != "ConfigMap" || !strings.Contains(o.Address.Name, name) {
			continue
		}
		for _, text := range data {
			if text, ok := text.(string); ok {
				out = append(out, text)
			}
		}
	}
	return out
}
