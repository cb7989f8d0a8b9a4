package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/lang/configs"
)

// maxSecret is about the size limit of etcd for one object.
const maxSecret = 1 << 20

// given reads the value of a secret from the environment or from a file. Errors contain
// no part of the value.
func (s *Source) given(source *configs.SecretSource) (string, error) {
	if s.Confined {
		return "", errors.New("files and environment variables are not read here: use an existing Secret, or a sensitive variable")
	}
	if name := source.Env; name != "" {
		value := os.Getenv(name)
		if value == "" {
			return "", fmt.Errorf("the environment variable %s is not set, or is empty", name)
		}
		return value, nil
	}
	path := source.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	value, err := readSecretFile(path)
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
