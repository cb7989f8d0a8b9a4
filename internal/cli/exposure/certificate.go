package exposure

import (
	"context"
	"fmt"
	"time"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/haproxy"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/secrets"
)

// toOutput is the name of a file that stands for the standard output.
const toOutput = "-"

func certificateCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "certificate",
		Usage:     "Write the certificate of an exposure with its private key, for HAProxy",
		ArgsUsage: "[EXPOSURE]",
		Description: `
For a machine outside of the cluster that runs HAProxy. The certificate and its private key
are in a Secret of the cluster. The command checks them, and writes both to one file that
only its owner can read. HAProxy reads the file as root, before it gives up its rights.

  kolla exposure certificate -out=/etc/haproxy/public.pem public
  systemctl reload haproxy

With -ca, it writes only the certificate of the CA, which is no secret, for clients that do
not know the CA.

The command needs only the right to read this Secret. kolla exposure haproxy -watch does the
same, and again when the certificate changes.`,
		Flags: append(command.CloudFlags(),
			&cli.StringFlag{Name: "out", Usage: "write to `FILE` atomically; only overwrites a file that kolla wrote; - prints, the private key too"},
			&cli.BoolFlag{Name: "ca", Usage: "write the certificate of the CA, which clients trust; prints without -out"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			return runCertificate(command.NewWorkspace(s, c), c.Args().First())
		},
	}
}

func runCertificate(w *command.Workspace, name string) error {
	out, ca := w.Flags.String("out"), w.Flags.Bool("ca")
	if ca && out == "" {
		out = toOutput
	}
	file := certificateFile(out)
	if file.Option = "-out"; out == toOutput {
		file.Path = ""
	}
	if err := file.Check(); err != nil {
		return err
	}
	exposure, err := loadExposure(w, "certificate", name)
	if err != nil {
		return err
	}
	if exposure.TLS == nil {
		return failure.New(fmt.Sprintf("Exposure %q has no certificate", exposure.Name), "Clients connect to it without encryption. Add a block tls { } to the exposure, and apply.")
	}
	if !ca && exposure.Mode != configs.ModeNodePort {
		return failure.New("Nothing to configure", fmt.Sprintf("Exposure %q has the mode %q: a program of the cluster reads the certificate from Secret %s/%s. With -ca, the command writes the certificate of the CA.", exposure.Name, exposure.Mode, w.Config.Cloud.Namespace, exposure.TLS.Secret))
	}
	if out == "" {
		return failure.New("Where to?", fmt.Sprintf("The file holds a private key. Name it: -out=%s. With -out=- the command prints the key.", haproxy.CertificateFile(exposure)))
	}
	if err := w.Dial(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(w.Flags.Context, secretTimeout)
	defer cancel()
	values, err := certificateOf(ctx, w, exposure)
	if err != nil {
		return err
	}
	if ca {
		return writeCA(w, file, exposure, values)
	}
	ends, err := check(w.Config, exposure, values, time.Now())
	if err != nil {
		return err
	}
	return write(w, file, pemOf(exposure, values), renameio.WithStaticPermissions(0o600),
		" The certificate ends on %s. HAProxy loads it with:\n\n  systemctl reload haproxy", ends.UTC().Format(time.DateOnly))
}

// writeCA writes the certificate of the CA that clients have to trust.
func writeCA(w *command.Workspace, file files.Output, exposure configs.Exposure, values map[string][]byte) error {
	if len(secrets.Certificates(values[configs.KeyCA])) == 0 {
		return failure.New("There is no certificate of a CA", fmt.Sprintf("Secret %s/%s has none under %q: clients are expected to know the CA already. With certificate_file, name the file with the CA in ca_file.", w.Config.Cloud.Namespace, exposure.TLS.Secret, configs.KeyCA))
	}
	content := append([]byte(fmt.Sprintf("%sthe CA of exposure %q. Clients trust it.\n", haproxy.Signature, exposure.Name)), values[configs.KeyCA]...)
	return write(w, file, content, renameio.WithExistingPermissions(), "")
}

// certificateFile returns the file of -certificate.
func certificateFile(path string) files.Output {
	return files.Output{Path: path, Option: "-certificate", Content: "certificate that kolla wrote", Ours: files.Begins(haproxy.Signature)}
}

// secretTimeout limits the time to read a Secret.
const secretTimeout = 20 * time.Second

// certificateOf reads the Secret with the certificate of an exposure.
func certificateOf(ctx context.Context, w *command.Workspace, exposure configs.Exposure) (map[string][]byte, error) {
	ref := providers.Ref{GVK: kinds.Secret.WithVersion("v1"), Namespace: w.Config.Cloud.Namespace, Name: exposure.TLS.Secret}
	live, err := w.Client.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err) && exposure.TLS.Source == configs.TLSSecret:
		return nil, failure.New("There is no certificate yet", fmt.Sprintf("Secret %s/%s is not in the cluster. Its name is in secret_name of exposure %q, and somebody else makes it.", ref.Namespace, ref.Name, exposure.Name))
	case apierrors.IsNotFound(err) && exposure.TLS.Source == configs.TLSIssued:
		return nil, failure.New("There is no certificate yet", fmt.Sprintf("Secret %s/%s is not in the cluster. cert-manager makes it after kolla apply. If it does not, see why: %s.", ref.Namespace, ref.Name, describe(w.Config, exposure)))
	case apierrors.IsNotFound(err):
		return nil, failure.New("There is no certificate yet", fmt.Sprintf("Secret %s/%s is not in the cluster. Make it: kolla apply.", ref.Namespace, ref.Name))
	case err != nil:
		return nil, err
	}
	return providers.ValuesOf(live), nil
}

// describe returns the command that shows why cert-manager does not make the certificate of an exposure.
func describe(config *configs.Config, exposure configs.Exposure) string {
	return fmt.Sprintf("kubectl -n %s describe certificate %s", config.Cloud.Namespace, exposure.TLS.Secret)
}

// check returns when a certificate ends. The error says why HAProxy or its clients could not use it.
func check(config *configs.Config, exposure configs.Exposure, values map[string][]byte, now time.Time) (ends time.Time, err error) {
	for _, mistake := range secrets.CheckServer(values, config.Hosts(&exposure), now) {
		if mistake.Kind == secrets.EndsSoon {
			continue
		}
		next := fmt.Sprintf("Correct the files that exposure %q names, and apply.", exposure.Name)
		switch exposure.TLS.Source {
		case configs.TLSGenerated:
			next = fmt.Sprintf("Let kolla renew the certificate of exposure %q: kolla apply.", exposure.Name)
		case configs.TLSSecret:
			next = fmt.Sprintf("Correct the Secret that exposure %q names.", exposure.Name)
		case configs.TLSIssued:
			next = fmt.Sprintf("cert-manager makes another one for exposure %q after kolla apply. If it does not, see why: %s.", exposure.Name, describe(config, exposure))
		}
		return time.Time{}, failure.New(mistake.Summary, mistake.Detail+" "+next)
	}
	return secrets.Certificates(values[configs.KeyCertificate])[0].NotAfter, nil
}

// pemOf returns the content of the file with a certificate and its key.
func pemOf(exposure configs.Exposure, values map[string][]byte) []byte {
	return append([]byte(fmt.Sprintf("%sthe certificate of exposure %q with its private key. Keep it secret.\n", haproxy.Signature, exposure.Name)), secrets.ServerPEM(values)...)
}
