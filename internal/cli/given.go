package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// maxSecret is what etcd takes of one object, more or less.
const maxSecret = 1 << 20

// given reads the value of a secret that comes from the environment or from a file.
// Errors never hold any of it.
func given(source *configs.SecretSource) (string, error) {
	if name := source.Env; name != "" {
		value := os.Getenv(name)
		if value == "" {
			return "", fmt.Errorf("the environment variable %s is not set, or is empty", name)
		}
		return value, nil
	}
	value, err := readSecretFile(source.File)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", fmt.Errorf("the file %s: %w", source.File, err)
	}
	return value, nil
}

func readSecretFile(name string) (string, error) {
	content, err := files.Read(name, maxSecret)
	value := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case errors.Is(err, files.ErrTooLarge):
		return "", errors.New("it is larger than 1 MiB")
	case err != nil:
		return "", err
	case value == "":
		return "", errors.New("it is empty")
	}
	return value, nil
}

// scopesOfSources are the Secrets that values are taken from, of namespaces besides
// the cloud's own.
func scopesOfSources(config *configs.Config) []providers.Scope {
	var out []providers.Scope
	add := func(source *configs.SecretSource) {
		if source != nil && source.Existing != nil {
			out = append(out, providers.Scope{GVK: secretKind, Namespace: source.Existing.Namespace})
		}
	}
	for _, s := range config.Secrets {
		add(s.Source)
	}
	for _, service := range config.Services {
		for _, s := range service.Secrets {
			add(s.Source)
		}
		for _, p := range service.Passwords() {
			add(p.Source)
		}
	}
	return out
}
