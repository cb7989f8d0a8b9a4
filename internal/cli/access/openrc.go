package access

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// The administrator that the job bootstrap of the definition keystone makes.
const (
	adminUser   = "admin" // and the name of the project
	adminDomain = "Default"
	adminSecret = "admin" // of the service
)

// OpenRC is `kolla openrc`.
func OpenRC(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "openrc",
		Usage:     "Print the settings of the administrator for OpenStack clients",
		ArgsUsage: "[SERVICE]",
		Description: `
Prints a file for a shell: the public URL of Keystone, the administrator, project, domains
and region.

  kolla openrc > admin-openrc.sh
  . ./admin-openrc.sh
  openstack token issue

The file has no password, because secret values are in the cluster only. The shell asks the
cluster for the password with kubectl when it reads the file. With -clouds-yaml it prints a
clouds.yaml, also without a password: openstack takes it from OS_PASSWORD, other programs
from a file secure.yaml beside it.

If the exposure has a CA of its own, the shell also asks the cluster for the certificate of
the CA, and writes it to ~/.config/openstack. For a clouds.yaml, kolla exposure certificate
-ca writes it. With -cacert, clients use the certificates of another file.

-out writes a file that only you may read, instead of printing. With -with-password the file
has the password, read from the cluster. It is printed nowhere.

SERVICE names the Keystone if there are several. It evaluates the configuration, and needs a
cluster only to read data blocks and the password.`,
		Flags: append(command.CloudFlags(),
			&cli.BoolFlag{Name: "clouds-yaml", Usage: "print a clouds.yaml instead of a file for a shell"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE` instead of printing"},
			&cli.BoolFlag{Name: "with-password", Usage: "write the password into the file of -out"},
			&cli.StringFlag{Name: "cacert", Usage: "clients trust the CA certificates in `FILE`"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if len(names) > 1 {
				return command.TooMany(c, names[1])
			}
			return runOpenRC(command.NewWorkspace(s, c), names)
		},
	}
}

func runOpenRC(w *command.Workspace, names []string) error {
	target := files.Output{Path: w.Flags.String("out"), Option: "-out", Content: "settings of kolla openrc", Ours: files.Begins(openrcBegin)}
	if w.Flags.Bool("with-password") && target.Path == "" {
		return failure.New("A password is never printed", "-with-password needs -out=FILE. Only you may read that file.")
	}
	if err := target.Check(); err != nil {
		return err
	}
	if err := w.LoadSettled(); err != nil {
		return err
	}
	keystone, err := chooseKeystone(w.Config, names)
	if err != nil {
		return err
	}
	a, err := accessTo(w, keystone)
	if err != nil {
		return err
	}
	if w.Flags.Bool("with-password") {
		if a.secret, err = passwordOf(w, keystone); err != nil {
			return err
		}
	}
	text := a.shell()
	if w.Flags.Bool("clouds-yaml") {
		if text, err = a.cloudsYAML(); err != nil {
			return err
		}
	}
	if target.Path != "" {
		return target.WriteSecret([]byte(text))
	}
	_, err = io.WriteString(w.Streams.Out, text)
	return err
}

// chooseKeystone finds the service with the identity endpoint and the administrator's password.
func chooseKeystone(config *configs.Config, names []string) (*configs.Service, error) {
	var found []*configs.Service
	var known []string
	for i := range config.Services {
		s := &config.Services[i]
		isIdentity := slices.ContainsFunc(s.Endpoints, func(e configs.Endpoint) bool { return e.Type == "identity" })
		if s.External || !isIdentity || !slices.ContainsFunc(s.Secrets, func(secret configs.Secret) bool { return secret.Name == adminSecret }) {
			continue
		}
		known = append(known, s.Name)
		if len(names) == 0 || s.Name == names[0] || s.Block == names[0] {
			found = append(found, s)
		}
	}
	switch {
	case len(known) == 0:
		return nil, failure.New("The cloud has no Keystone of its own", `Add service "keystone" {}. The administrator of an external Keystone is not known to kolla.`)
	case len(found) == 0:
		return nil, failure.New(fmt.Sprintf("No Keystone %q", names[0]), command.DidYouMean(names[0], known)+"The configuration has: "+strings.Join(known, ", ")+".")
	case len(found) > 1:
		return nil, failure.New("Which Keystone?", "The configuration has several: "+strings.Join(known, ", ")+". Name one: kolla openrc "+known[0])
	}
	return found[0], nil
}

// Administrator returns the public URL of the cloud's Keystone, and the password of the administrator from the cluster.
func Administrator(w *command.Workspace) (url, password string, err error) {
	keystone, err := chooseKeystone(w.Config, nil)
	if err != nil {
		return "", "", err
	}
	a, err := accessTo(w, keystone)
	if err != nil {
		return "", "", err
	}
	password, err = passwordOf(w, keystone)
	return a.url, password, err
}

// AdministratorsPassword returns the place of the password that [Administrator] reads.
func AdministratorsPassword(config *configs.Config) corev1.SecretKeySelector {
	keystone, err := chooseKeystone(config, nil)
	if err != nil {
		return corev1.SecretKeySelector{} // Administrator has reported it
	}
	at := adminPassword(keystone)
	return corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: at.Object()}, Key: at.Key}
}

// access is what a client needs.
type access struct {
	cloud, url, region string
	cacert             string // path; may be empty
	password           string // a command for a shell that prints the password
	secret             string // the password; empty: it stays in the cluster
	// ca is a command for a shell that prints the certificate of the CA, if there is one; empty:
	// clients know the CA. caFile is the name of a file for it below ~/.config.
	ca, caFile string
	exposure   *configs.Exposure
}

// openrcBegin is the beginning of what kolla openrc writes.
const openrcBegin = "# The administrator of cloud "

// passwordOf reads the password of the administrator from the cluster.
func passwordOf(w *command.Workspace, keystone *configs.Service) (string, error) {
	if err := w.Dial(); err != nil {
		return "", err
	}
	at := adminPassword(keystone)
	ref := providers.Ref{GVK: kinds.Secret.WithVersion("v1"), Namespace: w.Config.Cloud.Namespace, Name: at.Object()}
	live, err := w.Client.Get(w.Flags.Context, ref)
	switch {
	case apierrors.IsNotFound(err):
		return "", failure.New("The cluster has no password yet", fmt.Sprintf("%s does not exist. kolla apply makes it.", ref))
	case err != nil:
		return "", err
	}
	value := string(providers.ValuesOf(live)[at.Key])
	if value == "" {
		return "", failure.New("The cluster has no password yet", fmt.Sprintf("%s has no key %s.", ref, at.Key))
	}
	return value, nil
}

// adminPassword is the place of the password of the administrator.
func adminPassword(keystone *configs.Service) configs.SecretRef {
	return configs.SecretRef{Service: keystone.Name, Secret: adminSecret, Key: "value"}
}

func accessTo(w *command.Workspace, keystone *configs.Service) (access, error) {
	a := access{cloud: w.Config.Cloud.Name, region: w.Config.Cloud.Region, cacert: w.Flags.String("cacert")}
	i := slices.IndexFunc(keystone.Endpoints, func(e configs.Endpoint) bool { return e.Type == "identity" })
	endpoint := keystone.Endpoints[i]
	p := slices.IndexFunc(keystone.Ports, func(p configs.Port) bool { return p.Name == endpoint.Port })
	x := w.Config.Exposure(keystone.Exposure)
	if x == nil || p < 0 || !keystone.Ports[p].Exposed {
		return a, failure.New(fmt.Sprintf("Service %q is not reachable from outside", keystone.Name), "Clients need an address: add expose = exposure.NAME to the service, or to the defaults of the cloud.")
	}
	a.url = x.Entry(keystone.Name, keystone.Ports, keystone.Ports[p]).URL() + endpoint.Path
	var err error
	if a.cacert != "" {
		if a.cacert, err = filepath.Abs(a.cacert); err != nil {
			return a, err
		}
	}
	kubectl := "kubectl"
	if file := w.Flags.String("kubeconfig"); file != "" {
		if file, err = filepath.Abs(file); err != nil {
			return a, err
		}
		kubectl += " --kubeconfig=" + words.Quote(file)
	}
	if context := w.Flags.String("context"); context != "" {
		kubectl += " --context=" + words.Quote(context)
	}
	a.exposure = x
	if a.cacert == "" && x.TLS != nil && x.TLS.PrivateCA {
		a.caFile = fmt.Sprintf("openstack/%s-%s-ca.pem", a.cloud, x.Name)
		a.ca = fmt.Sprintf("%s -n %s get secret %s -o go-template='{{with index .data %q}}{{. | base64decode}}{{end}}'", kubectl, w.Config.Cloud.Namespace, x.TLS.Secret, configs.KeyCA)
	}
	password := adminPassword(keystone)
	a.password = fmt.Sprintf("%s -n %s get secret %s -o go-template='{{index .data %q | base64decode}}'", kubectl, w.Config.Cloud.Namespace, password.Object(), password.Key)
	return a, nil
}

// shell returns a file that a shell reads.
func (a access) shell() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s, by kolla openrc. Read this file with: . ./FILE\n", openrcBegin, a.cloud)
	if a.secret == "" {
		b.WriteString("# It has no password: kubectl reads it from the cluster.\n")
	}
	for _, v := range [][2]string{
		{"OS_AUTH_URL", a.url},
		{"OS_IDENTITY_API_VERSION", "3"},
		{"OS_USERNAME", adminUser},
		{"OS_USER_DOMAIN_NAME", adminDomain},
		{"OS_PROJECT_NAME", adminUser},
		{"OS_PROJECT_DOMAIN_NAME", adminDomain},
		{"OS_REGION_NAME", a.region},
		{"OS_CACERT", a.cacert},
	} {
		if v[1] != "" {
			fmt.Fprintf(&b, "export %s=%s\n", v[0], words.Quote(v[1]))
		}
	}
	if a.ca != "" {
		fmt.Fprintf(&b, `OS_CACERT=${XDG_CONFIG_HOME:-"$HOME/.config"}/%[1]s
mkdir -p "${OS_CACERT%%/*}" && %[2]s > "$OS_CACERT.new" && mv "$OS_CACERT.new" "$OS_CACERT" && export OS_CACERT
[ -s "$OS_CACERT" ] || unset OS_CACERT
`, a.caFile, a.ca)
	}
	if a.secret != "" {
		fmt.Fprintf(&b, "export OS_PASSWORD=%s\n", words.Quote(a.secret))
	} else {
		fmt.Fprintf(&b, "OS_PASSWORD=$(%s) && export OS_PASSWORD\n", a.password)
	}
	return b.String()
}

// cloudsYAML returns a clouds.yaml.
func (a access) cloudsYAML() (string, error) {
	auth := map[string]any{
		"auth_url": a.url, "username": adminUser, "user_domain_name": adminDomain, "project_name": adminUser, "project_domain_name": adminDomain,
	}
	if a.secret != "" {
		auth["password"] = a.secret
	}
	cloud := map[string]any{
		"auth":                 auth,
		"identity_api_version": "3",
		"region_name":          a.region,
	}
	note := ""
	switch {
	case a.cacert != "":
		cloud["cacert"] = a.cacert
	case a.ca != "" && a.exposure.TLS.ByOthers():
		note = fmt.Sprintf("# If clients do not know the CA of the certificate, name a file with it in cacert. This writes one:\n#\n#   kolla exposure certificate -ca -out=FILE %s\n#\n", a.exposure.Name)
	case a.ca != "":
		file := "~/.config/" + a.caFile
		cloud["cacert"] = file
		note = fmt.Sprintf("# This writes the certificate of the CA, which is no secret:\n#\n#   kolla exposure certificate -ca -out=%s %s\n#\n", file, a.exposure.Name)
	}
	text, err := yaml.Marshal(map[string]any{"clouds": map[string]any{a.cloud: cloud}})
	if err != nil {
		return "", err
	}
	if a.secret != "" {
		return fmt.Sprintf("%s%s, by kolla openrc -clouds-yaml, with its password.\n%s%s", openrcBegin, a.cloud, note, text), nil
	}
	return fmt.Sprintf("%s%s, by kolla openrc -clouds-yaml. It has no password.\n# openstack --os-cloud=%s takes it from the environment:\n#\n#   export OS_PASSWORD=$(%s)\n#\n# For other programs, write clouds.%s.auth.password into a file secure.yaml beside this one.\n%s%s", openrcBegin, a.cloud, a.cloud, a.password, a.cloud, note, text), nil
}
