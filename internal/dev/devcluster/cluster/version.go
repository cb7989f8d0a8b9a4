package cluster

import (
	"errors"
	"runtime/debug"
	"strings"

	"k8s.io/component-base/version"
)

// CheckBuild refuses a program into which no Kubernetes version was linked:
// clients cannot do anything with what its API server says about itself.
func CheckBuild() error {
	if strings.Contains(version.Get().GitVersion, "Format") {
		return errors.New("this program was built without its version: build it with make, which passes the version to the linker")
	}
	return nil
}

// moduleVersion returns the version of a module in this program, empty if it is not
// known.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return ""
}
